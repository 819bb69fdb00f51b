-- Why:   how close an account is to others: the hidden order of its
--        friends. One versioned row an account: the others with the highest
--        scores, packed (repo/affinity). Never shown to account holders.
-- Lock:  none that matters, the table is new. At work a fold locks the rows of
--        the actors of one bucket for one short transaction.
-- Large: 8 to 12 bytes for each of at most 500 others; a full row is 4 to 6 KB.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS affinity (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id BIGINT UNSIGNED   NOT NULL,
    ver        BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    list       MEDIUMBLOB        NOT NULL,
    updated_at INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as empty',
    PRIMARY KEY (bucket, account_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS affinity;
