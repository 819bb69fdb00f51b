-- Why:   what each run of a maintenance job did: for `kith cron list`, for
--        administrators, and for the other processes, which see from tick_ms
--        that a time on the schedule has been served.
-- Lock:  none that matters, the table is new.
-- Large: about 150 bytes a run; a job every 5 minutes makes 8,640 rows in the
--        30 days that they are kept (KITH_JOB_RUN_KEEP), 1.5 MB.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS job_run (
    bucket     SMALLINT UNSIGNED NOT NULL COMMENT 'FNV-1a 32 of name & 1023',
    name       VARBINARY(32)     NOT NULL COMMENT 'the job',
    started_ms BIGINT UNSIGNED   NOT NULL COMMENT 'unix milliseconds',
    holder     VARBINARY(160)    NOT NULL COMMENT 'who ran it: host:process:token',
    tick_ms    BIGINT UNSIGNED   NOT NULL COMMENT 'the time on the schedule it was for, 0: run by hand',
    ended_ms   BIGINT UNSIGNED   NOT NULL COMMENT 'unix milliseconds, 0: not yet',
    looked_at  BIGINT UNSIGNED   NOT NULL COMMENT 'rows looked at',
    changed    BIGINT UNSIGNED   NOT NULL COMMENT 'rows changed',
    result     VARBINARY(16)     NOT NULL COMMENT 'running, ok, failed, stopped or lost',
    failure    VARBINARY(500)    NOT NULL COMMENT 'one sentence, empty where it went well',
    PRIMARY KEY (bucket, name, started_ms, holder)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS job_run;
