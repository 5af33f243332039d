//! Copying the rows of a merchant. Each is passed on as its text, which every type of the schema takes back as it was, and its hash is
//! compared on both sides.
//!
//! A row that is inserted or changed carries the number of its transaction. So what has changed since a copy is found without comparing:
//! rows of transactions that were not over when the copy began.

use std::collections::HashSet;

use domain::id::MerchantId;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};

use super::catalogue::Table;
use super::fence::begin_away;
use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// The rows that are read and written at a time.
const MOST: usize = 200;
/// The same of tables whose rows are large.
const MOST_LARGE: usize = 20;
/// Tables with documents and pictures.
const LARGE: [&str; 2] = ["label", "photo"];
/// The most transactions between two marks that can be compared. Their numbers come again after four billion.
const MOST_APART: i64 = 1_000_000_000;

/// The texts of rows are the same in both cells, whatever their servers are set to.
const SAME_TEXTS: &str = "select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO, YMD', true), \
    set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true), set_config('intervalstyle', 'postgres', true)";

/// The errors of copying.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// What was written is not what was read.
    #[error("rows of {0} differ in the two cells after they were copied")]
    Differs(String),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl From<sqlx::Error> for CopyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// The rows to copy.
#[derive(Clone, Copy, Debug)]
pub struct Since<'m> {
    /// Only those that transactions from this one on have written.
    pub mark: Option<&'m str>,
    /// Of tables that refer to others: only those that were written before this transaction. What they refer to is there then.
    pub until: Option<&'m str>,
}

/// A moment of a database system: the oldest transaction that was not over.
struct Mark {
    /// Each database system numbers its transactions for itself, and a cell can move to another one.
    system: i64,
    transaction: i64,
}

impl Mark {
    fn read(text: &str) -> Option<Self> {
        let (system, transaction) = text.split_once('/')?;
        Some(Self { system: system.parse().ok()?, transaction: transaction.parse().ok()? })
    }

    /// A condition on rows: true on another database system, or if the age of a row's transaction compares like this with that of the mark.
    fn condition(text: &str, compares: &str) -> Result<String, Failed> {
        let Self { system, transaction } = Self::read(text).ok_or(UNREADABLE)?;
        Ok(format!(
            " and ((select system_identifier from pg_control_system()) <> {system} or age(t.xmin) {compares} age('{transaction}'::xid8::xid))"
        ))
    }
}

const UNREADABLE: Failed = Failed::Internal("the mark of a copy cannot be read");

/// The oldest transaction that is not over. Whatever is committed later has its number or a higher one. `None` if that cannot be compared
/// with the mark `before`, because the database is another one now, or is on another node.
pub async fn mark(store: &Store, before: Option<&str>) -> Result<Option<String>, Failed> {
    // A table of the cell, so that the node answers that holds it.
    let now = sqlx::query_scalar!(
        r#"
        select system_identifier::text || '/' || pg_snapshot_xmin(pg_current_snapshot())::text as "now!"
        from installation, pg_control_system()
        "#
    );
    let now = now.fetch_one(&store.pool).await?;
    let Some(before) = before else { return Ok(Some(now)) };
    let (Some(before), Some(read)) = (Mark::read(before), Mark::read(&now)) else { return Ok(None) };
    let is_near = (0..MOST_APART).contains(&(read.transaction - before.transaction));
    Ok((before.system == read.system && is_near).then_some(now))
}

/// A row as text, and its hash.
type Text = (String, i64);

/// The rows of a table, read a few at a time as of one moment.
struct Reading {
    connection: Connection,
    fetch: String,
}

