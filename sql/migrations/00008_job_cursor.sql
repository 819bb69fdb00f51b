-- Why:   a maintenance job that was stopped or killed continues where it was: it
--        saves its cursor every second. lease_ver keeps a process that lost the
--        lease from replacing the cursor of the one that has it now.
-- Lock:  none that matters, the table is new.
-- Large: a row for each job, a page.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS job_cursor (
    bucket    SMALLINT UNSIGNED NOT NULL COMMENT 'FNV-1a 32 of name & 1023',
    name      VARBINARY(32)     NOT NULL COMMENT 'the job',
    resume_at VARBINARY(200)    NOT NULL COMMENT 'the cursor, in words of the job, empty: from the beginning',
    lease_ver BIGINT UNSIGNED   NOT NULL COMMENT 'ver of the lease under which it was written',
    saved_ms  BIGINT UNSIGNED   NOT NULL COMMENT 'unix milliseconds',
    PRIMARY KEY (bucket, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS job_cursor;
