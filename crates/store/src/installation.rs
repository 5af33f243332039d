//! The installation itself: its schema, its mode, and whether its database keeps what it promises.

use chrono::{DateTime, TimeDelta, Utc};
use domain::mode::Mode;
use sqlx::migrate::{Migrate, Migrator};
use sqlx::{ConnectOptions, Connection as _, Executor as _, PgConnection};

use crate::pool::connect_options;
use crate::{Failed, Store, partitions};

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// Why the schema was not brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The database holds an installation of the other mode.
    #[error("this database is a {stored} installation and cannot become {wanted}; use another database, or set mode = \"{stored}\"")]
    OtherMode {
        /// The mode of the installation.
        stored: Mode,
        /// The mode that was asked for.
        wanted: Mode,
    },
    /// A migration failed.
    #[error("a migration failed: {0}")]
    Migration(String),
    /// The database did not do what was asked.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Brings the schema of the database at `url` up to date and, the first time, fixes its `mode`. Answers how many
/// migrations were applied.
pub async fn migrate(url: &str, mode: Mode, now: DateTime<Utc>) -> Result<usize, MigrateError> {
    let mut connection = connect_options(url)?.connect().await.map_err(Failed::from)?;
    let table = &MIGRATOR.table_name;
    connection.ensure_migrations_table(table).await.map_err(|error| MigrateError::Migration(error.to_string()))?;
    let before = pending(&mut connection).await?;
    MIGRATOR.run(&mut connection).await.map_err(|error| MigrateError::Migration(error.to_string()))?;
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
    // The days around now are there from the start, so that messages can be written before anybody delivers.
    let ahead = sqlx::query_scalar!("select clock_ahead_us from installation").fetch_one(&mut connection).await.map_err(Failed::from)?;
    partitions::make_around_by(&mut connection, now + TimeDelta::microseconds(ahead)).await?;
    connection.close().await.map_err(Failed::from)?;
    match parse_mode(&stored)? {
        stored if stored == mode => Ok(before),
        stored => Err(MigrateError::OtherMode { stored, wanted: mode }),
    }
}

/// Drops every table and function of a sandbox. The database itself refuses when it is none, whoever asks.
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

/// Forgets everything that the sandbox at `url` holds, in one transaction. A production database is left as it is.
pub async fn forget_sandbox(url: &str) -> Result<(), Failed> {
    let mut connection = connect_options(url)?.connect().await?;
    connection.execute(FORGET_SANDBOX).await?;
    Ok(connection.close().await?)
}

/// How many migrations this program knows and the database does not have.
async fn pending(connection: &mut PgConnection) -> Result<usize, Failed> {
    let applied = connection.list_applied_migrations(&MIGRATOR.table_name).await;
    let applied = applied.map_err(|_| Failed::Refused("the table of migrations cannot be read".to_owned()))?;
    Ok(MIGRATOR.iter().filter(|known| !applied.iter().any(|applied| applied.version == known.version)).count())
}

fn parse_mode(word: &str) -> Result<Mode, Failed> {
    word.parse().map_err(|_| Failed::Refused(format!("the installation has the unknown mode {word:?}")))
}

/// How far a sandbox's clock is ahead of real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockAhead {
    /// By how much; nothing in production.
    pub ahead: TimeDelta,
    /// Who moved it last.
    pub moved_by: Option<String>,
    /// When that was, in real time.
    pub moved_at: Option<DateTime<Utc>>,
}

/// How far the clock is ahead.
pub async fn clock(store: &Store) -> Result<ClockAhead, Failed> {
    let row = sqlx::query!("select clock_ahead_us, clock_moved_by, clock_moved_at from installation").fetch_one(&store.aside).await?;
    Ok(ClockAhead { ahead: TimeDelta::microseconds(row.clock_ahead_us), moved_by: row.clock_moved_by, moved_at: row.clock_moved_at })
}

/// Moves the clock to `to`, if it is still as far ahead as `from`; answers whether it was.
pub async fn move_clock(store: &Store, from: TimeDelta, to: TimeDelta, by: &str, at: DateTime<Utc>) -> Result<bool, Failed> {
    let moved = sqlx::query!(
        "update installation set clock_ahead_us = $2, clock_moved_by = $3, clock_moved_at = $4 where clock_ahead_us = $1",
        from.num_microseconds(),
        to.num_microseconds(),
        by,
        at,
    )
    .execute(&store.aside)
    .await?;
    Ok(moved.rows_affected() > 0)
}

/// What `/readyz` and `backhaul doctor` want to know of a database.
#[derive(Clone, Debug)]
pub struct Condition {
    /// PostgreSQL's version as a number: 15.4 is 150004.
    pub version: i32,
    /// Whether it accepts writes.
    pub writable: bool,
    /// Settings without which a commit may be lost, that are off.
    pub careless: Vec<String>,
    /// The server's clock.
    pub now: DateTime<Utc>,
}

impl Store {
    /// The installation's mode; nothing before the first migration.
    pub async fn mode(&self) -> Result<Option<Mode>, Failed> {
        let mode = sqlx::query_scalar!("select mode from installation").fetch_optional(&self.pool).await;
        match mode {
            Ok(mode) => mode.as_deref().map(parse_mode).transpose(),
            // undefined_table: nothing was migrated yet.
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42P01") => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// How many tables the database has, whoever made them.
    pub async fn count_tables(&self) -> Result<i64, Failed> {
        let count = sqlx::query_scalar!(
            r#"
            select count(*) as "count!" from pg_class
            where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
            "#
        );
        Ok(count.fetch_one(&self.pool).await?)
    }

    /// How many migrations this program knows and the database does not have: all of them before the first.
    pub async fn pending_migrations(&self) -> Result<usize, Failed> {
        if self.mode().await?.is_none() {
            return Ok(MIGRATOR.iter().count());
        }
        let mut connection = self.pool.acquire().await?;
        pending(&mut connection).await
    }

    /// How the database is.
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
