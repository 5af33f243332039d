//! The installation itself: its schema, its mode, and the durability of its database.

use chrono::{DateTime, TimeDelta, Utc};
use domain::node::mode::Mode;
use sqlx::{Connection as _, Executor as _};

use super::cells::local;
use super::migrations::{self, NotApplied};
use crate::messages::partitions;
use crate::server::connect;
use crate::{Failed, HomeTx, Store};

/// An error from migrating the schema.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The database holds an installation of the other mode.
    #[error("this database is a {stored} installation and cannot become {wanted}; use another database, or set mode = \"{stored}\"")]
    OtherMode { stored: Mode, wanted: Mode },
    /// The database holds tables of something else.
    #[error(
        "the database has {0} of another program and none of Backhaul, so nothing was written; use an empty database (`createdb`), or a schema of its own (`?options[search_path]=backhaul` in DATABASE_URL)"
    )]
    Foreign(String),
    #[error("a migration failed: {0}")]
    Migration(#[from] NotApplied),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Migrates the schema of the database at `url` and, the first time, fixes its `mode`. Returns the number of migrations
/// applied.
pub async fn migrate(url: &str, mode: Mode, now: DateTime<Utc>) -> Result<usize, MigrateError> {
    migrate_to(url, mode, now, None).await
}

/// The same, up to the migration `last`, as an earlier version of the program did.
pub async fn migrate_to(url: &str, mode: Mode, now: DateTime<Utc>, last: Option<i64>) -> Result<usize, MigrateError> {
    let mut connection = connect(url).await?;
    // A first migration that was interrupted has left its record.
    let foreign = sqlx::query_scalar!(
        r#"
        select count(*) as "count!" from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
            and to_regclass('_sqlx_migrations') is null
            and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
        "#
    );
    match foreign.fetch_one(&mut connection).await.map_err(Failed::from)? {
        0 => {}
        1 => return Err(MigrateError::Foreign("1 table".to_owned())),
        tables => return Err(MigrateError::Foreign(format!("{tables} tables"))),
    }
    if migrations::are_missing(&mut connection).await.map_err(Failed::from)? {
        local::remove(url).await?;
    }
    let applied = migrations::apply(&mut connection, last).await?;
    let stored = sqlx::query_scalar!(
        r#"
        -- The first migration decides; afterwards this changes nothing.
        with first as (
            insert into installation (singleton, mode, installed_at)
            values (true, $1, $2)
            on conflict (singleton) do nothing
            returning mode
        )
        select mode as "mode!" from first
        union all
        select mode from installation
        limit 1
        "#,
        mode.as_str(),
        now,
    )
    .fetch_one(&mut connection)
    .await
    .map_err(Failed::from)?;
    // Create the partitions around now right away, so that messages can be written before any deliverer runs.
    let ahead = sqlx::query_scalar!("select clock_ahead_us from installation").fetch_one(&mut connection).await.map_err(Failed::from)?;
    partitions::make_around_by(&mut connection, now + TimeDelta::microseconds(ahead)).await?;
    connection.close().await.map_err(Failed::from)?;
    match parse_mode(&stored)? {
        stored if stored == mode => Ok(applied),
        stored => Err(MigrateError::OtherMode { stored, wanted: mode }),
    }
}

/// Drops every table and function of a sandbox. The database itself refuses if the installation is not a sandbox.
const FORGET_SANDBOX: &str = r"
do $$
declare
    name text;
begin
    if (select mode from installation for update) is distinct from 'sandbox' then
        raise exception 'only a sandbox is forgotten';
    end if;
    for name in
        select oid::regclass from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
    loop
        execute format('drop table %s cascade', name);
    end loop;
    for name in
        select oid::regprocedure from pg_proc
        where pronamespace = current_schema()::regnamespace and prokind = 'f'
            and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
    loop
        execute format('drop function %s cascade', name);
    end loop;
end $$";

/// Deletes everything in the sandbox at `url`, in one transaction. Fails without any change on a production database.
pub async fn forget_sandbox(url: &str) -> Result<(), Failed> {
    let mut connection = connect(url).await?;
    connection.execute(FORGET_SANDBOX).await?;
    Ok(connection.close().await?)
}

fn parse_mode(word: &str) -> Result<Mode, Failed> {
    word.parse().map_err(|_| Failed::Refused(format!("the installation has the unknown mode {word:?}")))
}

/// The offset of a sandbox's clock from real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockAhead {
    /// Zero in production.
    pub ahead: TimeDelta,
    pub moved_by: Option<String>,
    /// In real time.
    pub moved_at: Option<DateTime<Utc>>,
}

