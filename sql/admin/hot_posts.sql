-- Purpose: the posts of the last hours with most replies, reposts and favourites, out of
--          a sample.
-- Set:     @hours    how far to look back (24)
--          @first    first bucket of the sample (0)
--          @buckets  how many of the 1,024 buckets to read (16), 64 at most
--          @posts    how many of the newest posts of each bucket to read (500)
--          @top      how many to show (20)
-- Cost:    reads @posts rows in each of @buckets buckets at most, by primary key from the
--          end, twice: 8,000 rows with their texts unless told otherwise.
-- Safety:  reads only, takes no locks.
--
-- A bucket is what 1 in 1,024 accounts do. Which bucket an account lies in has nothing to
-- do with what it posts, but the hottest post of all lies in one bucket: to find it, go
-- through them, @first = 0, @buckets = 64, then @first = 64 and so on. The first result
-- says what was read, and how many buckets had more posts in those hours than @posts.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @hours = CAST(COALESCE(@hours, 24) AS SIGNED), @first = CAST(COALESCE(@first, 0) AS SIGNED), @posts = CAST(COALESCE(@posts, 500) AS SIGNED);
SET @last = @first + LEAST(CAST(COALESCE(@buckets, 16) AS SIGNED), 64) - 1, SESSION group_concat_max_len = 100000;
SET @from = GREATEST(UNIX_TIMESTAMP() - 3600 * @hours - 946684800, 0) * 1000 << 22;

-- One range a bucket, with its own end: a list of buckets would be one range of all.
SET @sample = (WITH RECURSIVE b (bucket) AS (SELECT @first UNION ALL SELECT bucket + 1 FROM b WHERE bucket < @last)
               SELECT GROUP_CONCAT('(SELECT bucket, id, author_id, origin_id, state, replies, reposts, favourites FROM post WHERE bucket = ', bucket, ' AND id >= ', @from,
                                   ' ORDER BY id DESC LIMIT ', @posts, ')' SEPARATOR ' UNION ALL ')
               FROM b);

SET @s = CONCAT('SELECT COUNT(*) AS buckets_with_posts, COALESCE(SUM(s.n), 0) AS posts_read, COALESCE(SUM(s.n = @posts), 0) AS buckets_with_more,
       TIMESTAMPADD(SECOND, (MIN(s.oldest) >> 22) DIV 1000, ''2000-01-01'') AS oldest_utc
FROM (SELECT bucket, COUNT(*) AS n, MIN(id) AS oldest FROM (', @sample, ') AS p GROUP BY bucket) AS s');
PREPARE s FROM @s; EXECUTE s;

SET SESSION sql_select_limit = CAST(COALESCE(@top, 20) AS SIGNED);
SET @s = CONCAT('SELECT id, author_id, replies + reposts + favourites AS reactions, replies, reposts, favourites,
       ELT(state + 1, ''live'', ''hidden'', ''deleted'') AS state,
       TIMESTAMPADD(SECOND, (id >> 22) DIV 1000, ''2000-01-01'') AS made_utc
FROM (', @sample, ') AS p
WHERE origin_id = 0 AND replies + reposts + favourites > 0
ORDER BY reactions DESC, id DESC');
PREPARE s FROM @s; EXECUTE s;
