-- Purpose: rows with a section longer than the cap, and by how much: what the trim
--          job has to do.
-- Set:     @cap  entries a section may have, KITH_LIST_CAP (10000)
--          @top  how many to show (20)
-- Cost:    reads the lists of the rows over the cap, by the index by_blocks. Some
--          50 KB for each such row; none where trim keeps up.
-- Safety:  reads only, takes no locks.
--
-- Two results: how many there are, then the longest. A row at twice the cap is
-- cut by the next write to it, so none should be longer than that. The cap is one of
-- friends, followers and following; blocks, mutes and requests, of which a row keeps
-- 1,000 each (or @cap, if that is less), have no index and are not looked at here.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = IF(CAST(@cap AS CHAR) REGEXP '^[0-9]+$', NULL, CONCAT('The cap is no number: ', CAST(@cap AS CHAR)));
SET @s = IF(@missing IS NULL, 'DO 0', 'SELECT @missing AS missing'); PREPARE s FROM @s; EXECUTE s;
SET @cap = IF(@missing IS NULL, CAST(COALESCE(@cap, 10000) AS SIGNED), NULL);

SELECT COUNT(*) AS rows_over_cap,
       COALESCE(SUM(d.longest - @cap), 0) AS entries_over_cap,
       COALESCE(MAX(d.longest - @cap), 0) AS furthest,
       COALESCE(SUM(d.longest > 2 * @cap), 0) AS rows_over_twice_cap
FROM (SELECT GREATEST(c.friends, c.kept_followers - c.friends, c.kept_following - c.friends) AS longest
      FROM (SELECT CAST(kept_followers AS SIGNED) AS kept_followers,
                   CAST(kept_following AS SIGNED) AS kept_following,
                   IF(ORD(SUBSTRING(list, 4, 1)) & 1, CAST(CONV(HEX(SUBSTRING(list, 5, LEAST(ORD(SUBSTRING(list, 2, 1)) DIV 16, 4))), 16, 10) AS SIGNED), 0) AS friends
            FROM relation
            WHERE blocks >= (@cap + 1) DIV 64) AS c) AS d
WHERE d.longest > @cap
HAVING @cap IS NOT NULL;

SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT d.account_id, d.friends, d.followers_only, d.following_only, d.longest - @cap AS over_cap, d.ver
FROM (SELECT c.account_id, c.ver, c.friends,
             c.kept_followers - c.friends AS followers_only,
             c.kept_following - c.friends AS following_only,
             GREATEST(c.friends, c.kept_followers - c.friends, c.kept_following - c.friends) AS longest
      FROM (SELECT account_id, ver,
                   CAST(kept_followers AS SIGNED) AS kept_followers,
                   CAST(kept_following AS SIGNED) AS kept_following,
                   IF(ORD(SUBSTRING(list, 4, 1)) & 1, CAST(CONV(HEX(SUBSTRING(list, 5, LEAST(ORD(SUBSTRING(list, 2, 1)) DIV 16, 4))), 16, 10) AS SIGNED), 0) AS friends
            FROM relation
            WHERE blocks >= (@cap + 1) DIV 64) AS c) AS d
WHERE d.longest > @cap
ORDER BY d.longest DESC, d.account_id;
