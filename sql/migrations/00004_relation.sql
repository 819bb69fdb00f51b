-- Why:   one versioned row an account has all its relations. list is the
--        packed blob (repo/list); the three counts are true, the two kept_
--        columns say how many followers and following list still holds. Every
--        change raises ver by a random step, and only where ver is what was read.
-- Lock:  none that matters, the table is new. At work a swap locks one row.
-- Large: at most 8 bytes an edge and side. 10 million accounts with 100 edges
--        are some 8 to 16 GB; a full list of 10,000 entries is about 80 KB.
--        MEDIUMBLOB leaves room to 16 MB.
--
-- ROW_FORMAT=DYNAMIC keeps a long list wholly outside the page of the row, so
-- that a scan of the counts reads short rows. It is the default of MySQL 8 and
-- MariaDB 10.11 and is written out for servers whose default was changed.
-- updated_at is unix seconds, UTC. blocks is how the trim job finds long rows
-- without reading all; it counts in 64s so that few writes change it and its
-- index, which takes some 20 bytes a row.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS relation (
    bucket         SMALLINT UNSIGNED NOT NULL COMMENT 'account_id & 1023',
    account_id     BIGINT UNSIGNED   NOT NULL,
    ver            BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every change, by a random step',
    list           MEDIUMBLOB        NOT NULL,
    friends        INT UNSIGNED      NOT NULL,
    followers      INT UNSIGNED      NOT NULL COMMENT 'friends included',
    following      INT UNSIGNED      NOT NULL COMMENT 'friends included',
    kept_followers INT UNSIGNED      NOT NULL COMMENT 'still in list',
    kept_following INT UNSIGNED      NOT NULL COMMENT 'still in list',
    blocks         SMALLINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'longest of friends, followers and following, in blocks of 64 entries',
    archived       VARBINARY(255)    NOT NULL DEFAULT '' COMMENT 'how much of each section lies in the archive, packed',
    updated_at     INT UNSIGNED      NOT NULL COMMENT 'unix seconds; 0: the row counts as empty',
    PRIMARY KEY (bucket, account_id),
    KEY by_blocks (blocks)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS relation;
