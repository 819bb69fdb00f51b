-- Why:   older entries of what an account did itself: whom it follows, blocks, mutes
--        or asked, and its options for them. One row an
--        entry, since a question about two accounts looks for it by the other's id:
--        packed segments would all have to be read. Friends stand here with both
--        times, and are paged by each of them and by the later. Rows are written
--        only together with their relation row, whose ver guards them too.
-- Lock:  none that matters, the table is new.
-- Large: some 200 bytes an entry with its indexes; only who follows more than
--        10,000 accounts, or blocks, mutes or asked more than 1,000, has any.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS relation_own (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    other_id   BIGINT UNSIGNED   NOT NULL,
    section    TINYINT UNSIGNED  NOT NULL COMMENT '0 friends, 2 following, 3 blocking, 5 muting, 7 requested, 8 options',
    mine       INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: unknown, or options',
    theirs     INT UNSIGNED      NOT NULL COMMENT 'of friends: when they followed, unix seconds',
    latest     INT UNSIGNED      NOT NULL COMMENT 'the later of the two, unix seconds',
    choice     VARBINARY(2400)   NOT NULL COMMENT 'of options: packed as in a list',
    PRIMARY KEY (bucket, account_id, other_id, section),
    KEY by_latest (bucket, account_id, section, latest, other_id),
    KEY by_mine (bucket, account_id, section, mine, other_id),
    KEY by_theirs (bucket, account_id, section, theirs, other_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS relation_own;
