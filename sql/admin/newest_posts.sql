-- Purpose: what one account posted last: posts, replies and reposts, deleted ones too,
--          with what others made of them.
-- Set:     @account  the account, required
--          @before   show what came before this post (the newest)
--          @top      how many to show (20)
-- Cost:    reads @top rows of the table post, by the index by_author.
-- Safety:  reads only, takes no locks.
--
-- What a post says is not shown: it is for whom it was written. `of` is the post that
-- it answers or reposts. made_utc is in the id; a post that was imported may say
-- that it is older than it is.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = IF(CAST(@account AS CHAR) REGEXP '^[0-9]+$', NULL, 'Give the account, for instance: mariadb -t kith --init-command="SET @account = 12" < sql/admin/newest_posts.sql');
SET @s = IF(@missing IS NULL, 'DO 0', 'SELECT @missing AS missing'); PREPARE s FROM @s; EXECUTE s;
SET @account = IF(@missing IS NULL, CAST(@account AS UNSIGNED), NULL), @before = CAST(COALESCE(@before, ~0) AS UNSIGNED);
SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT id,
       CASE WHEN origin_id > 0 THEN 'repost' WHEN reply_to_id > 0 THEN 'reply' ELSE 'post' END AS kind,
       COALESCE(NULLIF(origin_id, 0), NULLIF(reply_to_id, 0)) AS `of`,
       ELT(visibility + 1, 'public', 'unlisted', 'followers', 'mentioned') AS visibility,
       ELT(state + 1, 'live', 'hidden', 'deleted') AS state,
       replies, reposts, favourites,
       TIMESTAMPADD(SECOND, (id >> 22) DIV 1000, '2000-01-01') AS made_utc
FROM post
WHERE bucket = @account & 1023 AND author_id = @account AND id < @before
ORDER BY id DESC;
