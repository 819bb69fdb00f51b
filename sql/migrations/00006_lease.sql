-- Why:   a maintenance job runs in one process at a time: the one that holds
--        the job's lease. Every take, renewal and release raises ver by one, and
--        only where ver is what was read. A process that saw no change of ver for
--        a whole term, by its own clock, may take the lease.
-- Lock:  none that matters, the table is new. At work a swap locks one row.
-- Large: a row for each job, a page.
--
-- until_ms is the database's clock at the last renewal plus the term. It is
-- there for people to read; no process decides by it who leads.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS lease (
    bucket   SMALLINT UNSIGNED NOT NULL COMMENT 'FNV-1a 32 of name & 1023',
    name     VARBINARY(32)     NOT NULL COMMENT 'the job',
    holder   VARBINARY(160)    NOT NULL COMMENT 'host:process:token, empty: free',
    ver      BIGINT UNSIGNED   NOT NULL COMMENT 'raised by every take, renewal and release',
    term_ms  INT UNSIGNED      NOT NULL COMMENT 'how long ver must stand still before others may take it',
    until_ms BIGINT UNSIGNED   NOT NULL COMMENT 'unix milliseconds, for people to read',
    PRIMARY KEY (bucket, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS lease;
