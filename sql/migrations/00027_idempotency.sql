-- Why:   which post was made with which Idempotency-Key, so that a request that is sent
--        twice makes one post. Written with the post; the job expire deletes old rows.
-- Lock:  none that matters, the table is new.
-- Large: some 60 bytes for each post of the last hour that came with a key.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS idempotency (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    hash       BINARY(16)        NOT NULL COMMENT 'of the key',
    post_id    BIGINT UNSIGNED   NOT NULL,
    made_at    INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    PRIMARY KEY (bucket, account_id, hash)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS idempotency;
