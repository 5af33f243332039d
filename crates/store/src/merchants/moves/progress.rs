//! How far a move is. The row is in the first cell, so that whoever continues the move finds it there.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, HomeTx, Store, Tx};

/// The time for which a process holds a move without a sign of life.
const HELD_FOR: Duration = Duration::from_secs(30);

/// The states of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveState {
    /// Rows are copied while the merchant works in its old cell.
    Copying,
    /// Nobody writes; the last changes are copied.
    Paused,
    /// The merchant lives in the new cell.
    Switched,
    /// Its rows in the old cell are being deleted.
    Cleaning,
    Done,
    /// The move is being undone. The merchant stays in its old cell.
    Aborting,
}

impl MoveState {
    const ALL: [Self; 6] = [Self::Copying, Self::Paused, Self::Switched, Self::Cleaning, Self::Done, Self::Aborting];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Copying => "copying",
            Self::Paused => "paused",
            Self::Switched => "switched",
            Self::Cleaning => "cleaning",
            Self::Done => "done",
            Self::Aborting => "aborting",
        }
    }
}

/// A move of a merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub merchant: MerchantId,
    pub from_cell: String,
    pub to_cell: String,
    pub state: MoveState,
    /// What was written in the old cell before this transaction has been copied. `None` before the first copy is complete.
    pub copied_before: Option<String>,
    pub started_at: DateTime<Utc>,
    /// When the merchant was paused for the move.
    pub paused_at: Option<DateTime<Utc>>,
}

/// The newest move of a merchant.
pub async fn find_move(home: &Store, merchant: MerchantId) -> Result<Option<Move>, Failed> {
    let row = sqlx::query!(
        "select from_cell, to_cell, state, copied_before, started_at, paused_at from merchant_move where merchant_id = $1",
        merchant.0,
    )
    .fetch_optional(&home.pool)
    .await?;
    row.map(|row| {
        let state = MoveState::ALL.into_iter().find(|state| state.as_str() == row.state);
        Ok(Move {
            merchant,
            from_cell: row.from_cell,
            to_cell: row.to_cell,
            state: state.ok_or(Failed::Internal("a stored state of a move is unknown"))?,
            copied_before: row.copied_before,
            started_at: row.started_at,
            paused_at: row.paused_at,
        })
    })
    .transpose()
}

/// Begins a move, unless one is under way. Returns false then.
pub async fn begin(
    home: &Store,
    merchant: MerchantId,
    from_cell: &str,
    to_cell: &str,
    mover: Uuid,
    now: DateTime<Utc>,
) -> Result<bool, Failed> {
    let begun = sqlx::query!(
        r#"
        insert into merchant_move as known (merchant_id, from_cell, to_cell, state, started_at, changed_at, mover, held_until)
        values ($1, $2, $3, 'copying', $4, $4, $5, $6)
        on conflict (merchant_id) do update
        set from_cell = excluded.from_cell, to_cell = excluded.to_cell, state = excluded.state, copied_before = null,
            started_at = excluded.started_at, changed_at = excluded.changed_at, paused_at = null, mover = excluded.mover,
            held_until = excluded.held_until
        where known.state = 'done'
        "#,
        merchant.0,
        from_cell,
        to_cell,
        now,
        mover,
        now + HELD_FOR,
    )
    .execute(&home.pool)
    .await?;
    Ok(begun.rows_affected() > 0)
}

/// Holds the move for `mover`, from now on for half a minute. Returns false if another process holds it.
pub async fn hold(home: &Store, merchant: MerchantId, mover: Uuid, now: DateTime<Utc>) -> Result<bool, Failed> {
    let held = sqlx::query!(
        "update merchant_move set mover = $2, held_until = $4 where merchant_id = $1 and (mover = $2 or held_until <= $3)",
        merchant.0,
        mover,
        now,
        now + HELD_FOR,
    )
    .execute(&home.pool)
    .await?;
    Ok(held.rows_affected() > 0)
}

/// Notes that whatever was written in the old cell before the transaction `mark` has been copied; with `None`, that nothing is known to be.
pub async fn note_copied(home: &Store, merchant: MerchantId, mover: Uuid, mark: Option<&str>) -> Result<(), Failed> {
    sqlx::query!("update merchant_move set copied_before = $3 where merchant_id = $1 and mover = $2", merchant.0, mover, mark)
        .execute(&home.pool)
        .await?;
    Ok(())
}

/// Takes the move from one state to the next. Returns false if it is not in the first one, or another process holds it.
pub async fn advance(
    tx: &mut HomeTx,
    merchant: MerchantId,
    mover: Uuid,
    (from, to): (MoveState, MoveState),
    now: DateTime<Utc>,
) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        update merchant_move
        set state = $4, changed_at = $5, paused_at = case when $4 = 'paused' then $5 else paused_at end
        where merchant_id = $1 and mover = $2 and state = $3
        "#,
        merchant.0,
        mover,
        from.as_str(),
        to.as_str(),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Begins to undo a move, unless the merchant lives in its new cell already. Returns false then.
pub async fn abort(home: &Store, merchant: MerchantId, mover: Uuid, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        update merchant_move set state = 'aborting', changed_at = $3
        where merchant_id = $1 and mover = $2 and state in ('copying', 'paused', 'aborting')
        "#,
        merchant.0,
        mover,
        now,
    )
    .execute(&home.pool)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Forgets a move that was undone.
pub async fn forget(home: &Store, merchant: MerchantId, mover: Uuid) -> Result<(), Failed> {
    sqlx::query!("delete from merchant_move where merchant_id = $1 and mover = $2 and state = 'aborting'", merchant.0, mover)
        .execute(&home.pool)
        .await?;
    Ok(())
}

/// A merchant as a move finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movable {
    pub handle: String,
    /// True if it is being deleted.
    pub is_deleting: bool,
    /// True if all messages of its feed are numbered.
    pub is_numbered: bool,
}

/// The merchant in this cell.
pub async fn find_movable(store: &Store, merchant: MerchantId) -> Result<Option<Movable>, Failed> {
    let found = sqlx::query_as!(
        Movable,
        r#"
        select merchant.handle, merchant.deleting_at is not null as "is_deleting!", counter.live is true as "is_numbered!"
        from merchant
        left join feed_counter as counter on counter.merchant_id = merchant.merchant_id
        where merchant.merchant_id = $1
        "#,
        merchant.0,
    );
    Ok(found.fetch_optional(&store.pool).await?)
}

/// Deletes the row of a merchant itself, in a cell in which it does not live.
pub async fn forget_merchant(tx: &mut Tx) -> Result<(), Failed> {
    sqlx::query!("delete from merchant where merchant_id = $1", tx.merchant().0).execute(tx.connection()).await?;
    Ok(())
}
