-- Purpose: whether the columns of rows say what their lists and the archive hold:
--          counts, kept counts, blocks and archived, over a sample of buckets.
-- Set:     @first    first bucket of the sample (0)
--          @buckets  how many of the 1,024 buckets to check (16)
--          @top      how many wrong rows to show (50)
--          @seconds  stop after so long (300)
-- Cost:    reads every list of the sample, in the row and in the archive: with 10
--          million accounts of 1 KB, 16 buckets are 150 MB. 1024 buckets are all.
-- Safety:  reads only, takes no locks, ends by itself. Each result is of one
--          moment, so that writers at work do not look like faults.
--
-- Five results: how many were checked; the rows whose counts are wrong; the rows
-- whose column archived is wrong, by section; the segments whose header is wrong; the
-- entries of relation_own whose columns disagree. A line in one of the last four is
-- a fault. `kith audit` checks more than this (both sides, order, bytes), and repairs with
-- --repair. Nothing checks here that the notes are those that the options announce.
--
-- A cell is what the column says / what there is. What is archived is counted in both
-- tables, relation_archive and relation_own. A header is bad where it is none, cut
-- where the list is too short for the ids that its header counts.
--
-- archived is a stamp and then, of each section with archived entries, four numbers:
-- the section, how many, and time and id of a position that may be newer than the newest
-- of them, never older (repo/relation/archive.go). All are uvarints: seven bits a
-- byte, lowest first, and a byte below 128 ends one. How they are taken apart:
--
--   n       the numbers 1, 2, 3, … up to the 255 bytes that archived may have
--   byte    every byte, and how many numbers end before it
--   number  the numbers; NULL where the bytes end before it does
--   said    four of them: what the row says of a section; nothing where one lacks
--   held    what there is of it in the archive

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 16) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1 /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

SELECT (SELECT COUNT(*) FROM relation WHERE bucket BETWEEN @first AND @last) AS rows_checked,
       (SELECT COUNT(*) FROM relation_archive WHERE bucket BETWEEN @first AND @last) AS segments_checked,
       (SELECT COUNT(*) FROM relation_own WHERE bucket BETWEEN @first AND @last) AS own_entries_checked;

SET SESSION sql_select_limit = CAST(COALESCE(@top, 50) AS SIGNED);

SELECT f.account_id, f.ver,
       CONCAT(f.friends, ' / ', f.in_list_0 + f.archived_0) AS friends,
       CONCAT(f.followers, ' / ', f.in_list_0 + f.in_list_1 + f.archived_0 + f.archived_1) AS followers,
       CONCAT(f.following, ' / ', f.in_list_0 + f.in_list_2 + f.archived_0 + f.archived_2) AS following,
       CONCAT(f.kept_followers, ' / ', f.in_list_0 + f.in_list_1) AS kept_followers,
       CONCAT(f.kept_following, ' / ', f.in_list_0 + f.in_list_2) AS kept_following,
       CONCAT(f.blocks, ' / ', GREATEST(f.in_list_0, f.in_list_1, f.in_list_2) DIV 64) AS blocks,
       IF(f.version = 3 AND f.width IN (4, 8) AND f.count_width IN (1, 2, 4), IF(f.bytes < f.head + f.width * (f.in_list_0 + f.in_list_1 + f.in_list_2), 'cut', ''), 'bad') AS header
