-- Why:   ids are made in ranges: a process raises next_id by a step and hands
--        out the ids between. AUTO_INCREMENT would tie ids to one server
--        and to one table.
-- Lock:  none that matters, the table is new. At work a range locks its row
--        for one statement.
-- Large: a row for each kind of id, a page.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS sequence (
    bucket  SMALLINT UNSIGNED NOT NULL,
    name    VARBINARY(32)     NOT NULL COMMENT 'the kind of id, such as account',
    next_id BIGINT UNSIGNED   NOT NULL COMMENT 'the lowest id not handed out',
    PRIMARY KEY (bucket, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS sequence;
