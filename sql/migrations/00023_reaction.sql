-- Why:   who reposted and who favoured a post, in the bucket of the post, whose counts
--        change in the same transaction. For a repost, id is that of the repost.
-- Lock:  none that matters, the table is new. At work the row of the post is locked first.
-- Large: some 70 bytes a reaction with its index.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS reaction (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'post_id & 1023',
    post_id    BIGINT UNSIGNED   NOT NULL,
    kind       TINYINT UNSIGNED  NOT NULL COMMENT '1 favourite, 2 repost',
    account_id BIGINT UNSIGNED   NOT NULL,
    id         BIGINT UNSIGNED   NOT NULL COMMENT 'made like that of a post: sorts by time',
    PRIMARY KEY (bucket, post_id, kind, account_id),
    KEY by_id (bucket, post_id, kind, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS reaction;
