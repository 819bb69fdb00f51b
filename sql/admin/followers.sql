-- Purpose: the accounts with most followers.
-- Set:     @top    how many to show (20)
--          @least  look at accounts that have about this many followers (1000)
-- Cost:    reads the rows whose longest section has @least / 2 entries, by the
--          index by_blocks: a few of a hundred thousand. @least = 0 reads the whole
--          table, which is exact whatever has happened to the accounts.
-- Safety:  reads only, takes no locks.
--
-- Followers stand in two sections, friends and followers, so that the longer of
-- the two has half of them at least. What is missed: an account whose row was
-- trimmed and has since lost most of what it still held.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @least = CAST(COALESCE(@least, 1000) AS SIGNED);
-- a small cap leaves no row that long: then the longer half of what there is
SET @from = LEAST(@least DIV 128, (SELECT COALESCE(MAX(blocks), 0) FROM relation) DIV 2);
SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT r.account_id,
       CONVERT(a.username USING utf8mb4) AS username,
       r.followers,
       r.friends,
       r.following,
       CAST(r.followers AS SIGNED) - r.kept_followers AS archived_followers,
       r.ver,
       TIMESTAMPADD(SECOND, r.updated_at, '1970-01-01') AS updated_utc
FROM relation AS r
LEFT JOIN account AS a ON a.bucket = r.bucket AND a.account_id = r.account_id
WHERE r.blocks >= @from
ORDER BY r.followers DESC, r.account_id;