FROM (SELECT c.account_id, c.ver, c.friends, c.followers, c.following, c.kept_followers, c.kept_following, c.blocks, c.version, c.width, c.count_width,
             CAST(LENGTH(c.list) AS SIGNED) AS bytes, 4 + c.count_width * BIT_COUNT(c.mask) AS head,
             IF(c.mask & 1, COALESCE(CAST(CONV(HEX(SUBSTRING(c.list, 5, LEAST(c.count_width, 4))), 16, 10) AS SIGNED), -1), 0) AS in_list_0,
             IF(c.mask & 2, COALESCE(CAST(CONV(HEX(SUBSTRING(c.list, 5 + c.count_width * BIT_COUNT(c.mask & 1), LEAST(c.count_width, 4))), 16, 10) AS SIGNED), -1), 0) AS in_list_1,
             IF(c.mask & 4, COALESCE(CAST(CONV(HEX(SUBSTRING(c.list, 5 + c.count_width * BIT_COUNT(c.mask & 3), LEAST(c.count_width, 4))), 16, 10) AS SIGNED), -1), 0) AS in_list_2,
             COALESCE(a.friends, 0) AS archived_0,
             COALESCE(a.followers, 0) AS archived_1,
             COALESCE(a.following, 0) AS archived_2
      FROM (SELECT bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, blocks,
                   ORD(list) AS version,
                   ORD(SUBSTRING(list, 2, 1)) % 16 AS width,
                   ORD(SUBSTRING(list, 2, 1)) DIV 16 AS count_width,
                   CAST(CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10) AS SIGNED) AS mask
            FROM relation
            WHERE bucket BETWEEN @first AND @last) AS c
      LEFT JOIN (SELECT h.bucket, h.account_id,
                        SUM(IF(h.section = 0, h.n, 0)) AS friends,
                        SUM(IF(h.section = 1, h.n, 0)) AS followers,
                        SUM(IF(h.section = 2, h.n, 0)) AS following
                 FROM (SELECT bucket, account_id, section, n
                       FROM relation_archive
                       WHERE bucket BETWEEN @first AND @last
                       UNION ALL
                       SELECT bucket, account_id, section, COUNT(*)
                       FROM relation_own
                       WHERE bucket BETWEEN @first AND @last
                       GROUP BY bucket, account_id, section) AS h
                 GROUP BY h.bucket, h.account_id) AS a ON a.bucket = c.bucket AND a.account_id = c.account_id) AS f
WHERE f.version <> 3
   OR f.width NOT IN (4, 8)
   OR f.count_width NOT IN (1, 2, 4)
   OR f.bytes < f.head + f.width * (f.in_list_0 + f.in_list_1 + f.in_list_2)
   OR f.friends <> f.in_list_0 + f.archived_0
   OR f.followers <> f.in_list_0 + f.in_list_1 + f.archived_0 + f.archived_1
   OR f.following <> f.in_list_0 + f.in_list_2 + f.archived_0 + f.archived_2
   OR f.kept_followers <> f.in_list_0 + f.in_list_1
   OR f.kept_following <> f.in_list_0 + f.in_list_2
   OR f.blocks <> GREATEST(f.in_list_0, f.in_list_1, f.in_list_2) DIV 64
ORDER BY f.account_id;

-- A position is time and id with zeros before them, so that the later text is the newer.
-- Options have no positions. STRAIGHT_JOIN: the rows are read once, not once a number.
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
    SELECT d.bucket, d.account_id, d.n, d.b,
           SUM(d.b < 128) OVER (PARTITION BY d.bucket, d.account_id ORDER BY d.n) - (d.b < 128) AS k
    FROM (SELECT r.bucket, r.account_id, n.n, ORD(SUBSTRING(r.archived, n.n, 1)) AS b
          FROM relation AS r
          STRAIGHT_JOIN n ON n.n <= LENGTH(r.archived)
          WHERE r.bucket BETWEEN @first AND @last AND r.archived <> '') AS d
),
number AS (
    SELECT d.bucket, d.account_id, d.k, IF(MIN(d.b) < 128, CAST(SUM((d.b & 127) << (7 * d.i)) AS UNSIGNED), NULL) AS value
    FROM (SELECT bucket, account_id, k, b, ROW_NUMBER() OVER (PARTITION BY bucket, account_id, k ORDER BY n) - 1 AS i
          FROM byte) AS d
    GROUP BY d.bucket, d.account_id, d.k
),
said AS (
    SELECT f.bucket, f.account_id, f.section, IF(f.newest_id IS NULL, NULL, f.n) AS n,
           IF(f.section = 8, '', CONCAT(LPAD(f.newest_at, 10, '0'), ' ', LPAD(f.newest_id, 20, '0'))) AS newest
    FROM (SELECT bucket, account_id,
                 MAX(IF(k % 4 = 1, value, NULL)) AS section,
                 MAX(IF(k % 4 = 2, value, NULL)) AS n,
                 MAX(IF(k % 4 = 3, value, NULL)) AS newest_at,
                 MAX(IF(k % 4 = 0, value, NULL)) AS newest_id
          FROM number
          WHERE k > 0
          GROUP BY bucket, account_id, (k - 1) DIV 4) AS f
),
held AS (
    SELECT bucket, account_id, section, SUM(n) AS n, MAX(CONCAT(LPAD(newest_at, 10, '0'), ' ', LPAD(newest_id, 20, '0'))) AS newest
    FROM relation_archive
    WHERE bucket BETWEEN @first AND @last
    GROUP BY bucket, account_id, section
    UNION ALL
    SELECT bucket, account_id, section, COUNT(*), IF(section = 8, '', MAX(CONCAT(LPAD(latest, 10, '0'), ' ', LPAD(other_id, 20, '0'))))
    FROM relation_own
    WHERE bucket BETWEEN @first AND @last
    GROUP BY bucket, account_id, section
)
SELECT c.account_id,
       COALESCE(ELT(LEAST(c.section, 9) + 1, 'friends', 'followers', 'following', 'blocking', 'blocked_by', 'muting', 'requests', 'requested', 'options'), c.section, '?') AS section,
       CONCAT(COALESCE(c.said_n, '-'), ' / ', COALESCE(c.held_n, '-')) AS entries,
       CONCAT(COALESCE(c.said_newest, '-'), ' / ', COALESCE(c.held_newest, '-')) AS newest
