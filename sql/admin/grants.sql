-- Purpose: three users with no more rights than they need:
--            kith_app   kith serve, and the commands account, import and export
--            kith_jobs  kith cron and kith audit
--            kith_read  a person who reads, and runs the other scripts of this folder
-- Set:     @app_password, @jobs_password, @read_password
--                     each makes its user if there is none; a user that exists
--                     keeps its password. Without them only rights are given: run it
--                     so after an update
--          @host      from where they may connect ('localhost')
--          @database  the database of kith ('kith')
-- Cost:    none.
-- Safety:  run it as a user who may CREATE USER and GRANT, after `kith migrate up`:
--          a right on a table that does not exist is an error. It adds and never
--          takes away. Passwords on a command line are seen by everybody on the
--          machine: put the SETs into a file that only you can read, and send that
--          before this one (README.md).
--
-- `kith migrate` and `kith account bury` are run by another user, who may do
-- everything to this database and need not exist between two updates. Give it
--     GRANT ALL PRIVILEGES ON kith.* TO …
--
-- `kith dev` with a database that is named is both app and jobs, and migrates: it
-- is not for these users.

-- MariaDB makes a user who is named in a GRANT, without a password, unless told.
SET @host = COALESCE(@host, 'localhost'), @database = COALESCE(@database, 'kith') /*M!100100 , SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_CREATE_USER') */;
SET @app = CONCAT('''kith_app''@', QUOTE(@host)), @jobs = CONCAT('''kith_jobs''@', QUOTE(@host)), @read = CONCAT('''kith_read''@', QUOTE(@host));
SET @on = CONCAT(' ON `', REPLACE(@database, '`', '``'), '`.');

-- Whom the rights below cannot be given to: the first of them stops the script. A user
-- who may not see the others is told of all three.
SELECT CONCAT('There is no user ', w.who, ': give @', w.name, '_password before this script, as README.md says') AS missing
FROM (SELECT 'app' AS name, @app AS who, COALESCE(@app_password, '') = '' AND NOT EXISTS (SELECT 1 FROM information_schema.user_privileges WHERE grantee = @app) AS lacks
      UNION ALL SELECT 'jobs', @jobs, COALESCE(@jobs_password, '') = '' AND NOT EXISTS (SELECT 1 FROM information_schema.user_privileges WHERE grantee = @jobs)
      UNION ALL SELECT 'read', @read, COALESCE(@read_password, '') = '' AND NOT EXISTS (SELECT 1 FROM information_schema.user_privileges WHERE grantee = @read)) AS w
WHERE w.lacks;

SET @s = IF(COALESCE(@app_password, '') = '', 'DO 0', CONCAT('CREATE USER IF NOT EXISTS ', @app, ' IDENTIFIED BY ', QUOTE(@app_password))); PREPARE s FROM @s; EXECUTE s;
SET @s = IF(COALESCE(@jobs_password, '') = '', 'DO 0', CONCAT('CREATE USER IF NOT EXISTS ', @jobs, ' IDENTIFIED BY ', QUOTE(@jobs_password))); PREPARE s FROM @s; EXECUTE s;
SET @s = IF(COALESCE(@read_password, '') = '', 'DO 0', CONCAT('CREATE USER IF NOT EXISTS ', @read, ' IDENTIFIED BY ', QUOTE(@read_password))); PREPARE s FROM @s; EXECUTE s;

-- What serves people. Lists and counts are changed, never deleted; what leaves the
-- archive, and notes, are.
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'account TO ', @app); PREPARE s FROM @s; EXECUTE s;
-- UPDATE, since MySQL asks for it where a row is locked.
SET @s = CONCAT('GRANT SELECT, UPDATE', @on, 'account_erased TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT', @on, 'username TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'sequence TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'relation TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'relation_archive TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'relation_own TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'note TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'interaction TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'affinity TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'suggest TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'seen TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'post TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'author_feed TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'reaction TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'reply TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'mark TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'mark_head TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'task TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'idempotency TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'timeline TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'marker TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'promotion TO ', @app); PREPARE s FROM @s; EXECUTE s;
-- Whoever may read this and write to memcached can forge what kith reads there. UPDATE
-- is for `kith cache renew`.
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'cache_identity TO ', @app); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'goose_db_version TO ', @app); PREPARE s FROM @s; EXECUTE s;

-- What the jobs do. They make no accounts; they fold and delete interactions. The audit
-- repairs which name belongs to whom.
SET @s = CONCAT('GRANT SELECT', @on, 'account TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'account_erased TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, DELETE', @on, 'username TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'relation TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'relation_archive TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'relation_own TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
-- They drop notes about accounts that do not exist. What notes say only kith_app reads.
SET @s = CONCAT('GRANT SELECT (bucket, account_id, other_id), DELETE', @on, 'note TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, DELETE', @on, 'interaction TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'affinity TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'suggest TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'seen TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
-- The audit repairs what posts, counts, feeds, marks and tasks say of each other.
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'post TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'author_feed TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'reaction TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'reply TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'mark TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'mark_head TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'task TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, DELETE', @on, 'idempotency TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'timeline TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, DELETE', @on, 'marker TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'promotion TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'lease TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE, DELETE', @on, 'job_run TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT, UPDATE', @on, 'job_cursor TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT, INSERT', @on, 'cache_identity TO ', @jobs); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'goose_db_version TO ', @jobs); PREPARE s FROM @s; EXECUTE s;

-- A person who reads. Temporary tables are for hot_growth.sql; a table of the session is
-- all that can be written with that right.
SET @s = CONCAT('GRANT CREATE TEMPORARY TABLES', @on, '* TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'account TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'account_erased TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'username TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'sequence TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'relation TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'relation_archive TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'relation_own TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT (bucket, account_id, other_id, updated_at)', @on, 'note TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'interaction TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'affinity TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'suggest TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'seen TO ', @read); PREPARE s FROM @s; EXECUTE s;
-- What posts say is for whom they were written.
SET @s = CONCAT('GRANT SELECT (bucket, id, ver, author_id, origin_id, reply_to_id, reply_to_account, visibility, state, language, replies, reposts, favourites, updated_at)', @on, 'post TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'author_feed TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'reaction TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'reply TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'mark TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'mark_head TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'task TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'idempotency TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'timeline TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'marker TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'promotion TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'lease TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'job_run TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'job_cursor TO ', @read); PREPARE s FROM @s; EXECUTE s;
SET @s = CONCAT('GRANT SELECT', @on, 'goose_db_version TO ', @read); PREPARE s FROM @s; EXECUTE s;

-- What they have now.
SELECT REPLACE(g.who, '''', '') AS who, g.object AS on_table, g.rights
FROM (SELECT t.who, t.object, GROUP_CONCAT(t.privilege ORDER BY t.privilege SEPARATOR ', ') AS rights
      FROM (SELECT grantee AS who, table_name AS object, privilege_type AS privilege
            FROM information_schema.table_privileges
            WHERE table_schema = @database AND grantee IN (@app, @jobs, @read)
            UNION ALL
            SELECT grantee, table_name, CONCAT(privilege_type, ' (', GROUP_CONCAT(column_name ORDER BY column_name SEPARATOR ', '), ')')
            FROM information_schema.column_privileges
            WHERE table_schema = @database AND grantee IN (@app, @jobs, @read)
            GROUP BY grantee, table_name, privilege_type
            UNION ALL
            SELECT grantee, '(all)', privilege_type
            FROM information_schema.schema_privileges
            WHERE table_schema = @database AND grantee IN (@app, @jobs, @read)) AS t
      GROUP BY t.who, t.object) AS g
ORDER BY g.who, g.object;
