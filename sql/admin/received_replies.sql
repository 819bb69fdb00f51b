-- Purpose: the newest replies to any post of one account, and whether each is still
--          there: what GET /api/v1/replies/received reads.
-- Set:     @account  the account, required
--          @before   show what came before this reply (the newest)
--          @top      how many to show (20)
-- Cost:    reads @top rows of the table reply, by the index by_owner, and the post of
--          each by primary key.
-- Safety:  reads only, takes no locks.
--
-- A reply that is `gone` has no post, and one that is deleted should have no row here,
-- but for some seconds after it was: else `kith audit --repair` takes the row away.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = IF(CAST(@account AS CHAR) REGEXP '^[0-9]+$', NULL, 'Give the account, for instance: mariadb -t kith --init-command="SET @account = 12" < sql/admin/received_replies.sql');
SET @s = IF(@missing IS NULL, 'DO 0', 'SELECT @missing AS missing'); PREPARE s FROM @s; EXECUTE s;
SET @account = IF(@missing IS NULL, CAST(@account AS UNSIGNED), NULL), @before = CAST(COALESCE(@before, ~0) AS UNSIGNED);
SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);

SELECT r.reply_id,
       r.author_id,
       r.post_id AS answers,
       COALESCE(ELT(p.state + 1, 'live', 'hidden', 'deleted'), 'gone') AS state,
       ELT(p.visibility + 1, 'public', 'unlisted', 'followers', 'mentioned') AS visibility,
       TIMESTAMPADD(SECOND, (r.reply_id >> 22) DIV 1000, '2000-01-01') AS made_utc
FROM reply AS r
LEFT JOIN post AS p ON p.bucket = r.reply_id & 1023 AND p.id = r.reply_id
WHERE r.bucket = @account & 1023 AND r.owner_id = @account AND r.reply_id < @before
ORDER BY r.reply_id DESC;