FROM (SELECT s.bucket, s.account_id, s.section,
             SUM(s.said_n) AS said_n, MAX(s.said_newest) AS said_newest,
             SUM(s.held_n) AS held_n, MAX(s.held_newest) AS held_newest
      FROM (SELECT bucket, account_id, section, n AS said_n, newest AS said_newest, NULL AS held_n, NULL AS held_newest FROM said
            UNION ALL
            SELECT bucket, account_id, section, NULL, NULL, n, newest FROM held) AS s
      GROUP BY s.bucket, s.account_id, s.section) AS c
WHERE c.section IS NULL OR NOT (c.said_n <=> c.held_n) OR c.said_newest < c.held_newest
ORDER BY c.account_id, c.section;

-- A segment is a list with the one section that it is a segment of. Its first id is
-- that of the newest entry.
SELECT s.account_id,
       COALESCE(ELT(s.section + 1, 'friends', 'followers', 'following', 'blocking', 'blocked_by', 'muting', 'requests', 'requested', 'options'), s.section) AS section,
       s.seq,
       CONCAT(s.n, ' / ', s.in_list) AS n,
       CONCAT(s.newest_id, ' / ', s.first_id) AS newest_id,
       CONCAT(s.oldest_id, ' / ', s.last_id) AS oldest_id
FROM (SELECT l.account_id, l.section, l.seq, l.n, l.newest_id, l.oldest_id, l.in_list,
             COALESCE(CAST(CONV(HEX(SUBSTRING(l.list, l.head, l.width)), 16, 10) AS UNSIGNED), 0) AS first_id,
             COALESCE(CAST(CONV(HEX(SUBSTRING(l.list, l.head + l.width * (l.in_list - 1), l.width)), 16, 10) AS UNSIGNED), 0) AS last_id
      FROM (SELECT account_id, section, seq, n, newest_id, oldest_id, list,
                   LEAST(ORD(SUBSTRING(list, 2, 1)) % 16, 8) AS width,
                   5 + ORD(SUBSTRING(list, 2, 1)) DIV 16 AS head,
                   IF(section IN (1, 4, 6) AND ORD(list) = 3 AND CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10) = 1 << section,
                      COALESCE(CAST(CONV(HEX(SUBSTRING(list, 5, LEAST(ORD(SUBSTRING(list, 2, 1)) DIV 16, 4))), 16, 10) AS SIGNED), -1), -1) AS in_list
            FROM relation_archive
            WHERE bucket BETWEEN @first AND @last) AS l) AS s
WHERE s.n <> s.in_list OR s.newest_id <> s.first_id OR s.oldest_id <> s.last_id
ORDER BY s.account_id, s.section, s.seq;

-- Only friends have a second time, only options a choice, and these no time.
SELECT account_id, other_id,
       COALESCE(ELT(section + 1, 'friends', 'followers', 'following', 'blocking', 'blocked_by', 'muting', 'requests', 'requested', 'options'), section) AS section,
       mine, theirs, latest,
       LENGTH(choice) AS choice_bytes
FROM relation_own
WHERE bucket BETWEEN @first AND @last
  AND (section NOT IN (0, 2, 3, 5, 7, 8)
    OR latest <> GREATEST(mine, theirs)
    OR theirs <> 0 AND section <> 0
    OR latest <> 0 AND section = 8
    OR (choice = '') = (section = 8))
ORDER BY account_id, other_id, section;
