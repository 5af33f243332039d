//! One-time links with which operators set their first password, or a new one.

use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::OperatorId;

use crate::{Failed, HomeTx, Store};

/// A link works for this long.
pub const WORKS_FOR: TimeDelta = TimeDelta::hours(72);
/// Links are kept this long after their end.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Whoever opens it becomes the first administrator.
    First,
    Invite(OperatorId),
    Reset(OperatorId),
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Invite(_) => "invite",
            Self::Reset(_) => "reset",
        }
    }

    const fn operator(self) -> Option<OperatorId> {
        match self {
            Self::First => None,
            Self::Invite(operator) | Self::Reset(operator) => Some(operator),
        }
    }

    fn read(purpose: &str, operator: Option<uuid::Uuid>) -> Result<Self, Failed> {
        match (purpose, operator.map(OperatorId)) {
            ("first", None) => Ok(Self::First),
            ("invite", Some(operator)) => Ok(Self::Invite(operator)),
            ("reset", Some(operator)) => Ok(Self::Reset(operator)),
            _ => Err(Failed::Internal("a stored invitation has an unknown purpose")),
        }
    }
}

/// Adds a link. Earlier ones of the same operator stop working.
pub async fn insert(tx: &mut HomeTx, hash: &[u8], purpose: Purpose, made_by: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    if let Some(operator) = purpose.operator() {
        end(tx, operator, now).await?;
    }
    sqlx::query!(
        "insert into operator_invitation (link_hash, purpose, operator_id, made_by, made_at, expires_at) values ($1, $2, $3, $4, $5, $6)",
        hash,
        purpose.as_str(),
        purpose.operator().map(|operator| operator.0),
        made_by,
        now,
        now + WORKS_FOR,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Has the links of an operator stop working. Returns the number of those that still worked.
pub async fn end(tx: &mut HomeTx, of: OperatorId, now: DateTime<Utc>) -> Result<u64, Failed> {
    let ended = sqlx::query!(
        "update operator_invitation set expires_at = $2 where operator_id = $1 and used_at is null and expires_at > $2",
        of.0,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(ended.rows_affected())
}

/// The purpose of the link with this hash, if it still works at `now`.
pub async fn find(store: &Store, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Purpose>, Failed> {
    let row = sqlx::query!(
        "select purpose, operator_id from operator_invitation where link_hash = $1 and used_at is null and expires_at > $2",
        hash,
        now,
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(|row| Purpose::read(&row.purpose, row.operator_id)).transpose()
}

/// Uses the link with this hash up. `None` if it does not work at `now`.
pub async fn take(tx: &mut HomeTx, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Purpose>, Failed> {
    let row = sqlx::query!(
        r#"
        update operator_invitation set used_at = $2
        where link_hash = $1 and used_at is null and expires_at > $2
        returning purpose, operator_id
        "#,
        hash,
        now,
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(|row| Purpose::read(&row.purpose, row.operator_id)).transpose()
}

/// Deletes links that have been over for 30 days at `now`. Returns their number.
pub async fn forget(tx: &mut HomeTx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let forgotten = sqlx::query!(
        r#"
        delete from operator_invitation where link_hash in (
            select link_hash from operator_invitation where expires_at <= $1 order by expires_at limit $2
        )
        "#,
        now - KEPT_FOR,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(forgotten.rows_affected())
}
