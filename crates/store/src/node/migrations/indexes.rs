//! Builds the indexes of a migration beside running traffic. A repeat continues where the last try broke off.

use sqlx::migrate::MigrateError as SqlxError;
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};
use tokio::time::sleep;

use super::locks::{AGAIN_AFTER, LOCK_TIMEOUT, NotApplied, TRIES, was_busy};

/// An index that is built concurrently waits for transactions, and nobody waits for it.
const NO_LOCK_TIMEOUT: &str = "set lock_timeout = 0";

/// Builds the indexes that the statements of `sql` create, one after the other.
pub(super) async fn build(connection: &mut PgConnection, sql: &str) -> Result<(), NotApplied> {
    for statement in statements(sql) {
        let index = Index::read(&statement);
        let index = index.ok_or_else(|| NotApplied(format!("not of the form `create index concurrently if not exists`: {statement}")))?;
        index.build(connection).await?;
    }
    Ok(())
}

/// The statements of a migration, without comments.
fn statements(sql: &str) -> Vec<String> {
    let text: Vec<&str> = sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    text.join("\n").split(';').map(str::trim).filter(|statement| !statement.is_empty()).map(str::to_owned).collect()
}

/// The index that a statement creates.
struct Index<'a> {
    /// Empty, or `unique` with a space.
    unique: &'a str,
    name: &'a str,
    table: &'a str,
    /// The columns and the condition.
    rest: &'a str,
}

impl<'a> Index<'a> {
    fn read(statement: &'a str) -> Option<Self> {
        let (create, rest) = statement.split_once(" concurrently if not exists ")?;
        let unique = create.strip_prefix("create ")?.strip_suffix("index")?;
        let (name, rest) = rest.split_once(" on ")?;
        let (table, rest) = rest.split_once(char::is_whitespace)?;
        Some(Self { unique, name, table, rest })
    }

    /// Builds the index; on a partitioned table one partition after the other.
    async fn build(&self, connection: &mut PgConnection) -> Result<(), NotApplied> {
        let Self { unique, name, table, rest } = self;
        let partitioned =
            sqlx::query_scalar!(r#"select exists (select from pg_partitioned_table where partrelid = to_regclass($1)) as "is!""#, table,);
        if !partitioned.fetch_one(&mut *connection).await? {
            return self.build_on(connection, name, table).await;
        }
        // Partitions that are made from here on get the index with the table.
        when_free(connection, format!("create {unique}index if not exists {name} on only {table} {rest}")).await?;
        let partitions = sqlx::query_scalar!(
            r#"
            select inhrelid::regclass::text as "name!"
            from pg_inherits
            where inhparent = to_regclass($1) and not exists (
                select from pg_index
                join pg_inherits attached on attached.inhrelid = pg_index.indexrelid
                where pg_index.indrelid = pg_inherits.inhrelid and attached.inhparent = to_regclass($2)
            )
            "#,
            table,
            name,
        );
        for partition in partitions.fetch_all(&mut *connection).await? {
            let of_partition = format!("{partition}_{name}");
            self.build_on(connection, &of_partition, &partition).await?;
            when_free(connection, format!("alter index {name} attach partition {of_partition}")).await?;
        }
        Ok(())
    }

    /// Builds the index on one table. An invalid one, left behind by a try that broke off, is dropped first.
    async fn build_on(&self, connection: &mut PgConnection, name: &str, table: &str) -> Result<(), NotApplied> {
        let broken = sqlx::query_scalar!(
            r#"select exists (select from pg_index where indexrelid = to_regclass($1) and not indisvalid) as "is!""#,
            name,
        );
        let broken = broken.fetch_one(&mut *connection).await?;
        connection.execute(NO_LOCK_TIMEOUT).await?;
        if broken {
            connection.execute(AssertSqlSafe(format!("drop index concurrently {name}"))).await?;
        }
        let Self { unique, rest, .. } = self;
        connection.execute(AssertSqlSafe(format!("create {unique}index concurrently if not exists {name} on {table} {rest}"))).await?;
        Ok(())
    }
}

/// Executes a statement as soon as it gets its locks.
async fn when_free(connection: &mut PgConnection, statement: String) -> Result<(), NotApplied> {
    connection.execute(LOCK_TIMEOUT).await?;
    let mut tries = 1;
    loop {
        match connection.execute(AssertSqlSafe(statement.clone())).await.map_err(SqlxError::Execute) {
            Err(error) if tries < TRIES && was_busy(&error) => {
                tries += 1;
                sleep(AGAIN_AFTER).await;
            }
            done => return Ok(done.map(drop)?),
        }
    }
}
