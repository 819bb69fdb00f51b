-- Purpose: the rows that are written most now: keeps every row's ver, waits, and
--          shows how much each has grown.
-- Set:     @wait     seconds between the two reads (60)
--          @top      how many to show (20)
--          @first    first bucket to read (0)
--          @buckets  how many of the 1,024 buckets to read (1024)
-- Cost:    reads all rows of the buckets twice, without the long lists, and writes
--          some 40 bytes for each into a temporary table: 400 MB with 10 million
--          accounts. @buckets = 64 is a sixteenth of that.
-- Safety:  reads the tables of kith only, takes no locks. What it keeps is in
--          a temporary table of this session, which is gone when the session ends,
--          however it ends; no other session sees it and it does not replicate as
--          rows. It needs the right CREATE TEMPORARY TABLES (see grants.sql) and
--          works on a replica too. While it waits it holds no transaction.
--
-- Each commit raises ver by a random step, whose mean is 268,439,552, so commits says
-- about how many there were: 10 may have been 8 or 12. One commit may carry the
-- edits of many people.

SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET @wait = CAST(COALESCE(@wait, 60) AS DECIMAL(12, 3)), @first = CAST(COALESCE(@first, 0) AS SIGNED), @buckets = CAST(COALESCE(@buckets, 1024) AS SIGNED);
SET @last = @first + @buckets - 1;

CREATE TEMPORARY TABLE kith_ver_before (
    bucket     SMALLINT UNSIGNED NOT NULL,
    account_id BIGINT UNSIGNED   NOT NULL,
    ver        BIGINT UNSIGNED   NOT NULL,
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB;

INSERT INTO kith_ver_before (bucket, account_id, ver)
SELECT bucket, account_id, ver FROM relation WHERE bucket BETWEEN @first AND @last;

SET @began = NOW(6);
DO SLEEP(@wait);
SET @waited = TIMESTAMPDIFF(MICROSECOND, @began, NOW(6)) / 1000000;
SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT r.account_id,
       GREATEST(1, ROUND((r.ver - COALESCE(b.ver, 0)) / 268439552)) AS commits,
       ROUND((r.ver - COALESCE(b.ver, 0)) / 268439552 / @waited, 2) AS a_second,
       r.followers, r.following
FROM relation AS r
LEFT JOIN kith_ver_before AS b ON b.bucket = r.bucket AND b.account_id = r.account_id
WHERE r.bucket BETWEEN @first AND @last AND r.ver > COALESCE(b.ver, 0)
ORDER BY r.ver - COALESCE(b.ver, 0) DESC, r.account_id;

DROP TEMPORARY TABLE kith_ver_before;
