-- Why:   what an account keeps of its own about posts: favourites, bookmarks, pins, in the
--        bucket of the account. A favourite stands at the post, too (reaction).
-- Lock:  none that matters, the table is new.
-- Large: some 70 bytes a mark with its index.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS mark (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    kind       TINYINT UNSIGNED  NOT NULL COMMENT '1 favourite, 2 repost, 3 bookmark, 4 pin',
    post_id    BIGINT UNSIGNED   NOT NULL,
    id         BIGINT UNSIGNED   NOT NULL COMMENT 'made like that of a post: sorts by time; of a repost its id',
    PRIMARY KEY (bucket, account_id, kind, post_id),
    KEY by_id (bucket, account_id, kind, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS mark;
