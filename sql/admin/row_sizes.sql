-- Purpose: histogram of the sizes of relation rows' lists, and the bytes an edge.
-- Set:     @first    first bucket of the sample (0)
--          @buckets  how many of the 1,024 buckets to read (64)
--          @seconds  stop after so long (300)
-- Cost:    reads every list of the sample; with 10 million accounts of 1 KB, 64
--          buckets are 600 MB. 1024 buckets are all there is.
-- Safety:  reads only, takes no locks, ends by itself. A large sample pushes other
--          pages out of the buffer pool: run it on a replica.
--
-- Buckets are the low bits of account ids, so any of them is as good a sample as
-- another. bytes_an_edge is the list divided by the edges in it; blocks, mutes
-- and options are in the bytes too.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 64) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 300) AS SIGNED);
SET @last = @first + @buckets - 1 /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

SELECT h.from_bytes,
       2 * h.from_bytes - 1 AS to_bytes,
       h.accounts,
       h.bytes,
       ROUND(h.bytes / h.edges, 2) AS bytes_an_edge,
       ROUND(100 * h.accounts / SUM(h.accounts) OVER (), 2) AS percent,
       RPAD('', CEIL(50 * h.accounts / MAX(h.accounts) OVER ()), '#') AS histogram
FROM (SELECT s.from_bytes,
             COUNT(*) AS accounts,
             SUM(s.bytes) AS bytes,
             NULLIF(SUM(s.edges), 0) AS edges
      FROM (SELECT 1 << LENGTH(BIN(LENGTH(list))) - 1 AS from_bytes,
                   LENGTH(list) AS bytes,
                   kept_followers + kept_following AS edges
            FROM relation
            WHERE bucket BETWEEN @first AND @last) AS s
      GROUP BY s.from_bytes) AS h
ORDER BY h.from_bytes;
