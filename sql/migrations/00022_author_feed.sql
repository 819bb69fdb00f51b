-- Why:   what an author posted and reposted last: one versioned row an author, with the
--        newest 800 events packed (repo/feed). Older ones are found in the table post.
-- Lock:  none that matters, the table is new. At work a post locks its author's row.
-- Large: 3 to 6 bytes an event, so 2 to 5 KB for a full row.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS author_feed (
    bucket       SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id   BIGINT UNSIGNED   NOT NULL,
    ver          BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    list         MEDIUMBLOB        NOT NULL COMMENT 'the newest events, packed',
    statuses     INT UNSIGNED      NOT NULL COMMENT 'posts and reposts that are neither deleted nor direct',
    last_id      BIGINT UNSIGNED   NOT NULL COMMENT 'the highest id that the author ever had',
    newest_id    BIGINT UNSIGNED   NOT NULL COMMENT 'the newest of these in list, 0: none',
    floor_id     BIGINT UNSIGNED   NOT NULL COMMENT 'list has all events from this id on; 0: all',
    pulled_since INT UNSIGNED      NOT NULL COMMENT 'unix seconds; followers pull the events since then, 0: they are pushed',
    updated_at   INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as empty',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS author_feed;
