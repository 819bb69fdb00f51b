-- Why:   the accounts, one row each, with the bucket and id that every other row of
--        the account also has.
-- Lock:  none that matters, the table is new.
-- Large: about 100 bytes a row with a 12-byte display name; 10 million
--        accounts are some 1 GB.
--
-- username and display_name are bytes: text columns mix up case and end
-- spaces. display_name is at most 100 characters of at most 4 bytes.
-- created_at is unix milliseconds, UTC.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS account (
    bucket       SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id   BIGINT UNSIGNED   NOT NULL,
    ver          BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    username     VARBINARY(64)     NOT NULL COMMENT 'as its owner writes it',
    display_name VARBINARY(400)    NOT NULL COMMENT 'UTF-8',
    locked       TINYINT UNSIGNED  NOT NULL COMMENT '1: followers must ask',
    created_at   BIGINT UNSIGNED   NOT NULL COMMENT 'unix milliseconds',
    no_promotions TINYINT UNSIGNED NOT NULL DEFAULT 0 COMMENT '1: its home shows no promotions',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS account;
