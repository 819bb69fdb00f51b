-- Why:   posts and reposts, a versioned row each, in the bucket of the author, which the
--        last ten bits of the id repeat. So a post is found by its id alone. The text
--        never changes; the counts do, and with them ver. A deleted post stays as a
--        row without text, so that no id comes twice.
-- Lock:  none that matters, the table is new. At work an insert locks nothing that others
--        want; a favourite, repost or reply locks the row that it counts in.
-- Large: some 100 bytes and the text a post, 30 bytes for by_author.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS post (
    bucket           SMALLINT UNSIGNED NOT NULL COMMENT 'id & 1023, that of the author',
    id               BIGINT UNSIGNED   NOT NULL COMMENT 'milliseconds since 2000 in the first 41 bits',
    ver              BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    details          MEDIUMBLOB        NOT NULL COMMENT 'mentions and pictures, packed',
    text             MEDIUMBLOB        NOT NULL COMMENT 'UTF-8',
    spoiler          BLOB              NOT NULL COMMENT 'content warning, UTF-8',
    author_id        BIGINT UNSIGNED   NOT NULL,
    origin_id        BIGINT UNSIGNED   NOT NULL COMMENT 'the post that it reposts, 0: none',
    reply_to_id      BIGINT UNSIGNED   NOT NULL COMMENT 'the post that it answers, 0: none',
    reply_to_account BIGINT UNSIGNED   NOT NULL COMMENT 'the author of that post',
    visibility       TINYINT UNSIGNED  NOT NULL COMMENT '0 public, 1 unlisted, 2 followers, 3 those mentioned',
    state            TINYINT UNSIGNED  NOT NULL COMMENT '0 live, 1 hidden by an administrator, 2 deleted',
    language         VARBINARY(35)     NOT NULL,
    replies          INT UNSIGNED      NOT NULL,
    reposts          INT UNSIGNED      NOT NULL,
    favourites       INT UNSIGNED      NOT NULL,
    updated_at       INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as absent',
    PRIMARY KEY (bucket, id),
    KEY by_author (bucket, author_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS post;
