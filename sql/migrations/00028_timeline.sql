-- Why:   the home timelines of those who read lately, as they were when they were last
--        written here: a start for the next visit, or after memcached was emptied. One
--        versioned row an account (repo/timeline); what it lacks is read from the author
--        feeds. All rows may be deleted at any time.
-- Lock:  none that matters, the table is new. At work a swap locks one row.
-- Large: 5 to 8 bytes an event, so 4 to 7 KB for the 800 of KITH_HOME_CAP.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS timeline (
    bucket        SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id    BIGINT UNSIGNED   NOT NULL COMMENT 'whose home it is',
    ver           BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    list          MEDIUMBLOB        NOT NULL COMMENT 'the newest events, packed',
    pulled        MEDIUMBLOB        NOT NULL COMMENT 'followed authors whose events are not in list, packed',
    floor_id      BIGINT UNSIGNED   NOT NULL COMMENT 'list has all events from this id on; 0: all',
    follows       BIGINT UNSIGNED   NOT NULL COMMENT 'hash of the followed accounts that list was made for',
    covered_until BIGINT UNSIGNED   NOT NULL COMMENT 'unix milliseconds; list has all events up to then',
    updated_at    INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as empty',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS timeline;
