-- Purpose: whether the columns of rows say what their lists and the archive hold:
--          counts, kept counts, blocks and archived_at, over a sample of buckets.
-- Set:     @first    first bucket of the sample (0)
--          @buckets  how many of the 1,024 buckets to check (16)
--          @top      how many wrong rows to show (50)
--          @seconds  stop after so long (300)
-- Cost:    reads every list of the sample, in the row and in the archive: with 10
--          million accounts of 1 KB, 16 buckets are 150 MB. 1024 buckets are all.
-- Safety:  reads only, takes no locks, ends by itself. Each result is of one
--          moment, so that writers at work do not look like faults.
--
-- Three results: how many were checked, the rows whose counts are wrong, and the
-- segments whose n is wrong. No line in the last two is good news. `kith audit`
-- checks more than this (both sides, order, bytes), and mends with --repair.
--
-- A cell is what the column says / what there is. archived_at may be later than the
-- newest entry of the archive, never earlier. A header is bad where it is none, cut
-- where the list is too short for the ids that its header counts.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 16) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1 /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

SELECT (SELECT COUNT(*) FROM relation WHERE bucket BETWEEN @first AND @last) AS rows_checked,
       (SELECT COUNT(*) FROM relation_archive WHERE bucket BETWEEN @first AND @last) AS segments_checked;

SET SESSION sql_select_limit = CAST(COALESCE(@top, 50) AS SIGNED);

SELECT f.account_id, f.ver,
       CONCAT(f.friends, ' / ', f.in_list_0 + f.archived_0) AS friends,
       CONCAT(f.followers, ' / ', f.in_list_0 + f.in_list_1 + f.archived_0 + f.archived_1) AS followers,
       CONCAT(f.following, ' / ', f.in_list_0 + f.in_list_2 + f.archived_0 + f.archived_2) AS following,
       CONCAT(f.kept_followers, ' / ', f.in_list_0 + f.in_list_1) AS kept_followers,
       CONCAT(f.kept_following, ' / ', f.in_list_0 + f.in_list_2) AS kept_following,
       CONCAT(f.blocks, ' / ', GREATEST(f.in_list_0, f.in_list_1, f.in_list_2) DIV 64) AS blocks,
       CONCAT(f.archived_at, ' / ', f.newest_at) AS archived_at,
       IF(f.version = 2 AND f.width IN (4, 8) AND f.count_width IN (1, 2, 4), IF(f.bytes < f.head + f.width * (f.in_list_0 + f.in_list_1 + f.in_list_2), 'cut', ''), 'bad') AS header
FROM (SELECT c.account_id, c.ver, c.friends, c.followers, c.following, c.kept_followers, c.kept_following, c.blocks, c.archived_at, c.version, c.width, c.count_width,
             CAST(LENGTH(c.list) AS SIGNED) AS bytes, 4 + c.count_width * BIT_COUNT(c.mask) AS head,
             IF(c.mask & 1, COALESCE(CAST(CONV(HEX(SUBSTRING(c.list, 5, LEAST(c.count_width, 4))), 16, 10) AS SIGNED), -1), 0) AS in_list_0,
             IF(c.mask & 2, COALESCE(CAST(CONV(HEX(SUBSTRING(c.list, 5 + c.count_width * BIT_COUNT(c.mask & 1), LEAST(c.count_width, 4))), 16, 10) AS SIGNED), -1), 0) AS in_list_1,
             IF(c.mask & 4, COALESCE(CAST(CONV(HEX(SUBSTRING(c.list, 5 + c.count_width * BIT_COUNT(c.mask & 3), LEAST(c.count_width, 4))), 16, 10) AS SIGNED), -1), 0) AS in_list_2,
             COALESCE(a.friends, 0) AS archived_0,
             COALESCE(a.followers, 0) AS archived_1,
             COALESCE(a.following, 0) AS archived_2,
             COALESCE(a.newest_at, 0) AS newest_at
      FROM (SELECT bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, blocks, archived_at,
                   ORD(list) AS version,
                   ORD(SUBSTRING(list, 2, 1)) % 16 AS width,
                   ORD(SUBSTRING(list, 2, 1)) DIV 16 AS count_width,
                   CAST(CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10) AS SIGNED) AS mask
            FROM relation
            WHERE bucket BETWEEN @first AND @last) AS c
      LEFT JOIN (SELECT bucket, account_id,
                        SUM(IF(section = 0, n, 0)) AS friends,
                        SUM(IF(section = 1, n, 0)) AS followers,
                        SUM(IF(section = 2, n, 0)) AS following,
                        MAX(newest_at) AS newest_at
                 FROM relation_archive
                 WHERE bucket BETWEEN @first AND @last
                 GROUP BY bucket, account_id) AS a ON a.bucket = c.bucket AND a.account_id = c.account_id) AS f
WHERE f.version <> 2
   OR f.width NOT IN (4, 8)
   OR f.count_width NOT IN (1, 2, 4)
   OR f.bytes < f.head + f.width * (f.in_list_0 + f.in_list_1 + f.in_list_2)
   OR f.friends <> f.in_list_0 + f.archived_0
   OR f.followers <> f.in_list_0 + f.in_list_1 + f.archived_0 + f.archived_1
   OR f.following <> f.in_list_0 + f.in_list_2 + f.archived_0 + f.archived_2
   OR f.kept_followers <> f.in_list_0 + f.in_list_1
   OR f.kept_following <> f.in_list_0 + f.in_list_2
   OR f.blocks <> GREATEST(f.in_list_0, f.in_list_1, f.in_list_2) DIV 64
   OR f.archived_at < f.newest_at
ORDER BY f.account_id;

-- A segment is a list with the one section that it is a segment of.
SELECT s.account_id, s.section, s.seq, CONCAT(s.n, ' / ', s.in_list) AS n
FROM (SELECT account_id, section, seq, n,
             IF(ORD(list) = 2 AND CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10) = 1 << section,
                COALESCE(CAST(CONV(HEX(SUBSTRING(list, 5, LEAST(ORD(SUBSTRING(list, 2, 1)) DIV 16, 4))), 16, 10) AS SIGNED), -1), -1) AS in_list
      FROM relation_archive
      WHERE bucket BETWEEN @first AND @last) AS s
WHERE s.n <> s.in_list
ORDER BY s.account_id, s.section, s.seq;
