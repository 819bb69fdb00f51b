-- Purpose: does one account follow another, and the other way round, and does it
--          stand on both sides, in the rows or in the archive.
-- Set:     @follower, @followee  the two accounts, required
-- Cost:    two rows, up to two entries of relation_own, and all segments of followers
--          of the two accounts: some 6 bytes an archived follower, 15 MB for an
--          account with 2.5 million (0.1 seconds), twice that in temporary space.
-- Safety:  reads only, takes no locks. All of one moment, so that a writer at work
--          does not look like half an edge.
--
-- One line for each direction. at_from is where from's own list has to, at_to where
-- to's list has from: the row, a segment of followers (seq), or relation_own, which
-- has friends and following; and the section. A verdict of HALF EDGE is
-- for `kith audit --repair`; TWICE says that a list has an id
-- twice.
--
-- An id is searched by its bytes. A match that does not begin where an id begins (the
-- end of one id and the start of the next) does not count, and the search goes on.

SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED;
SET @missing = 'Give both accounts, for instance: mariadb -t kith --init-command="SET @follower = 12, @followee = 34" < sql/admin/edge.sql';
SET @s = IF(@follower IS NULL OR @followee IS NULL, 'SELECT @missing AS missing', 'DO 0'); PREPARE s FROM @s; EXECUTE s;
SET @follower = CAST(@follower AS UNSIGNED), @followee = CAST(@followee AS UNSIGNED);

WITH RECURSIVE
packed AS (
    SELECT account_id, CAST(IF(account_id = @follower, @followee, @follower) AS UNSIGNED) AS other, 'row' AS part, list
    FROM relation
    WHERE (bucket = @follower & 1023 AND account_id = @follower) OR (bucket = @followee & 1023 AND account_id = @followee)
    UNION ALL
    SELECT account_id, CAST(IF(account_id = @follower, @followee, @follower) AS UNSIGNED), CONCAT('segment ', seq), list
    FROM relation_archive
    WHERE (bucket = @follower & 1023 AND account_id = @follower AND section = 1) OR (bucket = @followee & 1023 AND account_id = @followee AND section = 1)
),
edges AS (
    SELECT h.account_id, h.part, h.width,
           UNHEX(LPAD(HEX(h.other), GREATEST(2 * h.width, LENGTH(HEX(h.other))), '0')) AS id,
           h.n0, h.n1,
           SUBSTRING(h.list, 5 + h.count_width * BIT_COUNT(h.mask), h.width * (h.n0 + h.n1 + h.n2)) AS ids
    FROM (SELECT m.account_id, m.other, m.part, m.list, m.width, m.count_width, m.mask,
                 IF(m.mask & 1, CAST(CONV(HEX(SUBSTRING(m.list, 5, m.count_width)), 16, 10) AS SIGNED), 0) AS n0,
                 IF(m.mask & 2, CAST(CONV(HEX(SUBSTRING(m.list, 5 + m.count_width * BIT_COUNT(m.mask & 1), m.count_width)), 16, 10) AS SIGNED), 0) AS n1,
                 IF(m.mask & 4, CAST(CONV(HEX(SUBSTRING(m.list, 5 + m.count_width * BIT_COUNT(m.mask & 3), m.count_width)), 16, 10) AS SIGNED), 0) AS n2
          FROM (SELECT account_id, other, part, list,
                       ORD(SUBSTRING(list, 2, 1)) % 16 AS width,
                       LEAST(ORD(SUBSTRING(list, 2, 1)) DIV 16, 4) AS count_width,
                       CAST(CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10) AS SIGNED) AS mask
                FROM packed) AS m) AS h
),
hit (account_id, part, at, aligned) AS (
    SELECT account_id, part, LOCATE(id, ids), (LOCATE(id, ids) - 1) % width = 0
    FROM edges
    UNION ALL
    SELECT e.account_id, e.part, LOCATE(e.id, e.ids, hit.at + 1), (LOCATE(e.id, e.ids, hit.at + 1) - 1) % e.width = 0
    FROM hit
    JOIN edges AS e ON e.account_id = hit.account_id AND e.part = hit.part
    WHERE hit.at > 0
),
found AS (
    SELECT hit.account_id, hit.part,
           CASE WHEN (hit.at - 1) DIV e.width < e.n0 THEN 'friends'
                WHEN (hit.at - 1) DIV e.width < e.n0 + e.n1 THEN 'followers'
                ELSE 'following' END AS section
    FROM hit
    JOIN edges AS e ON e.account_id = hit.account_id AND e.part = hit.part
    WHERE hit.at > 0 AND hit.aligned
    UNION ALL
    SELECT account_id, 'relation_own', IF(section = 0, 'friends', 'following')
    FROM relation_own
    WHERE (bucket = @follower & 1023 AND account_id = @follower AND other_id = @followee AND section IN (0, 2))
       OR (bucket = @followee & 1023 AND account_id = @followee AND other_id = @follower AND section IN (0, 2))
)
SELECT w.from_id, w.to_id,
       COALESCE(w.at_from, '-') AS at_from,
       COALESCE(w.at_to, '-') AS at_to,
       CASE WHEN w.n_from > 1 OR w.n_to > 1 THEN 'TWICE'
            WHEN w.n_from = 1 AND w.n_to = 1 THEN 'follows'
            WHEN w.n_from = 1 THEN 'HALF EDGE: only from has it'
            WHEN w.n_to = 1 THEN 'HALF EDGE: only to has it'
            ELSE 'does not follow' END AS verdict
FROM (SELECT d.from_id, d.to_id,
             SUM(f.account_id = d.from_id) AS n_from,
             SUM(f.account_id = d.to_id) AS n_to,
             GROUP_CONCAT(IF(f.account_id = d.from_id, CONCAT(f.part, ': ', f.section), NULL) ORDER BY f.part, f.section SEPARATOR ', ') AS at_from,
             GROUP_CONCAT(IF(f.account_id = d.to_id, CONCAT(f.part, ': ', f.section), NULL) ORDER BY f.part, f.section SEPARATOR ', ') AS at_to,
             d.direction
      FROM (SELECT 1 AS direction, CAST(@follower AS UNSIGNED) AS from_id, CAST(@followee AS UNSIGNED) AS to_id
            UNION ALL SELECT 2, CAST(@followee AS UNSIGNED), CAST(@follower AS UNSIGNED)) AS d
      LEFT JOIN found AS f ON (f.account_id = d.from_id AND f.section IN ('friends', 'following'))
                           OR (f.account_id = d.to_id AND f.section IN ('friends', 'followers'))
      WHERE d.from_id IS NOT NULL AND d.to_id IS NOT NULL
      GROUP BY d.direction, d.from_id, d.to_id) AS w
ORDER BY w.direction;
