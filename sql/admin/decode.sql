-- Purpose: what the list of one account holds: every id, by section, newest first,
--          with its times. Of the relation row, of one segment of the archive, or of
--          one section of relation_own.
-- Set:     @account  the account, required
--          @section  a section of the archive to show instead of the row (none):
--                    0 friends, 2 following, 3 blocking, 5 muting, 7 requested and
--                    8 options lie in relation_own
--          @seq      the segment, of sections 1 followers, 4 blocked_by and 6
--                    requests; the third result shows which there are
-- Cost:    one or two rows by primary key, the headers of the account's segments, and
--          an index of its entries in relation_own. Decoding takes temporary tables
--          of some 100 bytes a byte of the list: 30,000 entries (200 KB) take 0.9
--          seconds and 20 MB.
-- Safety:  reads only, takes no locks. Each result is of one moment.
--
-- If something is missing, the row for instance, a result before the others says so. Four
-- results: the row; what of it is archived, by section, as the row says (row_says,
-- newest_utc) and as there is (entries, in so many segments); the segments; the
-- entries. mine_utc is when the account made the entry, theirs_utc when the other did;
-- NULL is unknown, or says that this side did nothing. Options have no times. The text
-- of notes is in the table note.
--
-- The bytes are described in repo/list/doc.go. How they are taken apart:
--
--   packed  the list
--   n       the numbers 1, 2, 3, … up to its length, by doubling: a tree instead of
--           a chain, so no server's limit on recursion is in the way
--   part    the sections: how many entries, and where their ids begin
--   byte    every byte after the ids, if there are any
--   number  the uvarint that begins at a byte, if one does: a byte below 128 ends one
--   col     the columns of times, one after the other, each behind its length;
--           none where the bytes have ended
--   step    the numbers of one entry: friends have two. Zeros at the end of a
--           column are not written
--   at      times from differences: the first less all that follow it
--
-- In the second result number and said are what the row's column archived says: see
-- count_drift.sql.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = IF(@account IS NULL, 'Give the account, for instance: mariadb -t kith --init-command="SET @account = 12" < sql/admin/decode.sql',
                  'Give @seq together with @section 1, 4 or 6, and with no other: the third result shows which segments there are');
SET @archived = @section IS NOT NULL OR @seq IS NOT NULL;
SET @short = @account IS NULL OR @archived AND (@section IS NULL OR (@seq IS NULL) <> (CAST(@section AS SIGNED) IN (0, 2, 3, 5, 7, 8)));
SET @odd = NOT @short AND NOT CAST(@account AS CHAR) REGEXP '^[0-9]+$';
SET @missing = IF(@odd, CONCAT('No account: ', CAST(@account AS CHAR), ' is no number'), @missing);
SET @account = IF(@odd, NULL, CAST(@account AS UNSIGNED)), @section = CAST(@section AS SIGNED), @seq = CAST(@seq AS UNSIGNED);
SET @own = @archived AND @seq IS NULL;
SET @found = (SELECT COUNT(*)
              FROM (SELECT 1 FROM relation WHERE NOT @archived AND bucket = @account & 1023 AND account_id = @account
                    UNION ALL
                    SELECT 1 FROM relation_archive WHERE bucket = @account & 1023 AND account_id = @account AND section = @section AND seq = @seq
                    UNION ALL
                    SELECT 1 FROM relation_own WHERE @own AND bucket = @account & 1023 AND account_id = @account AND section = @section) AS f);
SET @legible = (SELECT ORD(f.list) = 3 AND ORD(SUBSTRING(f.list, 2, 1)) % 16 IN (4, 8) AND ORD(SUBSTRING(f.list, 2, 1)) DIV 16 IN (1, 2, 4)
                       AND LENGTH(f.list) >= 4 + ORD(SUBSTRING(f.list, 2, 1)) DIV 16 * BIT_COUNT(CAST(CONV(HEX(SUBSTRING(f.list, 3, 2)), 16, 10) AS SIGNED))
                FROM (SELECT list FROM relation WHERE NOT @archived AND bucket = @account & 1023 AND account_id = @account
                      UNION ALL
                      SELECT list FROM relation_archive WHERE bucket = @account & 1023 AND account_id = @account AND section = @section AND seq = @seq) AS f);
