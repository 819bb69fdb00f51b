-- Why:   the accounts that an account may want to follow, as the suggest job last
--        found, and those that it has dismissed. Both stand in one packed, versioned
--        row (repo/suggest), since each changes what the other means.
-- Lock:  none that matters, the table is new. At work a swap locks one row.
-- Large: 4 to 8 bytes for each of at most 100 suggested and 1,000 dismissed;
--        mostly below 500 bytes a row, and only for accounts seen recently.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS suggest (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    ver        BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    list       MEDIUMBLOB        NOT NULL,
    made_at    INT UNSIGNED      NOT NULL COMMENT 'unix seconds, 0: never made',
    updated_at INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as empty',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS suggest;
