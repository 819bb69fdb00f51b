-- Purpose: the accounts with most posts and reposts, and which authors have so many
--          followers that their posts are pulled, not pushed (pulled_since_utc).
-- Set:     @top      how many to show (20)
--          @pulled   1: only those that are pulled (0)
--          @first    first bucket to read (0)
--          @buckets  how many of the 1,024 buckets to read (1024)
--          @seconds  stop after so long (300)
-- Cost:    reads all rows of author_feed in the buckets, without the long lists; no index
--          has statuses. With 10 million authors of 1 KB that is most of 10 GB. Then one
--          row of relation for each that is shown.
-- Safety:  reads only, takes no locks, ends by itself. Run it on a replica, or in
--          slices: @first = 0, @buckets = 64, then @first = 64 and so on.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 1024) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1, @top = CAST(COALESCE(@top, 20) AS SIGNED), @pulled = CAST(COALESCE(@pulled, 0) AS SIGNED) /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

PREPARE s FROM 'SELECT f.account_id, f.statuses, r.followers, f.bytes,
       IF(f.pulled_since = 0, NULL, TIMESTAMPADD(SECOND, f.pulled_since, ''1970-01-01'')) AS pulled_since_utc,
       IF(f.last_id = 0, NULL, TIMESTAMPADD(SECOND, (f.last_id >> 22) DIV 1000, ''2000-01-01'')) AS last_post_utc
FROM (SELECT bucket, account_id, statuses, pulled_since, last_id, LENGTH(list) AS bytes
      FROM author_feed
      WHERE bucket BETWEEN @first AND @last AND (@pulled = 0 OR pulled_since > 0)
      ORDER BY statuses DESC, account_id
      LIMIT ?) AS f
LEFT JOIN relation AS r ON r.bucket = f.bucket AND r.account_id = f.account_id
ORDER BY f.statuses DESC, f.account_id';
EXECUTE s USING @top;
