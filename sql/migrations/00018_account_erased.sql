-- Why:   an erased account must stay erased. An import of an old file, or a product
--        that gives its ids, would make it again, with its follows: an id that has
--        a tombstone here is refused.
-- Lock:  none that matters, the table is new. A process that makes accounts locks
--        the keys of their ids for one statement.
-- Large: some 30 bytes an erased account. An import keeps 8 bytes of each in memory.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS account_erased (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    erased_at  INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS account_erased;