SET @missing = CASE WHEN @short OR @odd THEN @missing
                    WHEN @found = 0 AND NOT @archived THEN CONCAT('No row: account ', @account, ' follows nobody, is followed by nobody, or does not exist')
                    WHEN @found = 0 THEN CONCAT('No such part of the archive of account ', @account, ': the second result shows which sections there are, the third which segments')
                    WHEN NOT @legible THEN 'The list cannot be read: kith audit says what is wrong, kith audit --repair asks the others' END;
SET @s = IF(@missing IS NULL, 'DO 0', 'SELECT @missing AS missing'); PREPARE s FROM @s; EXECUTE s;

SELECT account_id, ver, friends, followers, following, kept_followers, kept_following,
       LENGTH(list) AS bytes,
       ORD(list) AS format,
       ORD(SUBSTRING(list, 2, 1)) % 16 AS id_width,
       TIMESTAMPADD(SECOND, updated_at, '1970-01-01') AS updated_utc
FROM relation
WHERE bucket = @account & 1023 AND account_id = @account;

WITH RECURSIVE
n (n) AS (
    SELECT CAST(1 AS SIGNED)
    UNION ALL
    SELECT 2 * n.n + two.b
    FROM n
    JOIN (SELECT 0 AS b UNION ALL SELECT 1) AS two
    WHERE 2 * n.n + two.b <= 255
),
byte AS (
    SELECT d.n, d.b, SUM(d.b < 128) OVER (ORDER BY d.n) - (d.b < 128) AS k
    FROM (SELECT n.n, ORD(SUBSTRING(r.archived, n.n, 1)) AS b
          FROM relation AS r
          JOIN n ON n.n <= LENGTH(r.archived)
          WHERE r.bucket = @account & 1023 AND r.account_id = @account) AS d
),
number AS (
    SELECT d.k, CAST(SUM((d.b & 127) << (7 * d.i)) AS UNSIGNED) AS value
    FROM (SELECT k, b, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) - 1 AS i FROM byte) AS d
    GROUP BY d.k
    HAVING MIN(d.b) < 128
),
said AS (
    SELECT MAX(IF(k % 4 = 1, value, NULL)) AS section,
           MAX(IF(k % 4 = 2, value, NULL)) AS n,
           MAX(IF(k % 4 = 3, value, NULL)) AS newest_at
    FROM number
    WHERE k > 0
    GROUP BY (k - 1) DIV 4
)
SELECT a.section,
       ELT(LEAST(a.section, 9) + 1, 'friends', 'followers', 'following', 'blocking', 'blocked_by', 'muting', 'requests', 'requested', 'options') AS name,
       COALESCE(SUM(a.row_says), 0) AS row_says,
       COALESCE(SUM(a.entries), 0) AS entries,
       COALESCE(SUM(a.segments), 0) AS segments,
       TIMESTAMPADD(SECOND, NULLIF(MAX(a.newest_at), 0), '1970-01-01') AS newest_utc
FROM (SELECT section, n AS row_says, newest_at, NULL AS entries, NULL AS segments FROM said
      UNION ALL
      SELECT section, NULL, NULL, SUM(n), COUNT(*) FROM relation_archive WHERE bucket = @account & 1023 AND account_id = @account GROUP BY section
      UNION ALL
      SELECT section, NULL, NULL, COUNT(*), 0 FROM relation_own WHERE bucket = @account & 1023 AND account_id = @account GROUP BY section) AS a
