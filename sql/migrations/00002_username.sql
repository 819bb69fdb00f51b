-- Why:   a username belongs to one account, and is looked up without knowing
--        the account id. The table is both: the primary key makes the name
--        unique, the row names its account. It is a table of its own because
--        the name's bucket (a hash of the name) is not the account's.
-- Lock:  none that matters, the table is new.
-- Large: about 60 bytes a row; 10 million names are some 600 MB.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS username (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'FNV-1a 32 of name & 1023',
    name       VARBINARY(64)     NOT NULL COMMENT 'lower case',
    account_id BIGINT UNSIGNED   NOT NULL,
    PRIMARY KEY (bucket, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS username;
