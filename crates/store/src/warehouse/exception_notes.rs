//! The history of the work on receiving exceptions.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The kind of a step in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    Owner,
    Note,
    Resolved,
}

impl NoteKind {
    /// The name in the database; never changed once released.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Note => "note",
            Self::Resolved => "resolved",
        }
    }
}

/// A step in the history of an exception.
#[derive(Clone, Debug)]
pub struct Note {
    pub id: Uuid,
    pub made_at: DateTime<Utc>,
    /// The name of whoever acted.
    pub actor: String,
    /// owner, note or resolved.
    pub kind: String,
    /// The owner's e-mail address, the note, or the reason; empty when an owner was taken off.
    pub text: String,
}

/// Adds a step to the history of an exception, which must exist.
pub async fn insert(tx: &mut Tx, exception: Uuid, note: &Note) -> Result<(), Failed> {
    sqlx::query!(
        "insert into exception_note (merchant_id, exception_id, note_id, made_at, actor, kind, text) values ($1, $2, $3, $4, $5, $6, $7)",
        tx.merchant().0,
        exception,
        note.id,
        note.made_at,
        note.actor,
        note.kind,
        note.text,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The history of an exception, newest first, at most `most` steps.
pub async fn list(store: &Store, merchant: MerchantId, exception: Uuid, most: i64) -> Result<Vec<Note>, Failed> {
    let notes = sqlx::query_as!(
        Note,
        r#"
        select note_id as id, made_at, actor, kind, text
        from exception_note
        where merchant_id = $1 and exception_id = $2
        order by note_id desc
        limit $3
        "#,
        merchant.0,
        exception,
        most,
    );
    Ok(notes.fetch_all(&store.pool).await?)
}

/// The time for which a step is kept. People write freely, so it does not stay with the exception for ever.
const KEPT_FOR: TimeDelta = TimeDelta::days(400);

/// Steps of all merchants that are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, exception_id from exception_note where made_at <= $1 order by made_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.exception_id)).collect())
}

/// Deletes the outdated steps of these exceptions.
pub async fn forget(tx: &mut Tx, exceptions: &[Uuid], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "delete from exception_note where merchant_id = $1 and exception_id = any($2) and made_at <= $3",
        tx.merchant().0,
        exceptions,
        now - KEPT_FOR,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
