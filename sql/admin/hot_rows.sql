-- Purpose: the rows written most since they were made: those with the highest ver.
--          hot_growth.sql tells which are written most now. Each commit raises ver
--          by a random step, whose mean is 268,439,552, so commits says about how
--          many there were: to a fifth where it is 10, to a fiftieth where it is 1,000.
-- Set:     @top      how many to show (20)
--          @first    first bucket to read (0)
--          @buckets  how many of the 1,024 buckets to read (1024)
--          @seconds  stop after so long (300)
-- Cost:    reads all rows of the buckets without the long lists; ver has no index.
--          With 10 million accounts of 1 KB that is most of 10 GB.
-- Safety:  reads only, takes no locks, ends by itself. Run it on a replica, or in
--          slices: @first = 0, @buckets = 64, then @first = 64 and so on.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 1024) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1 /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;
SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT account_id, ROUND(ver / 268439552) AS commits, followers, following, kept_followers, kept_following,
       TIMESTAMPADD(SECOND, updated_at, '1970-01-01') AS updated_utc
FROM relation
WHERE bucket BETWEEN @first AND @last
ORDER BY ver DESC, account_id;
