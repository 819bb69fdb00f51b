-- Why:   the newest favourites, bookmarks and pins of an account, packed in one versioned
--        row (repo/mark), so that a page of posts is shown with them from the cache. Older
--        ones are found in the table mark.
-- Lock:  none that matters, the table is new. At work a mark locks its account's row.
-- Large: 17 bytes a mark, at most 100 marks.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS mark_head (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    ver        BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    list       MEDIUMBLOB        NOT NULL COMMENT 'the newest marks: of each 1 byte kind, 8 bytes id, 8 bytes post_id',
    floor_id   BIGINT UNSIGNED   NOT NULL COMMENT 'list has all marks from this id on; 0: all',
    updated_at INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as empty',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS mark_head;