GROUP BY a.section
ORDER BY a.section;

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
    WHERE @legible AND NOT @archived AND bucket = @account & 1023 AND account_id = @account
    UNION ALL
    SELECT list FROM relation_archive
    WHERE @legible AND bucket = @account & 1023 AND account_id = @account AND section = @section AND seq = @seq
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
           5 + p.count_width * p.parts + p.width * (SUM(p.entries) OVER (ORDER BY p.s) - p.entries) AS first_id,
           5 + p.count_width * p.parts + p.width * SUM(p.entries) OVER () AS first_byte
    FROM (SELECT s.s, s.name, s.times, h.width, h.count_width, BIT_COUNT(h.mask) AS parts,
                 IF(h.mask >> s.s & 1, CAST(CONV(HEX(SUBSTRING(h.list, 5 + h.count_width * BIT_COUNT(h.mask & ((1 << s.s) - 1)), h.count_width)), 16, 10) AS SIGNED), 0) AS entries
          FROM (SELECT list,
                       ORD(SUBSTRING(list, 2, 1)) % 16 AS width,
                       ORD(SUBSTRING(list, 2, 1)) DIV 16 AS count_width,
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
    SELECT b.n, b.before_it, b.size,
           CAST((b.b & 127) + IF(b.size > 1, (b.b1 & 127) << 7, 0) + IF(b.size > 2, (b.b2 & 127) << 14, 0)
                + IF(b.size > 3, (b.b3 & 127) << 21, 0) + IF(b.size > 4, (b.b4 & 127) << 28, 0) AS SIGNED) AS value
    FROM (SELECT l.*, CASE WHEN l.b < 128 THEN 1 WHEN l.b1 < 128 THEN 2 WHEN l.b2 < 128 THEN 3 WHEN l.b3 < 128 THEN 4 ELSE 5 END AS size
          FROM (SELECT n, b, LAG(b) OVER (ORDER BY n) AS before_it,
                       LEAD(b, 1) OVER (ORDER BY n) AS b1, LEAD(b, 2) OVER (ORDER BY n) AS b2,
                       LEAD(b, 3) OVER (ORDER BY n) AS b3, LEAD(b, 4) OVER (ORDER BY n) AS b4
                FROM byte) AS l) AS b
),
col (s, first_n, end_n) AS (
    SELECT CAST(-1 AS SIGNED), CAST(1 AS SIGNED), CAST(1 AS SIGNED)
    UNION ALL
    SELECT col.s + 1,
           col.end_n + IF(part.entries > 0, COALESCE(number.size, 0), 0),
           col.end_n + IF(part.entries > 0, COALESCE(number.size + number.value, 0), 0)
    FROM col
    JOIN part ON part.s = col.s + 1
    LEFT JOIN number ON number.n = col.end_n
),
step AS (
    SELECT k.s, k.k DIV k.times AS i,
           MAX(IF(k.k % k.times = 0, k.value, NULL)) AS back,
           MAX(IF(k.k % k.times = 1, k.value, NULL)) AS zigzag
    FROM (SELECT part.s, part.times, number.value, ROW_NUMBER() OVER (PARTITION BY part.s ORDER BY number.n) - 1 AS k
          FROM part
          JOIN col ON col.s = part.s
          JOIN number ON number.n >= col.first_n AND number.n < col.end_n
          WHERE part.times > 0 AND (number.n = col.first_n OR number.before_it < 128)) AS k
    GROUP BY k.s, i
),
at AS (
    SELECT f.s, f.i,
           CAST(2 * FIRST_VALUE(f.back) OVER (PARTITION BY f.s ORDER BY f.i) - SUM(f.back) OVER (PARTITION BY f.s ORDER BY f.i) AS SIGNED) AS later,
           IF(f.zigzag & 1, -((f.zigzag + 1) DIV 2), f.zigzag DIV 2) AS apart
    FROM (SELECT part.s, n.n - 1 AS i, COALESCE(step.back, 0) AS back, COALESCE(step.zigzag, 0) AS zigzag
          FROM part
          JOIN n ON n.n <= part.entries
          LEFT JOIN step ON step.s = part.s AND step.i = n.n - 1
          WHERE part.times > 0) AS f
)
SELECT e.section, e.position, e.id,
       TIMESTAMPADD(SECOND, NULLIF(e.mine, 0), '1970-01-01') AS mine_utc,
       TIMESTAMPADD(SECOND, NULLIF(e.theirs, 0), '1970-01-01') AS theirs_utc
FROM (SELECT d.s, d.section, d.position, d.id,
             IF(d.s = 1, 0, d.later - GREATEST(d.apart, 0)) AS mine,
             CASE d.s WHEN 0 THEN d.later + LEAST(d.apart, 0) WHEN 1 THEN d.later ELSE 0 END AS theirs
      FROM (SELECT part.s, part.name AS section, n.n AS position,
                   CAST(CONV(HEX(SUBSTRING(packed.list, part.first_id + part.width * (n.n - 1), part.width)), 16, 10) AS UNSIGNED) AS id,
                   at.later,
                   COALESCE(at.apart, 0) AS apart
            FROM part
            JOIN packed
            JOIN n ON n.n <= part.entries
            LEFT JOIN at ON at.s = part.s AND at.i = n.n - 1) AS d
      UNION ALL
      SELECT section, ELT(section + 1, 'friends', '', 'following', 'blocking', '', 'muting', '', 'requested', 'options'),
             ROW_NUMBER() OVER (ORDER BY latest DESC, IF(section = 8, other_id, 0), other_id DESC),
             other_id, mine, theirs
      FROM relation_own
      WHERE @own AND bucket = @account & 1023 AND account_id = @account AND section = @section) AS e
ORDER BY e.s, e.position;
