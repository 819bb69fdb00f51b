-- Why:   what accounts did with each other, until the affinity job has folded
--        it. A row is one batch: what one process saw of the actors of one
--        bucket between two flushes, packed (repo/interaction). A row for each
--        event takes 2.5 times the room and twice as long (5,000 a flush).
-- Lock:  none that matters, the table is new. At work rows are inserted at
--        the end of each bucket and deleted once they are folded.
-- Large: 7 to 15 bytes an event and some 70 a batch, and only what was not folded
--        yet: 1,000 events a second are some 10 MB in five minutes (measured: 33
--        bytes an event where a flush has 5,000).
--
-- batch_id is unix milliseconds times 2^22 and a random number below 2^22, so
-- that batches sort by time and two processes hardly ever take the same in one
-- bucket; the later of the two is then lost.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS interaction (
    bucket   SMALLINT UNSIGNED NOT NULL COMMENT 'that of the actors',
    batch_id BIGINT UNSIGNED   NOT NULL,
    n        INT UNSIGNED      NOT NULL COMMENT 'events in the batch',
    events   MEDIUMBLOB        NOT NULL,
    PRIMARY KEY (bucket, batch_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 ROW_FORMAT = DYNAMIC;

-- +goose Down
DROP TABLE IF EXISTS interaction;
