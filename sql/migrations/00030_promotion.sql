-- Why:   posts and accounts that are shown in homes between what people follow, for a
--        time. kith promotion writes it; each server holds what is live.
-- Lock:  none that matters, the table is new.
-- Large: it has few rows, and 100 that have not ended at most. All lie in one bucket, since
--        they belong to no account.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS promotion (
    bucket        SMALLINT UNSIGNED NOT NULL COMMENT 'that of the name promotion, 10 bits of its FNV-1a',
    id            BIGINT UNSIGNED   NOT NULL COMMENT 'counts up',
    account_id    BIGINT UNSIGNED   NOT NULL COMMENT 'whose newest public post is shown, 0: see post_id',
    post_id       BIGINT UNSIGNED   NOT NULL COMMENT 'the post that is shown, 0: see account_id',
    begins_at     INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    ends_at       INT UNSIGNED      NOT NULL COMMENT 'unix seconds; from then on it is not shown',
    every_entries INT UNSIGNED      NOT NULL COMMENT 'after so many entries of a home',
    weight        INT UNSIGNED      NOT NULL COMMENT 'how often it is taken where several could be',
    PRIMARY KEY (bucket, id),
    KEY by_end (bucket, ends_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS promotion;
