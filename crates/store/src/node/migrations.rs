//! Applies the migrations beside running traffic.
//!
//! A migration that needs a table for itself gives up after a tenth of a second, so that others do not wait behind it, and is tried
//! again. A migration that begins with `-- no-transaction` builds indexes: one statement after the other, concurrently, and on a
//! partitioned table one partition after the other.

mod indexes;
pub(super) mod locks;
mod statements;

use sqlx::migrate::{Migrate, MigrateError, Migration, Migrator};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqlSafeStr as _};
use tokio::time::sleep;

pub use self::locks::NotApplied;
use self::locks::{AGAIN_AFTER, LOCK_TIMEOUT, TRIES, was_busy};
use crate::server::connect;

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// The number of migrations of this program.
pub(super) fn count() -> usize {
    MIGRATOR.iter().count()
}

/// The number of migrations that the program has and the database lacks.
pub(super) async fn pending(connection: &mut PgConnection) -> Result<usize, sqlx::Error> {
    let applied = connection.list_applied_migrations(&MIGRATOR.table_name).await?;
    Ok(MIGRATOR.iter().filter(|known| !applied.iter().any(|applied| applied.version == known.version)).count())
}

/// True if the database has been migrated before, and something is missing now.
pub(super) async fn are_missing(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let is_new = sqlx::query_scalar!(r#"select to_regclass('_sqlx_migrations') is null as "is_new!""#);
    Ok(!is_new.fetch_one(&mut *connection).await? && pending(connection).await? > 0)
}

/// Applies what is missing, up to the migration `last`. Returns how many were applied.
pub(super) async fn apply(connection: &mut PgConnection, last: Option<i64>) -> Result<usize, NotApplied> {
    if has_lz4(connection).await? {
        apply_all(connection, &MIGRATOR, last).await
    } else {
        apply_all(connection, &without_lz4(), last).await
    }
}

async fn apply_all(connection: &mut PgConnection, migrator: &Migrator, last: Option<i64>) -> Result<usize, NotApplied> {
    wait_for_turn(connection).await?;
    connection.ensure_migrations_table(&MIGRATOR.table_name).await?;
    let applied = connection.list_applied_migrations(&MIGRATOR.table_name).await?;
    let mut count = 0;
    for migration in migrator.iter().filter(|migration| last.is_none_or(|last| migration.version <= last)) {
        if applied.iter().any(|applied| applied.version == migration.version) {
            continue;
        }
        if migration.no_tx {
            indexes::build(connection, migration.sql.as_str()).await?;
            connection.skip(&MIGRATOR.table_name, migration).await?;
        } else {
            apply_when_free(connection, migration).await?;
        }
        count += 1;
    }
    // Everything is there: this compares the applied migrations with those of the program.
    match last {
        Some(last) => MIGRATOR.run_to(last, &mut *connection).await?,
        None => MIGRATOR.run(&mut *connection).await?,
    }
    connection.execute("reset lock_timeout").await?;
    Ok(count)
}

/// Returns whether the server was built with lz4.
async fn has_lz4(connection: &mut PgConnection) -> Result<bool, NotApplied> {
    let methods = sqlx::query_scalar!(
        r#"select coalesce('lz4' = any (enumvals), false) as "has!" from pg_settings where name = 'default_toast_compression'"#
    );
    Ok(methods.fetch_optional(connection).await?.unwrap_or(false))
}

/// The migrations for a server without lz4, whose columns are compressed by its default method. They count as the same
/// migrations: the checksums are those of the files.
fn without_lz4() -> Migrator {
    let plain = |migration: &Migration| {
        let sql = migration.sql.as_str().replace(" compression lz4", "");
        Migration { sql: AssertSqlSafe(sql).into_sql_str(), ..migration.clone() }
    };
    Migrator::with_migrations(MIGRATOR.iter().map(plain).collect())
}

/// Waits until no other process migrates. It asks again and again, because a statement that waits has a snapshot, and the process that
/// builds an index would wait for its end.
async fn wait_for_turn(connection: &mut PgConnection) -> Result<(), NotApplied> {
    for _try in 0..TRIES {
        let ours = sqlx::query_scalar!(r#"select pg_try_advisory_lock(hashtext('backhaul.migrate')) as "ours!""#);
        if ours.fetch_one(&mut *connection).await? {
            return Ok(());
        }
        sleep(AGAIN_AFTER).await;
    }
    Err(NotApplied("another process has been migrating this database for ten minutes; wait until it is done, then run this again".into()))
}

/// Applies a migration, one statement after the other, and notes that in the same transaction.
async fn apply_once(connection: &mut PgConnection, migration: &Migration) -> Result<(), MigrateError> {
    let mut transaction = connection.begin().await?;
    for statement in statements::statements(migration.sql.as_str()) {
        let done = transaction.execute(AssertSqlSafe(statement)).await;
        done.map_err(|error| MigrateError::ExecuteMigration(error, migration.version))?;
    }
    transaction.skip(&MIGRATOR.table_name, migration).await?;
    Ok(transaction.commit().await?)
}

/// Applies a migration in its transaction, as soon as it gets its locks.
async fn apply_when_free(connection: &mut PgConnection, migration: &Migration) -> Result<(), NotApplied> {
    connection.execute(LOCK_TIMEOUT).await?;
    let mut tries = 1;
    loop {
        match apply_once(connection, migration).await {
            Err(error) if was_busy(&error) && tries < TRIES => {
                tries += 1;
                sleep(AGAIN_AFTER).await;
            }
            Err(error) if was_busy(&error) => {
                let version = migration.version;
                return Err(NotApplied(format!(
                    "migration {version} needs a table that has been in use for ten minutes without a pause ({error}); look for a long \
                     transaction in pg_stat_activity, such as a backup, wait until it ends, then run this again"
                )));
            }
            done => return Ok(done?),
        }
    }
}

/// Builds the indexes that the statements of `sql` create, in the database at `url`, as a migration builds them.
pub async fn build_indexes(url: &str, sql: &str) -> Result<(), NotApplied> {
    let mut connection = connect(url).await.map_err(|failed| NotApplied(failed.to_string()))?;
    indexes::build(&mut connection, sql).await?;
    Ok(connection.close().await?)
}

#[cfg(test)]
mod tests {
    use sandbox::postgres::Cluster;

    use super::*;

    #[tokio::test]
    async fn a_server_without_lz4_gets_the_same_schema_but_for_the_compression() {
        let server = Cluster::shared().unwrap();
        let name = format!("without_lz4_{}", std::process::id());
        let mut beside = connect(&server.url("postgres")).await.unwrap();
        assert!(has_lz4(&mut beside).await.unwrap());
        for statement in [format!("drop database if exists {name}"), format!("create database {name}")] {
            beside.execute(AssertSqlSafe(statement)).await.unwrap();
        }
        let mut connection = connect(&server.url(&name)).await.unwrap();
        assert_eq!(apply_all(&mut connection, &without_lz4(), None).await.unwrap(), count());
        let compressed = connection.fetch_all("select from pg_attribute where attcompression = 'l'").await.unwrap();
        assert_eq!(compressed.len(), 0);
        assert_eq!(apply(&mut connection, None).await.unwrap(), 0, "they count as the same migrations");
        connection.close().await.unwrap();
        beside.execute(AssertSqlSafe(format!("drop database {name}"))).await.unwrap();
    }
}
