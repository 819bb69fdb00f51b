-- Purpose: what lies in the archive: entries, segments and bytes by account.
-- Set:     @top      how many accounts to show (20)
--          @first    first bucket to read (0)
--          @buckets  how many of the 1,024 buckets to read (1024)
--          @seconds  stop after so long (300)
-- Cost:    reads the segments of the buckets without their lists (some 100 bytes
--          each where lists are long), and with them for the accounts shown: an
--          account with 2.5 million followers has 15 MB. An @top of many thousands
--          reads them all.
-- Safety:  reads only, takes no locks, ends by itself.
--
-- Two results: the sum of all, then the largest accounts. small_segments hold
-- less than half of the 10,000 entries that a segment may hold; trim takes the
-- newest such of a section up again.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 1024) AS SIGNED), @top = CAST(COALESCE(@top, 20) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1 /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

SELECT COUNT(DISTINCT account_id) AS accounts, COUNT(*) AS segments, COALESCE(SUM(n), 0) AS entries,
       COALESCE(SUM(n < 5000), 0) AS small_segments
FROM relation_archive
WHERE bucket BETWEEN @first AND @last;

SELECT t.account_id, t.friends, t.followers_only, t.following_only, t.segments, t.small_segments,
       SUM(LENGTH(a.list)) AS bytes,
       ROUND(SUM(LENGTH(a.list)) / SUM(a.n), 2) AS bytes_an_entry,
       TIMESTAMPADD(SECOND, NULLIF(t.newest_at, 0), '1970-01-01') AS newest_utc,
       TIMESTAMPADD(SECOND, NULLIF(t.earliest_at, 0), '1970-01-01') AS earliest_utc
FROM (SELECT bucket, account_id,
             SUM(IF(section = 0, n, 0)) AS friends,
             SUM(IF(section = 1, n, 0)) AS followers_only,
             SUM(IF(section = 2, n, 0)) AS following_only,
             COUNT(*) AS segments,
             SUM(n < 5000) AS small_segments,
             MAX(newest_at) AS newest_at,
             MIN(earliest_at) AS earliest_at,
             ROW_NUMBER() OVER (ORDER BY SUM(n) DESC, account_id) AS place
      FROM relation_archive
      WHERE bucket BETWEEN @first AND @last
      GROUP BY bucket, account_id) AS t
JOIN relation_archive AS a ON a.bucket = t.bucket AND a.account_id = t.account_id
WHERE t.place <= @top
GROUP BY t.place, t.account_id, t.friends, t.followers_only, t.following_only, t.segments, t.small_segments, t.newest_at, t.earliest_at
ORDER BY t.place;