impl Reading {
    async fn begin(from: &Store, merchant: MerchantId, table: &Table, since: Since<'_>) -> Result<Self, Failed> {
        let most = if LARGE.contains(&table.name.as_str()) { MOST_LARGE } else { MOST };
        let mut wanted = String::new();
        if let Some(mark) = since.mark {
            wanted += &Mark::condition(mark, "<=")?;
        }
        if let Some(until) = since.until.filter(|_| table.refers) {
            wanted += &Mark::condition(until, ">")?;
        }
        let mut connection = from.pool.begin_on_tables().await?;
        connection.execute(SAME_TEXTS).await?;
        let declare = format!(
            "declare moving no scroll cursor for select t::text, hashtextextended(t::text, 0) from {} as t where t.merchant_id = '{}'{wanted}",
            table.name, merchant.0,
        );
        connection.execute(AssertSqlSafe(declare)).await?;
        Ok(Self { connection, fetch: format!("fetch {most} from moving") })
    }

    async fn next(&mut self) -> Result<Vec<Text>, Failed> {
        #[expect(clippy::disallowed_methods, reason = "a cursor on any of the tables")]
        let rows = sqlx::query(AssertSqlSafe(self.fetch.clone())).persistent(false).fetch_all(&mut self.connection).await?;
        Ok(rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, sqlx::Error>>()?)
    }

    async fn end(self) -> Result<(), Failed> {
        Ok(self.connection.rollback().await?)
    }
}

