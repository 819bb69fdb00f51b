-- Purpose: what is in the archive: entries, segments and bytes by account.
-- Set:     @top      how many accounts to show (20)
--          @first    first bucket to read (0)
--          @buckets  how many of the 1,024 buckets to read (1024)
--          @seconds  stop after so long (300)
-- Cost:    reads the segments of the buckets without their lists (some 100 bytes
--          each where lists are long), twice, and with them for the accounts shown:
--          an account with 2.5 million followers has 15 MB. An @top of many
--          thousands reads them all. Of relation_own it reads an index, twice, some
--          30 bytes an entry.
-- Safety:  reads only, takes no locks, ends by itself.
--
-- Two results: the sum of all, then the accounts with most entries. What others did
-- (followers, blocked_by, requests) lies in segments, which are entries less
-- own_entries; what the account did itself is a row each of relation_own, which takes
-- some 200 bytes with its indexes. others counts the entries that are not friends,
-- followers or following. small_segments hold no more than half of the 10,000
-- entries that a segment may hold; trim fills the newest of a section where it is one.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 1024) AS SIGNED), @top = CAST(COALESCE(@top, 20) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1 /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

SELECT COUNT(DISTINCT h.account_id) AS accounts,
       COALESCE(SUM(h.n), 0) AS entries,
       COALESCE(SUM(h.own), 0) AS own_entries,
       COALESCE(SUM(h.segments), 0) AS segments,
       COALESCE(SUM(h.small), 0) AS small_segments
FROM (SELECT account_id, n, 0 AS own, 1 AS segments, n <= 5000 AS small
      FROM relation_archive
      WHERE bucket BETWEEN @first AND @last
      UNION ALL
      SELECT account_id, COUNT(*), COUNT(*), 0, 0
      FROM relation_own
      WHERE bucket BETWEEN @first AND @last
      GROUP BY bucket, account_id) AS h;

SELECT t.account_id, t.entries, t.friends, t.followers_only, t.following_only, t.others, t.own_entries, t.segments, t.small_segments,
       COALESCE(SUM(LENGTH(a.list)), 0) AS segment_bytes,
       ROUND(SUM(LENGTH(a.list)) / SUM(a.n), 2) AS bytes_an_entry,
       TIMESTAMPADD(SECOND, NULLIF(t.newest_at, 0), '1970-01-01') AS newest_utc,
       TIMESTAMPADD(SECOND, NULLIF(t.oldest_at, 0), '1970-01-01') AS oldest_utc
FROM (SELECT h.bucket, h.account_id,
             SUM(h.n) AS entries,
             SUM(IF(h.section = 0, h.n, 0)) AS friends,
             SUM(IF(h.section = 1, h.n, 0)) AS followers_only,
             SUM(IF(h.section = 2, h.n, 0)) AS following_only,
             SUM(IF(h.section > 2, h.n, 0)) AS others,
             SUM(h.own) AS own_entries,
             SUM(h.segments) AS segments,
             SUM(h.small) AS small_segments,
             MAX(h.newest_at) AS newest_at,
             MIN(h.oldest_at) AS oldest_at,
             ROW_NUMBER() OVER (ORDER BY SUM(h.n) DESC, h.account_id) AS nth
      FROM (SELECT bucket, account_id, section, n, 0 AS own, 1 AS segments, n <= 5000 AS small, newest_at, oldest_at
            FROM relation_archive
            WHERE bucket BETWEEN @first AND @last
            UNION ALL
            SELECT bucket, account_id, section, COUNT(*), COUNT(*), 0, 0, MAX(latest), IF(section = 8, NULL, MIN(latest))
            FROM relation_own
            WHERE bucket BETWEEN @first AND @last
            GROUP BY bucket, account_id, section) AS h
      GROUP BY h.bucket, h.account_id) AS t
LEFT JOIN relation_archive AS a ON a.bucket = t.bucket AND a.account_id = t.account_id
WHERE t.nth <= @top
GROUP BY t.nth, t.account_id, t.entries, t.friends, t.followers_only, t.following_only, t.others, t.own_entries, t.segments, t.small_segments, t.newest_at, t.oldest_at
ORDER BY t.nth;
