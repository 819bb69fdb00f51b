-- Why:   older entries of what others did to an account: who follows, blocks or asks
--        it. A list holds its newest entries; older ones are here, in segments, each a
--        packed list with one section. They are written only together with their
--        relation row, whose ver guards them too.
-- Lock:  none that matters, the table is new.
-- Large: a segment of 10,000 entries is 50 to 80 KB; an account with 2.5
--        million followers has some 250.
--
-- newest_* and oldest_* are the positions (time, id) of the first and the last entry
-- of a segment. The segments of a section do not overlap, so that by_position finds
-- the one that can hold an entry.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS relation_archive (
    bucket      SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id  BIGINT UNSIGNED   NOT NULL,
    section     TINYINT UNSIGNED  NOT NULL COMMENT '1 followers, 4 blocked_by, 6 requests',
    seq         BIGINT UNSIGNED   NOT NULL COMMENT 'ver of the relation row that made it, plus a number',
    newest_at   INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    newest_id   BIGINT UNSIGNED   NOT NULL,
    oldest_at   INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    oldest_id   BIGINT UNSIGNED   NOT NULL,
    n           INT UNSIGNED      NOT NULL COMMENT 'entries',
    ver         BIGINT UNSIGNED   NOT NULL COMMENT 'ver of the relation row that wrote it last',
    list        MEDIUMBLOB        NOT NULL,
    PRIMARY KEY (bucket, account_id, section, seq),
    KEY by_position (bucket, account_id, section, newest_at, newest_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS relation_archive;