/// The statement that writes rows, whether they are there or not, and returns their hashes.
fn upsert(table: &Table) -> String {
    let list = |prefix: &str, columns: &[String]| columns.iter().map(|name| format!(r#"{prefix}"{name}""#)).collect::<Vec<_>>().join(", ");
    let changing: Vec<String> = table.columns.iter().filter(|column| !table.key.contains(column)).cloned().collect();
    // A row that is nothing but its key is written again too, so that it is returned.
    let set = if changing.is_empty() { &table.key } else { &changing };
    format!(
        "insert into {name} as t ({columns}) select {values} from (select given::{name} as r from unnest($1::text[]) as given offset 0) as s \
         on conflict ({key}) do update set ({set}) = row({new}) returning hashtextextended(t::text, 0)",
        name = table.name,
        columns = list("", &table.columns),
        values = list("(s.r).", &table.columns),
        key = list("", &table.key),
        set = list("", set),
        new = list("excluded.", set),
    )
}

/// Writes rows, and compares what was written with what was read.
async fn write(tx: &mut Tx, table: &Table, rows: Vec<Text>) -> Result<u64, CopyError> {
    let (texts, mut hashes): (Vec<String>, Vec<i64>) = rows.into_iter().unzip();
    tx.connection().execute(SAME_TEXTS).await?;
    #[expect(clippy::disallowed_methods, reason = "the same for each of the tables, made from the catalogue")]
    let written = sqlx::query(AssertSqlSafe(upsert(table))).bind(texts).fetch_all(tx.connection()).await?;
    let mut written: Vec<i64> = written.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    written.sort_unstable();
    hashes.sort_unstable();
    if written != hashes {
        return Err(CopyError::Differs(table.name.clone()));
    }
    Ok(u64::try_from(hashes.len()).unwrap_or(u64::MAX))
}

/// Copies rows of a merchant that arrives in the cell `to`. `each` is called with the number of rows so far, after each batch. Returns the
/// number of rows.
pub async fn copy_table(
    (from, to): (&Store, &Store),
    merchant: MerchantId,
    table: &Table,
    since: Since<'_>,
    mut each: impl AsyncFnMut(u64) -> Result<(), Failed>,
) -> Result<u64, CopyError> {
    let mut reading = Reading::begin(from, merchant, table, since).await?;
    let mut copied = 0;
    loop {
        let rows = reading.next().await?;
        if rows.is_empty() {
            reading.end().await?;
            return Ok(copied);
        }
        let mut tx = begin_away(to, merchant).await?;
        copied += write(&mut tx, table, rows).await?;
        tx.commit().await?;
        each(copied).await?;
    }
}

/// Copies a whole table once more, in place of what is there, in one transaction: where an outdated row would keep a new one out.
pub async fn replace_table((from, to): (&Store, &Store), merchant: MerchantId, table: &Table) -> Result<u64, CopyError> {
    let mut reading = Reading::begin(from, merchant, table, Since { mark: None, until: None }).await?;
    let mut tx = begin_away(to, merchant).await?;
    let empty = format!("delete from {} where merchant_id = '{}'", table.name, merchant.0);
    tx.connection().execute(AssertSqlSafe(empty)).await?;
    let mut copied = 0;
    loop {
        let rows = reading.next().await?;
        if rows.is_empty() {
            break;
        }
        copied += write(&mut tx, table, rows).await?;
    }
    reading.end().await?;
    tx.commit().await?;
    Ok(copied)
}

/// The number of the merchant's rows in each of the tables.
pub async fn count(store: &Store, merchant: MerchantId, tables: &[Table]) -> Result<Vec<i64>, Failed> {
    let counts = tables.iter().map(|table| format!("(select count(*) from {} where merchant_id = $1)", table.name));
    let counts = format!("select array[{}]", counts.collect::<Vec<_>>().join(", "));
    let mut connection = store.pool.begin_on_tables().await?;
    #[expect(clippy::disallowed_methods, reason = "the same for each of the tables, made from the catalogue")]
    let row = sqlx::query(AssertSqlSafe(counts)).bind(merchant.0).fetch_one(&mut connection).await?;
    connection.rollback().await?;
    Ok(row.try_get(0)?)
}

/// Deletes the rows of a table in the cell `to` that are no longer in the cell `from`. Returns their number.
pub async fn remove_gone((from, to): (&Store, &Store), merchant: MerchantId, table: &Table) -> Result<u64, Failed> {
    let mut source = from.pool.begin_on_tables().await?;
    let there: HashSet<Key> = keys(&mut source, merchant, table).await?.into_iter().collect();
    source.rollback().await?;
    let mut tx = begin_away(to, merchant).await?;
    let gone: Vec<Key> = keys(tx.connection(), merchant, table).await?.into_iter().filter(|key| !there.contains(key)).collect();
    let mut removed = 0;
    for some in gone.chunks(MOST) {
        let deleted = tx.connection().execute(AssertSqlSafe(delete(merchant, table, some))).await?;
        removed += deleted.rows_affected();
    }
    tx.commit().await?;
    Ok(removed)
}

/// The primary key of a row, column by column as text.
type Key = Vec<String>;

/// The keys of the merchant's rows in a table.
async fn keys(connection: &mut Connection, merchant: MerchantId, table: &Table) -> Result<Vec<Key>, Failed> {
    connection.execute(SAME_TEXTS).await?;
    let key = table.key.iter().map(|name| format!(r#"t."{name}"::text"#)).collect::<Vec<_>>().join(", ");
    let list = format!("select array[{key}] from {} as t where t.merchant_id = '{}'", table.name, merchant.0);
    #[expect(clippy::disallowed_methods, reason = "the same for each of the tables, made from the catalogue")]
    let rows = sqlx::query(AssertSqlSafe(list)).fetch_all(connection).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// The statement that deletes the rows with these keys. The keys are constants of their types, because a cell of a cluster deletes by no
/// text that it would have to make of a row.
fn delete(merchant: MerchantId, table: &Table, keys: &[Key]) -> String {
    let types: Vec<&str> = table.key.iter().map(|name| table.type_of(name)).collect();
    let constant = |(value, kind): (&String, &&str)| format!("'{}'::{kind}", value.replace('\'', "''"));
    let row = |key: &Key| format!("({})", key.iter().zip(&types).map(constant).collect::<Vec<_>>().join(", "));
    format!(
        "delete from {name} as t where t.merchant_id = '{merchant}' and ({key}) in ({rows})",
        name = table.name,
        merchant = merchant.0,
        key = table.key.iter().map(|name| format!(r#"t."{name}""#)).collect::<Vec<_>>().join(", "),
        rows = keys.iter().map(row).collect::<Vec<_>>().join(", "),
    )
}
