-- Why:   what was answered to a post, and to all posts of an account: one table with two
--        orders, in the bucket of the post that is answered, which is that of its author.
-- Lock:  none that matters, the table is new. At work the row of the post is locked first.
-- Large: some 110 bytes a reply with its indexes.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS reply (
    bucket   SMALLINT UNSIGNED NOT NULL COMMENT 'owner_id & 1023, post_id & 1023',
    post_id  BIGINT UNSIGNED   NOT NULL COMMENT 'the post that is answered',
    reply_id BIGINT UNSIGNED   NOT NULL COMMENT 'the answer, a post',
    owner_id BIGINT UNSIGNED   NOT NULL COMMENT 'the author of the post that is answered',
    author_id BIGINT UNSIGNED  NOT NULL COMMENT 'the author of the answer',
    narrow    TINYINT UNSIGNED NOT NULL DEFAULT 0 COMMENT '0: a public or unlisted answer, which is counted; 1: for followers or those mentioned',
    PRIMARY KEY (bucket, post_id, reply_id),
    KEY by_post (bucket, post_id, narrow, reply_id),
    KEY by_owner (bucket, owner_id, reply_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS reply;
