-- Why:   how far an account has read its home and its notifications, a row each. The ver
--        is what clients see as version: it counts up by one, since some read it into 32
--        bits. What recent has, app/marker explains.
-- Lock:  none that matters, the table is new. At work a swap locks one row or two.
-- Large: some 60 bytes a row, and 8 for each entry of the last minutes, 1 KB at most.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS marker (
    bucket       SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id   BIGINT UNSIGNED   NOT NULL,
    timeline     TINYINT UNSIGNED  NOT NULL COMMENT '1 home, 2 notifications',
    ver          BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by one',
    last_read_id BIGINT UNSIGNED   NOT NULL COMMENT 'the read position, 0: none',
    settled_id   BIGINT UNSIGNED   NOT NULL COMMENT 'all entries up to here are read, or passed',
    recent       VARBINARY(1024)   NOT NULL COMMENT 'ids above settled_id of entries that were handed out, 8 bytes each, ascending',
    updated_at   INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    PRIMARY KEY (bucket, account_id, timeline)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS marker;
