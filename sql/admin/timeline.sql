-- Purpose: the warm home timeline of one account: what its row says, and its newest
--          events. An event is a post, or a repost of one. Which of them the account is
--          shown is decided when it reads: `kith timeline why` says it.
-- Set:     @account  the account, required
--          @top      how many events (100; 900 at most)
-- Cost:    one row by primary key. Decoding takes temporary tables of some 100 bytes a
--          byte of the row: 800 events (6 KB) take 2 seconds on a busy core.
-- Safety:  reads only, takes no locks. Each result is of one moment.
--
-- If there is no row, or it cannot be read, a result before the others says so. Two
-- results: the row; the events, the newest first. The row is as old as covered_utc: what
-- was posted later is in the author feeds, and so is what accounts of `pulled` posted.
--
-- The bytes are described in repo/event/codec.go. How they are taken apart:
--
--   packed  the list
--   n       the numbers 1, 2, 3, … up to its length, by doubling
--   byte    every byte; g: how many bytes below 128 come before it, which end a number
--   number  the uvarint that begins at each byte, and where the next thing begins
--   author  the table of authors: ids from differences
--   item    what each byte would say if an event began there
--   event   the events that do: each where the one before it ends. This is the one
--           recursion as long as its result, and servers allow 1,000
--   at      times from differences: the first less all that follow it

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = IF(@account IS NULL, 'Give the account, for instance: mariadb -t kith --init-command="SET @account = 12" < sql/admin/timeline.sql', NULL);
SET @missing = IF(@account IS NOT NULL AND NOT CAST(@account AS CHAR) REGEXP '^[0-9]+$', CONCAT('No account: ', CAST(@account AS CHAR), ' is no number'), @missing);
SET @account = IF(@missing IS NULL, CAST(@account AS UNSIGNED), NULL), @top = LEAST(COALESCE(CAST(@top AS SIGNED), 100), 900);
SET @form = (SELECT ORD(list) FROM timeline WHERE bucket = @account & 1023 AND account_id = @account AND updated_at > 0);
SET @missing = CASE WHEN @missing IS NOT NULL THEN @missing
                    WHEN @form IS NULL THEN CONCAT('No row: account ', @account, ' has not read its home lately, or does not exist')
                    WHEN @form <> 33 THEN 'The list cannot be read: it is made anew when the account reads its home' END;
SET @s = IF(@missing IS NULL, 'DO 0', 'SELECT @missing AS missing'); PREPARE s FROM @s; EXECUTE s;

SELECT account_id, ver, LENGTH(list) AS bytes, LENGTH(pulled) AS pulled_bytes, floor_id, follows,
       TIMESTAMPADD(SECOND, covered_until DIV 1000, '1970-01-01') AS covered_utc,
       TIMESTAMPADD(SECOND, updated_at, '1970-01-01') AS updated_utc
FROM timeline
WHERE bucket = @account & 1023 AND account_id = @account AND updated_at > 0;

WITH RECURSIVE
packed AS (
    SELECT list FROM timeline WHERE @missing IS NULL AND bucket = @account & 1023 AND account_id = @account
),
n (n) AS (
    SELECT CAST(1 AS SIGNED)
    UNION ALL
    SELECT 2 * n.n + two.b
    FROM n
    JOIN (SELECT 0 AS b UNION ALL SELECT 1) AS two
    WHERE 2 * n.n + two.b <= (SELECT LENGTH(list) FROM packed)
),
byte AS (
    SELECT d.n, d.b, CAST(SUM(d.b < 128) OVER (ORDER BY d.n) - (d.b < 128) AS SIGNED) AS g
    FROM (SELECT n.n, ORD(SUBSTRING(packed.list, n.n, 1)) AS b FROM packed JOIN n) AS d
),
number AS (
    SELECT d.n, d.g, MAX(later.n) + 1 AS next, CAST(SUM((later.b & 127) << (7 * (later.n - d.n))) AS UNSIGNED) AS value
    FROM byte AS d
    JOIN byte AS later ON later.g = d.g AND later.n BETWEEN d.n AND d.n + 8
    GROUP BY d.n, d.g
),
head AS (
    SELECT events.value AS events, authors.value AS authors, authors.next AS first_author, authors.g + 1 AS g
    FROM number AS events
    JOIN number AS authors ON authors.n = events.next
    WHERE events.n = 2
),
author AS (
    SELECT ROW_NUMBER() OVER (ORDER BY d.n) - 1 AS place, d.next,
           CAST(SUM(d.value) OVER (ORDER BY d.n) AS UNSIGNED) AS id
    FROM (SELECT number.g, MIN(number.n) AS n, MAX(number.next) AS next, MAX(number.value) AS value
          FROM head
          JOIN number ON number.n >= head.first_author AND number.g >= head.g AND number.g < head.g + head.authors
          GROUP BY number.g) AS d
),
item AS (
    SELECT t.n, author.id AS author, d.value AS less, COALESCE(h.value, 0) << 14 | (t.b & 15) << 10 | (author.id & 1023) AS low,
           COALESCE(y.next, x.next, h.next, d.next) AS next,
           (t.b & 16) > 0 AS reposts, (o1.b & 128) > 0 AS later, x.value AS apart,
           COALESCE(y.value, 0) << 14 | (o1.b & 63) << 8 | o2.b AS origin_low
    FROM byte AS t
    JOIN number AS a ON a.n = t.n + 1
    JOIN author ON author.place = a.value * 4 + (t.b >> 6)
    JOIN number AS d ON d.n = a.next
    LEFT JOIN number AS h ON t.b & 32 AND h.n = d.next
    LEFT JOIN byte AS o1 ON t.b & 16 AND o1.n = COALESCE(h.next, d.next)
    LEFT JOIN byte AS o2 ON o2.n = o1.n + 1
    LEFT JOIN number AS x ON x.n = o1.n + 2
    LEFT JOIN number AS y ON o1.b & 64 AND y.n = x.next
),
event (position, n) AS (
    SELECT CAST(1 AS SIGNED), CAST(COALESCE((SELECT MAX(next) FROM author), 0) AS SIGNED)
    UNION ALL
    SELECT event.position + 1, item.next
    FROM event
    JOIN item ON item.n = event.n
    WHERE event.position < LEAST(@top, (SELECT events FROM head))
),
at AS (
    SELECT event.position, item.*,
           CAST(2 * FIRST_VALUE(item.less) OVER (ORDER BY event.position) - SUM(item.less) OVER (ORDER BY event.position) AS UNSIGNED) AS ms
    FROM event
    JOIN item ON item.n = event.n
)
SELECT e.position, e.id,
       TIMESTAMPADD(SECOND, e.ms DIV 1000, '2000-01-01') AS posted_utc,
       e.author,
       IF(e.reposts, e.origin_ms << 22 | e.origin_low, NULL) AS reposts,
       TIMESTAMPADD(SECOND, e.origin_ms DIV 1000, '2000-01-01') AS original_utc
FROM (SELECT at.position, at.ms << 22 | at.low AS id, at.ms, at.author, at.reposts, at.origin_low,
             CASE WHEN NOT at.reposts THEN NULL WHEN at.later THEN at.ms + at.apart ELSE at.ms - at.apart END AS origin_ms
      FROM at) AS e
ORDER BY e.position;
