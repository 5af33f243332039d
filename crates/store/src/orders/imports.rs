//! History imports: their progress, their lease, and the lines that were refused.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::messages::window::Window;
use crate::{Failed, Store, Tx};

/// The state of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A run is reading its lines.
    Running,
    /// No run is reading its lines. It can be resumed.
    Interrupted,
    /// All lines have been read.
    Done,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Done => "done",
        }
    }

    fn of(word: &str) -> Result<Self, Failed> {
        let states = [Self::Running, Self::Interrupted, Self::Done];
        states.into_iter().find(|state| state.word() == word).ok_or(Failed::Internal("a stored import state is unknown"))
    }
}

/// The results of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines processed, including blank ones.
    pub lines: i64,
    /// Orders that were not known before.
    pub created: i64,
    /// Orders that replaced an older snapshot.
    pub updated: i64,
    /// Orders identical to the stored snapshot.
    pub unchanged: i64,
    /// Orders older than the stored snapshot.
    pub stale: i64,
    pub refused: i64,
}

/// An import.
#[derive(Clone, Debug)]
pub struct Import {
    pub id: Uuid,
    pub state: State,
    pub counts: Counts,
    pub started_at: DateTime<Utc>,
    /// The time of the last progress.
    pub updated_at: DateTime<Utc>,
    /// Until then only the lease's owner may read its lines.
    pub leased_until: Option<DateTime<Utc>>,
}

/// The exclusive right to read an import's lines, for a limited time.
#[derive(Clone, Copy, Debug)]
pub struct Lease {
    pub import: Uuid,
    /// New for every run, so that an abandoned run can be told from its successor.
    pub owner: Uuid,
    pub until: DateTime<Utc>,
}

struct Row {
    import_id: Uuid,
    state: String,
    lines_done: i64,
    created: i64,
    updated: i64,
    unchanged: i64,
    stale: i64,
    refused: i64,
    started_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    leased_until: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Import {
    type Error = Failed;

    fn try_from(row: Row) -> Result<Self, Failed> {
        let Row { lines_done: lines, created, updated, unchanged, stale, refused, .. } = row;
        Ok(Self {
            id: row.import_id,
            state: State::of(&row.state)?,
            counts: Counts { lines, created, updated, unchanged, stale, refused },
            started_at: row.started_at,
            updated_at: row.updated_at,
            leased_until: row.leased_until,
        })
    }
}

/// Inserts an import that the owner of `lease` runs.
pub async fn insert(tx: &mut Tx, lease: Lease, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into order_import (
            merchant_id, import_id, owner, leased_until, started_at, updated_at,
            lines_done, created, updated, unchanged, stale, refused, state
        )
        values ($1, $2, $3, $4, $5, $5, 0, 0, 0, 0, 0, 0, 'running')
        "#,
        tx.merchant().0,
        lease.import,
        lease.owner,
        lease.until,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The import `id`, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, id: Uuid) -> Result<Option<Import>, Failed> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select import_id, state, lines_done, created, updated, unchanged, stale, refused, started_at, updated_at, leased_until
        from order_import
        where merchant_id = $1 and import_id = $2
        for update
        "#,
        tx.merchant().0,
        id,
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(Import::try_from).transpose()
}

/// Gives the import to the owner of `lease`. The import must be locked.
pub async fn lease(tx: &mut Tx, lease: Lease) -> Result<(), Failed> {
    sqlx::query!(
        "update order_import set state = 'running', owner = $3, leased_until = $4 where merchant_id = $1 and import_id = $2",
        tx.merchant().0,
        lease.import,
        lease.owner,
        lease.until,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Adds the results of further lines to an import and renews its lease. Returns false, without changing anything, if `lease`
/// has been lost or the import is not at `before` lines.
pub async fn advance(tx: &mut Tx, lease: Lease, before: i64, more: Counts, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        update order_import
        set lines_done = lines_done + $5, created = created + $6, updated = updated + $7, unchanged = unchanged + $8,
            stale = stale + $9, refused = refused + $10, updated_at = $11, leased_until = $12
        where merchant_id = $1 and import_id = $2 and owner = $3 and lines_done = $4
        "#,
        tx.merchant().0,
        lease.import,
        lease.owner,
        before,
        more.lines,
        more.created,
        more.updated,
        more.unchanged,
        more.stale,
        more.refused,
        now,
        lease.until,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Releases the lease and leaves the import in `state`. Returns false if `lease` has been lost.
pub async fn settle(tx: &mut Tx, lease: Lease, state: State, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        update order_import
        set state = $4, owner = null, leased_until = null, updated_at = $5
        where merchant_id = $1 and import_id = $2 and owner = $3
        "#,
        tx.merchant().0,
        lease.import,
        lease.owner,
        state.word(),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() == 1)
}

/// The import `id` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, id: Uuid) -> Result<Option<Import>, Failed> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select import_id, state, lines_done, created, updated, unchanged, stale, refused, started_at, updated_at, leased_until
        from order_import
        where merchant_id = $1 and import_id = $2
        "#,
        merchant.0,
        id,
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(Import::try_from).transpose()
}

/// The newest imports of `merchant` before the import `before`.
pub async fn list(store: &Store, merchant: MerchantId, before: Option<Uuid>, limit: i64) -> Result<Vec<Import>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select import_id, state, lines_done, created, updated, unchanged, stale, refused, started_at, updated_at, leased_until
        from order_import
        where merchant_id = $1 and import_id < $2
        order by import_id desc
        limit $3
        "#,
        merchant.0,
        before.unwrap_or(Uuid::max()),
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter().map(Import::try_from).collect()
}

