-- Purpose: what the maintenance jobs did: a line for each job, who runs it now
--          and its cursor, then its latest runs.
-- Set:     @days  how far to look back (7)
--          @job   one job only (all); 'audit account' are the runs of the audit that
--                 were for one account
--          @top   how many runs to show (30)
-- Cost:    reads the table job_run, a few thousand rows, and two tables with a row
--          for each job.
-- Safety:  reads only, takes no locks.
--
-- A run whose result is running and whose lease another process holds was killed.
-- lease_until is by the clock of the database at the last renewal.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @since = 1000 * (UNIX_TIMESTAMP() - 86400 * CAST(COALESCE(@days, 7) AS SIGNED));

SELECT CONVERT(name USING utf8mb4) AS job,
       COUNT(*) AS runs,
       SUM(result = 'ok') AS ok,
       SUM(result = 'failed') AS failed,
       SUM(result NOT IN ('ok', 'failed', 'running')) AS stopped_or_lost,
       SUM(result = 'running') AS not_ended,
       TIMESTAMPADD(SECOND, MAX(started_ms) DIV 1000, '1970-01-01') AS last_started_utc,
       ROUND(AVG(IF(ended_ms > 0, ended_ms - started_ms, NULL)) / 1000, 1) AS mean_seconds,
       ROUND(MAX(IF(ended_ms > 0, ended_ms - started_ms, NULL)) / 1000, 1) AS longest_seconds,
       SUM(looked_at) AS looked_at,
       SUM(changed) AS changed
FROM job_run
WHERE started_ms >= @since AND (@job IS NULL OR name = @job)
GROUP BY name
ORDER BY name;

SELECT CONVERT(l.name USING utf8mb4) AS job,
       IF(l.holder = '', '(none)', CONVERT(l.holder USING utf8mb4)) AS held_by,
       l.ver AS lease_ver,
       TIMESTAMPADD(SECOND, l.until_ms DIV 1000, '1970-01-01') AS lease_until_utc,
       IF(COALESCE(c.resume_at, '') = '', '(from the beginning)', CONVERT(c.resume_at USING utf8mb4)) AS goes_on_at,
       TIMESTAMPADD(SECOND, c.saved_ms DIV 1000, '1970-01-01') AS noted_utc
FROM lease AS l
LEFT JOIN job_cursor AS c ON c.bucket = l.bucket AND c.name = l.name
WHERE @job IS NULL OR l.name = @job
ORDER BY l.name;

SET SESSION sql_select_limit = CAST(COALESCE(@top, 30) AS SIGNED);

SELECT CONVERT(name USING utf8mb4) AS job,
       TIMESTAMPADD(SECOND, started_ms DIV 1000, '1970-01-01') AS started_utc,
       IF(tick_ms = 0, 'by hand', 'by the clock') AS began,
       IF(ended_ms = 0, NULL, ROUND((ended_ms - started_ms) / 1000, 1)) AS seconds,
       looked_at,
       changed,
       CONVERT(result USING utf8mb4) AS result,
       CONVERT(failure USING utf8mb4) AS failure,
       CONVERT(holder USING utf8mb4) AS holder
FROM job_run
WHERE started_ms >= @since AND (@job IS NULL OR name = @job)
ORDER BY started_ms DESC, name;