/// The current offset of the clock.
pub async fn clock(store: &Store) -> Result<ClockAhead, Failed> {
    let row = sqlx::query!("select clock_ahead_us, clock_moved_by, clock_moved_at from installation").fetch_one(&store.aside).await?;
    Ok(ClockAhead { ahead: TimeDelta::microseconds(row.clock_ahead_us), moved_by: row.clock_moved_by, moved_at: row.clock_moved_at })
}

/// The time by the database's clock, plus the offset of a sandbox's clock. It is the same on every node, however wrong a node's own
/// clock is.
pub async fn shared_now(store: &Store) -> Result<DateTime<Utc>, Failed> {
    Ok(sqlx::query_scalar!(r#"select shared_now() as "now!""#).fetch_one(&store.aside).await?)
}

/// Sets the clock's offset to `to` if it is still `from`. Returns false if it is not.
pub async fn move_clock(tx: &mut HomeTx, from: TimeDelta, to: TimeDelta, by: &str, at: DateTime<Utc>) -> Result<bool, Failed> {
    let moved = sqlx::query!(
        "update installation set clock_ahead_us = $2, clock_moved_by = $3, clock_moved_at = $4 where clock_ahead_us = $1",
        from.num_microseconds(),
        to.num_microseconds(),
        by,
        at,
    )
    .execute(tx.connection())
    .await?;
    Ok(moved.rows_affected() > 0)
}

/// Begins a new epoch. Transactions of a database that was restored to an earlier moment get numbers again that were used before; with
/// the epoch, messages that have no position yet are numbered after those from before the restore.
pub async fn begin_epoch(store: &Store) -> Result<i32, Failed> {
    let epoch = sqlx::query_scalar!("update installation set feed_epoch = feed_epoch + 1 returning feed_epoch");
    Ok(epoch.fetch_one(&store.aside).await?)
}

/// The state of the database, for `/readyz` and `backhaul doctor`.
#[derive(Clone, Debug)]
pub struct Condition {
    /// PostgreSQL's version as a number: 15.4 is 150004.
    pub version: i32,
    /// False on a read-only server.
    pub writable: bool,
    /// Durability settings that are off, so that a commit may be lost.
    pub careless: Vec<String>,
    /// The server's clock.
    pub now: DateTime<Utc>,
}

impl Store {
    /// The installation's mode. `None` before the first migration.
    pub async fn mode(&self) -> Result<Option<Mode>, Failed> {
        let mode = sqlx::query_scalar!("select mode from installation").fetch_optional(&self.pool).await;
        match mode {
            Ok(mode) => mode.as_deref().map(parse_mode).transpose(),
            // undefined_table: no migration has run yet.
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42P01") => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The database's name.
    pub async fn name(&self) -> Result<String, Failed> {
        Ok(sqlx::query_scalar!(r#"select current_database() as "name!""#).fetch_one(&self.pool).await?)
    }

    /// The database's name, the user of its sessions, and PostgreSQL's version, as the server tells them.
    pub async fn identity(&self) -> Result<(String, String, String), Failed> {
        let row = sqlx::query!(
            r#"
            select current_database() as "name!", current_user::text as "user!",
                split_part(current_setting('server_version'), ' ', 1) as "version!"
            "#
        );
        let row = row.fetch_one(&self.pool).await?;
        Ok((row.name, row.user, row.version))
    }

    /// The directory with the server's data; `None` if the role may not know it.
    pub async fn data_directory(&self) -> Result<Option<String>, Failed> {
        let directory = sqlx::query_scalar!(r#"select setting as "setting!" from pg_settings where name = 'data_directory'"#);
        Ok(directory.fetch_optional(&self.pool).await?)
    }

    /// The number of tables in the database, including tables that are not ours.
    pub async fn count_tables(&self) -> Result<i64, Failed> {
        let count = sqlx::query_scalar!(
            r#"
            select count(*) as "count!" from pg_class
            where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
            "#
        );
        Ok(count.fetch_one(&self.pool).await?)
    }

    /// The number of migrations that the program has and the database lacks: all of them before the first run.
    pub async fn pending_migrations(&self) -> Result<usize, Failed> {
        if self.mode().await?.is_none() {
            return Ok(migrations::count());
        }
        let mut connection = self.pool.single().await?;
        Ok(connection.work(|connection| Box::pin(migrations::pending(connection))).await?)
    }

    /// Reads the state of the database.
    pub async fn condition(&self) -> Result<Condition, Failed> {
        let row = sqlx::query!(
            r#"
            select
                current_setting('server_version_num')::integer as "version!",
                not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean) as "writable!",
                array(
                    select name from pg_settings
                    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
                    order by name
                ) as "careless!",
                clock_timestamp() as "now!"
            "#
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(Condition { version: row.version, writable: row.writable, careless: row.careless, now: row.now })
    }
}