/// An import in a list.
#[derive(Clone, Debug)]
pub struct ListedImport {
    pub handle: String,
    pub merchant_name: String,
    pub import: Import,
}

struct ListedRow {
    handle: String,
    merchant_name: String,
    import_id: Uuid,
    state: String,
    lines_done: i64,
    created: i64,
    updated: i64,
    unchanged: i64,
    stale: i64,
    refused: i64,
    started_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    leased_until: Option<DateTime<Utc>>,
}

macro_rules! imports {
    ($whose:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ListedRow,
            "select merchant.handle, merchant.name as merchant_name, newest.import_id, newest.state, newest.lines_done, newest.created, "
                + "newest.updated, newest.unchanged, newest.stale, newest.refused, newest.started_at, newest.updated_at, "
                + "newest.leased_until from (select * from order_import where "
                + $whose
                + "import_id >= $1 and import_id < $2 order by import_id desc limit $3) as newest "
                + "join merchant on merchant.merchant_id = newest.merchant_id order by newest.import_id desc",
            $($argument),*
        )
    };
}

/// The imports of one merchant or of all, newest first.
pub async fn list_across(store: &Store, merchant: Option<MerchantId>, window: &Window) -> Result<Vec<ListedImport>, Failed> {
    let (from, before) = window.bounds();
    let rows = match merchant {
        Some(merchant) => imports!("merchant_id = $4 and ", from, before, window.most, merchant.0).fetch_all(&store.pool).await?,
        None => imports!("", from, before, window.most).fetch_all(&store.pool).await?,
    };
    let listed = |row: ListedRow| {
        let import = Row {
            import_id: row.import_id,
            state: row.state,
            lines_done: row.lines_done,
            created: row.created,
            updated: row.updated,
            unchanged: row.unchanged,
            stale: row.stale,
            refused: row.refused,
            started_at: row.started_at,
            updated_at: row.updated_at,
            leased_until: row.leased_until,
        };
        Ok(ListedImport { handle: row.handle, merchant_name: row.merchant_name, import: import.try_into()? })
    };
    rows.into_iter().map(listed).collect()
}

/// A line that was refused.
#[derive(Clone, Debug)]
pub struct RefusedLine {
    /// Counted from 1.
    pub line: i64,
    /// `None` if it could not be read.
    pub order_identifier: Option<String>,
    /// Its faults, as JSON.
    pub faults: String,
}

/// Inserts refused lines of the import `id`.
pub async fn insert_refusals(tx: &mut Tx, id: Uuid, refused: &[RefusedLine]) -> Result<(), Failed> {
    let lines: Vec<i64> = refused.iter().map(|refused| refused.line).collect();
    let identifiers: Vec<Option<&str>> = refused.iter().map(|refused| refused.order_identifier.as_deref()).collect();
    let faults: Vec<&str> = refused.iter().map(|refused| refused.faults.as_str()).collect();
    sqlx::query!(
        r#"
        insert into order_import_refusal (merchant_id, import_id, line, order_identifier, faults)
        select $1, $2, line, order_identifier, faults
        from unnest($3::bigint[], $4::text[], $5::text[]) as arriving (line, order_identifier, faults)
        "#,
        tx.merchant().0,
        id,
        &lines,
        &identifiers as &[Option<&str>],
        &faults as &[&str],
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The refused lines of the import `id` of `merchant` after the line `after`, by number.
pub async fn list_refusals(store: &Store, merchant: MerchantId, id: Uuid, after: i64, limit: i64) -> Result<Vec<RefusedLine>, Failed> {
    let rows = sqlx::query_as!(
        RefusedLine,
        r#"
        select line, order_identifier, faults
        from order_import_refusal
        where merchant_id = $1 and import_id = $2 and line > $3
        order by line
        limit $4
        "#,
        merchant.0,
        id,
        after,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows)
}

/// The time for which an import and its report are kept after its last progress.
const KEPT_FOR: TimeDelta = TimeDelta::days(90);

/// The most refused lines of an import that one statement deletes.
const MOST_FORGOTTEN: i64 = 10_000;

/// Imports of all merchants that made no progress for too long at `now`, oldest first. That may be one whose process was killed.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, import_id from order_import where updated_at <= $1 order by updated_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.import_id)).collect())
}

/// Deletes an import with its report, or a part of a long report. Returns true if the import is gone.
pub async fn forget(tx: &mut Tx, import: Uuid, now: DateTime<Utc>) -> Result<bool, Failed> {
    let merchant = tx.merchant().0;
    let deleted = sqlx::query!(
        r#"
        delete from order_import_refusal
        where merchant_id = $1 and import_id = $2 and line in (
            select line from order_import_refusal where merchant_id = $1 and import_id = $2 order by line limit $3
        )
        "#,
        merchant,
        import,
        MOST_FORGOTTEN,
    )
    .execute(tx.connection())
    .await?;
    if i64::try_from(deleted.rows_affected()).unwrap_or(i64::MAX) == MOST_FORGOTTEN {
        return Ok(false);
    }
    sqlx::query!(
        "delete from order_import where merchant_id = $1 and import_id = $2 and updated_at <= $3",
        merchant,
        import,
        now - KEPT_FOR,
    )
    .execute(tx.connection())
    .await?;
    Ok(true)
}
