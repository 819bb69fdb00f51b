-- Why:   when an account was last seen, to the hour: jobs that work ahead for
--        accounts skip those that do not come back.
-- Lock:  none that matters, the table is new. At work a flush of a server
--        locks the rows of those it saw for one statement.
-- Large: some 40 bytes a row; 10 million accounts are some 400 MB.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS seen (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    at         INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS seen;
