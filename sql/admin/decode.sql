-- Purpose: what the list of one account holds: every id, by section, newest first,
--          with its times. Of the relation row or of one segment of the archive.
-- Set:     @account  the account, required
--          @seq      a segment to decode instead of the row (none); the second
--                    result shows which there are
--          @section  the section of that segment: 0 friends, 1 followers,
--                    2 following
-- Cost:    one or two rows by primary key, and the headers of the account's
--          segments. Decoding takes temporary tables of some 100 bytes a byte of
--          the list: 30,000 entries (220 KB) take 0.7 seconds and 20 MB.
-- Safety:  reads only, takes no locks. Each result is of one moment.
--
-- Three results: the row, its segments in the archive, the entries. mine_utc is
-- when the account made the entry, theirs_utc when the other did; NULL is unknown,
-- or says that this side did nothing. Options have no times.
--
-- The bytes are described in repo/list/doc.go. How they are taken apart:
--
--   packed  the list
--   n       the numbers 1, 2, 3, … up to its length, by doubling: a tree instead of
--           a chain, so no server's limit on recursion is in the way
--   part    the sections: how many entries, where their ids begin, and which of the
--           numbers after the ids is their first
--   byte    every byte after the ids. Those are uvarints: a byte below 128 ends one
--   number  the k-th of them. Before the times of each section stands their length
--   step    the numbers of one entry: friends have two
--   at      times from differences: the first less all that follow it

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = IF(@account IS NULL, 'missing: @account', 'DO 0');
PREPARE parameters FROM @missing;
SET @account = CAST(@account AS UNSIGNED), @section = CAST(@section AS SIGNED), @seq = CAST(@seq AS UNSIGNED);

SELECT account_id, ver, friends, followers, following, kept_followers, kept_following,
       LENGTH(list) AS bytes,
       ORD(list) AS format,
       ORD(SUBSTRING(list, 2, 1)) AS id_width,
       TIMESTAMPADD(SECOND, updated_at, '1970-01-01') AS updated_utc
FROM relation
WHERE bucket = @account & 1023 AND account_id = @account;

SELECT section, seq, n,
       TIMESTAMPADD(SECOND, NULLIF(newest_at, 0), '1970-01-01') AS newest_utc,
       TIMESTAMPADD(SECOND, NULLIF(oldest_at, 0), '1970-01-01') AS oldest_utc,
       ver
FROM relation_archive
WHERE bucket = @account & 1023 AND account_id = @account
ORDER BY section, seq DESC;

WITH RECURSIVE
packed (list) AS (
    SELECT list FROM relation
    WHERE @seq IS NULL AND bucket = @account & 1023 AND account_id = @account
    UNION ALL
    SELECT list FROM relation_archive
    WHERE bucket = @account & 1023 AND account_id = @account AND section = @section AND seq = @seq
),
n (n) AS (
    SELECT CAST(1 AS SIGNED)
    UNION ALL
    SELECT 2 * n.n + two.b
    FROM n
    JOIN (SELECT 0 AS b UNION ALL SELECT 1) AS two
    WHERE 2 * n.n + two.b <= (SELECT LENGTH(list) FROM packed)
),
part AS (
    SELECT p.s, p.name, p.width, p.entries, p.times,
           5 + 4 * p.parts + p.width * (SUM(p.entries) OVER (ORDER BY p.s) - p.entries) AS first_id,
           5 + 4 * p.parts + p.width * SUM(p.entries) OVER () AS first_byte,
           SUM(p.entries * p.times + (p.entries > 0)) OVER (ORDER BY p.s) - p.entries * p.times AS first_number
    FROM (SELECT s.s, s.name, s.times, h.width, BIT_COUNT(h.mask) AS parts,
                 IF(h.mask >> s.s & 1, CAST(CONV(HEX(SUBSTRING(h.list, 5 + 4 * BIT_COUNT(h.mask & ((1 << s.s) - 1)), 4)), 16, 10) AS SIGNED), 0) AS entries
          FROM (SELECT list,
                       ORD(SUBSTRING(list, 2, 1)) AS width,
                       CAST(CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10) AS SIGNED) AS mask
                FROM packed) AS h
          JOIN (SELECT 0 AS s, 'friends' AS name, 2 AS times UNION ALL SELECT 1, 'followers', 1 UNION ALL SELECT 2, 'following', 1
                UNION ALL SELECT 3, 'blocking', 1 UNION ALL SELECT 4, 'blocked_by', 1 UNION ALL SELECT 5, 'muting', 1
                UNION ALL SELECT 6, 'requests', 1 UNION ALL SELECT 7, 'requested', 1 UNION ALL SELECT 8, 'options', 0) AS s) AS p
),
byte AS (
    SELECT n.n, ORD(SUBSTRING(packed.list, tail.first_byte + n.n - 1, 1)) AS b
    FROM packed
    JOIN (SELECT MAX(first_byte) AS first_byte FROM part) AS tail
    JOIN n ON tail.first_byte + n.n - 1 <= LENGTH(packed.list)
),
number AS (
    SELECT q.k, CAST(SUM((q.b & 127) << (7 * q.place)) AS SIGNED) AS value
    FROM (SELECT p.k, p.b, ROW_NUMBER() OVER (PARTITION BY p.k ORDER BY p.n) - 1 AS place
          FROM (SELECT n, b, SUM(b < 128) OVER (ORDER BY n) - (b < 128) AS k FROM byte) AS p) AS q
    GROUP BY q.k
),
step AS (
    SELECT part.s,
           (number.k - part.first_number) DIV part.times AS i,
           MAX(IF((number.k - part.first_number) % part.times = 0, number.value, NULL)) AS back,
           MAX(IF((number.k - part.first_number) % part.times = 1, number.value, NULL)) AS zigzag
    FROM part
    JOIN number ON number.k >= part.first_number AND number.k < part.first_number + part.times * part.entries
    GROUP BY part.s, i
),
at AS (
    SELECT s, i,
           CAST(2 * FIRST_VALUE(back) OVER (PARTITION BY s ORDER BY i) - SUM(back) OVER (PARTITION BY s ORDER BY i) AS SIGNED) AS later,
           IF(zigzag & 1, -((zigzag + 1) DIV 2), zigzag DIV 2) AS apart
    FROM step
)
SELECT e.section, e.place, e.id,
       TIMESTAMPADD(SECOND, NULLIF(IF(e.s = 1, 0, e.later - GREATEST(e.apart, 0)), 0), '1970-01-01') AS mine_utc,
       TIMESTAMPADD(SECOND, NULLIF(CASE e.s WHEN 0 THEN e.later + LEAST(e.apart, 0) WHEN 1 THEN e.later ELSE 0 END, 0), '1970-01-01') AS theirs_utc
FROM (SELECT part.s, part.name AS section, n.n AS place,
             CAST(CONV(HEX(SUBSTRING(packed.list, part.first_id + part.width * (n.n - 1), part.width)), 16, 10) AS UNSIGNED) AS id,
             at.later,
             COALESCE(at.apart, 0) AS apart
      FROM part
      JOIN packed
      JOIN n ON n.n <= part.entries
      LEFT JOIN at ON at.s = part.s AND at.i = n.n - 1) AS e
ORDER BY e.s, e.place;
