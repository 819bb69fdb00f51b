-- Why:   the private notes of an account about others. A note has up to 8,192
--        bytes and is seldom read, so it stands apart from the relation row, which
--        every change rewrites; the row's list says that there is one.
-- Lock:  none that matters, the table is new.
-- Large: about 60 bytes a row and the text.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS note (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    other_id   BIGINT UNSIGNED   NOT NULL,
    body       VARBINARY(8192)   NOT NULL COMMENT 'UTF-8',
    updated_at INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    PRIMARY KEY (bucket, account_id, other_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS note;
