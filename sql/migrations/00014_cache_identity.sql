-- Why:   the identity of this database stands in every cache key, so that two databases
--        on one memcached do not mix, and so that `kith cache renew` makes every
--        process start with an empty cache after a failover that lost commits, or a
--        restore. The secret keys the checksums of cached items: whoever can read it and
--        write to memcached can forge what kith reads there.
-- Lock:  none that matters, the table is new. At work every process reads its one row
--        once a second.
-- Large: one row, which the first process makes: only a program has a good random number.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS cache_identity (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'always 0',
    id         BIGINT UNSIGNED   NOT NULL COMMENT 'random',
    secret     VARBINARY(32)     NOT NULL COMMENT 'random',
    renewed_at INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    PRIMARY KEY (bucket)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS cache_identity;
