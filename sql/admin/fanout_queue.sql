-- Purpose: what is still to be done after posts, favourites and the like: how many
--          tasks of each kind, how old the oldest is, whose claims have run out.
-- Set:     @top      how many of the oldest to show (20)
--          @first    first bucket to read (0)
--          @buckets  how many of the 1,024 buckets to read (1024)
--          @seconds  stop after so long (60)
-- Cost:    reads the whole table task twice, or its part in those buckets. It has the
--          tasks of the last seconds; after an outage it may have millions, of 70 bytes.
-- Safety:  reads only, takes no locks, ends by itself.
--
-- Two results: a line for each kind, and the oldest tasks. A task is claimed by a process
-- for a minute, by the clock of the database, and claimed anew as long as that works on it.
-- A claim that has run out is taken over within seconds by any `kith serve`: a
-- task that waits longer fails again and again, and the log of `kith serve` says why, or
-- no `kith serve` runs. The job expire drops it 30 days after it was made.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 1024) AS SIGNED), @seconds = CAST(COALESCE(@seconds, 60) AS SIGNED);
SET @last = @first + @buckets - 1, @now = UNIX_TIMESTAMP() /*M!100100 , SESSION max_statement_time = @seconds */ /*!80000 , SESSION max_execution_time = 1000 * @seconds */;

SELECT COALESCE(ELT(kind, 'push', 'settle', 'favourite'), kind) AS kind,
       COUNT(*) AS tasks,
       SUM(claimed_until < @now) AS claim_run_out,
       COUNT(DISTINCT holder) AS processes,
       TIMESTAMPADD(SECOND, MIN(made_at), '1970-01-01') AS oldest_utc
FROM task
WHERE bucket BETWEEN @first AND @last
GROUP BY kind
ORDER BY kind;

SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT id,
       COALESCE(ELT(kind, 'push', 'settle', 'favourite'), kind) AS kind,
       account_id,
       post_id,
       TIMESTAMPADD(SECOND, made_at, '1970-01-01') AS made_utc,
       TIMESTAMPADD(SECOND, claimed_until, '1970-01-01') AS claimed_until_utc,
       IF(claimed_until < @now, 'yes', 'no') AS run_out,
       HEX(SUBSTRING(holder, 1, 4)) AS process
FROM task
WHERE bucket BETWEEN @first AND @last
ORDER BY made_at, id, kind;
