//! The directory of cells: which cells there are, and in which of them each merchant lives. It belongs to no merchant, and is in the
//! first cell alone. Where there is one cell, nobody asks it.

use chrono::{DateTime, Utc};
use domain::id::{Handle, MerchantId};
use domain::node::cell::CellState;
use uuid::Uuid;

use crate::{Failed, HomeTx, Store};

/// The constraint that gives a handle to one merchant among all cells.
pub const HANDLE_IS_PLACED_ONCE: &str = "handle_is_placed_once";

/// The place of a merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub merchant: MerchantId,
    pub cell: String,
    /// The place is taken, but the merchant is not there yet.
    pub is_reserved: bool,
}

/// A cell that was added to the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedCell {
    pub name: String,
    pub state: CellState,
}

/// The number of changes of the directory so far.
pub async fn generation(store: &Store) -> Result<i64, Failed> {
    Ok(sqlx::query_scalar!("select generation from directory").fetch_one(&store.aside).await?)
}

/// Counts a change of the directory, in the transaction that makes it.
async fn count_change(tx: &mut HomeTx) -> Result<(), Failed> {
    sqlx::query!("update directory set generation = generation + 1").execute(tx.connection()).await?;
    Ok(())
}

/// The cell of a merchant; `None` if it has no row, and so lives in the first cell.
pub async fn cell_of(store: &Store, merchant: MerchantId) -> Result<Option<String>, Failed> {
    let cell = sqlx::query_scalar!("select cell from merchant_cell where merchant_id = $1", merchant.0);
    Ok(cell.fetch_optional(&store.pool).await?)
}

/// The place of the merchant with this handle; `None` if it has no row.
pub async fn find(store: &Store, handle: &Handle) -> Result<Option<Place>, Failed> {
    let row = sqlx::query!(
        r#"select merchant_id, cell, state = 'reserved' as "is_reserved!" from merchant_cell where handle = $1"#,
        handle.as_str(),
    );
    let row = row.fetch_optional(&store.pool).await?;
    Ok(row.map(|row| place(row.merchant_id, row.cell, row.is_reserved)))
}

fn place(merchant: Uuid, cell: String, is_reserved: bool) -> Place {
    Place { merchant: MerchantId(merchant), cell, is_reserved }
}

/// Reserves a place for a new merchant. Fails with [`HANDLE_IS_PLACED_ONCE`] if the handle has a place.
pub async fn reserve(tx: &mut HomeTx, merchant: MerchantId, handle: &Handle, cell: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into merchant_cell (merchant_id, handle, cell, state, placed_at) values ($1, $2, $3, 'reserved', $4)",
        merchant.0,
        handle.as_str(),
        cell,
        now,
    )
    .execute(tx.connection())
    .await?;
    count_change(tx).await
}

/// Records that a merchant is in the cell that was reserved for it.
pub async fn arrive(tx: &mut HomeTx, merchant: MerchantId) -> Result<(), Failed> {
    sqlx::query!("update merchant_cell set state = 'here' where merchant_id = $1 and state = 'reserved'", merchant.0)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Records that a merchant lives in this cell now.
pub async fn place_in(tx: &mut HomeTx, merchant: MerchantId, handle: &str, cell: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into merchant_cell (merchant_id, handle, cell, state, placed_at) values ($1, $2, $3, 'here', $4)
        on conflict (merchant_id) do update set cell = excluded.cell, state = excluded.state, placed_at = excluded.placed_at
        "#,
        merchant.0,
        handle,
        cell,
        now,
    )
    .execute(tx.connection())
    .await?;
    count_change(tx).await
}

/// Forgets a merchant that was deleted, and what operators asked each other for about it.
pub async fn forget(tx: &mut HomeTx, merchant: MerchantId) -> Result<(), Failed> {
    sqlx::query!("delete from merchant_cell where merchant_id = $1", merchant.0).execute(tx.connection()).await?;
    sqlx::query!("delete from operator_request where merchant_id = $1", merchant.0).execute(tx.connection()).await?;
    count_change(tx).await
}

/// The cells that were added, by name.
pub async fn list_cells(store: &Store) -> Result<Vec<AddedCell>, Failed> {
    let rows = sqlx::query!("select name, state from cell order by name").fetch_all(&store.pool).await?;
    let added = |name, state: String| {
        let state = state.parse().map_err(|_| Failed::Internal("a stored state of a cell is unknown"))?;
        Ok(AddedCell { name, state })
    };
    rows.into_iter().map(|row| added(row.name, row.state)).collect()
}

/// Sets the state of a cell, which is added if it is not there.
pub async fn set_state(tx: &mut HomeTx, name: &str, state: CellState, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into cell (name, state, changed_at) values ($1, $2, $3)
        on conflict (name) do update set state = excluded.state, changed_at = excluded.changed_at
        "#,
        name,
        state.as_str(),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The names of cells in which merchants have a place, with the number of those merchants.
pub async fn count_places(store: &Store) -> Result<Vec<(String, i64)>, Failed> {
    let counted = sqlx::query!(r#"select cell, count(*) as "merchants!" from merchant_cell group by cell order by cell"#);
    Ok(counted.fetch_all(&store.pool).await?.into_iter().map(|row| (row.cell, row.merchants)).collect())
}

/// The number of merchants in a cell.
pub async fn count_merchants(store: &Store) -> Result<i64, Failed> {
    Ok(sqlx::query_scalar!(r#"select count(*) as "count!" from merchant"#).fetch_one(&store.pool).await?)
}
