-- Why:   what is still to be done after a change: push a post to the home timelines of
--        followers, and write the side of the change that lies in another bucket. A task
--        is written in the transaction of the change, so that none is lost, claimed by
--        the process that made it. Another takes it over when its claim has run out.
-- Lock:  none that matters, the table is new.
-- Large: it is empty but for the tasks of the last seconds.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS task (
    bucket        SMALLINT UNSIGNED NOT NULL COMMENT 'that of the account that acted',
    id            BIGINT UNSIGNED   NOT NULL COMMENT 'made like that of a post',
    kind          TINYINT UNSIGNED  NOT NULL,
    account_id    BIGINT UNSIGNED   NOT NULL COMMENT 'who acted',
    post_id       BIGINT UNSIGNED   NOT NULL,
    made_at       INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    claimed_until INT UNSIGNED      NOT NULL COMMENT 'unix seconds',
    holder        BINARY(16)        NOT NULL COMMENT 'the process that claimed it',
    PRIMARY KEY (bucket, id, kind)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS task;
