//! The history of the work on entries of the failure queue. It ends with its entry.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The kind of an action on entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    Owner,
    Note,
    Contacted,
    Discarded,
}

impl NoteKind {
    /// The name in the database; never changed once released.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Note => "note",
            Self::Contacted => "contacted",
            Self::Discarded => "discarded",
        }
    }
}

/// One action on one or more entries.
#[derive(Clone, Copy, Debug)]
pub struct NewNote<'a> {
    /// The same for all entries of one action.
    pub id: Uuid,
    pub made_at: DateTime<Utc>,
    /// The name of whoever acted.
    pub actor: &'a str,
    pub kind: NoteKind,
    /// The owner, or the note.
    pub text: Option<&'a str>,
}

/// Adds a note to the history of each of these entries, which must exist.
pub async fn insert(tx: &mut Tx, messages: &[Uuid], note: NewNote<'_>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into failure_note (merchant_id, message_id, note_id, made_at, actor, kind, text)
        select $1, entry.message_id, $3, $4, $5, $6, $7
        from unnest($2::uuid[]) as entry (message_id)
        order by entry.message_id
        "#,
        tx.merchant().0,
        messages,
        note.id,
        note.made_at,
        note.actor,
        note.kind.as_str(),
        note.text,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// A step in the history of entries.
#[derive(Clone, Debug)]
pub struct Note {
    pub made_at: DateTime<Utc>,
    pub actor: String,
    /// owner, note, contacted or discarded.
    pub kind: String,
    /// The owner, or the note. `None` for the other kinds, and after erasing.
    pub text: Option<String>,
    /// The number of entries that it was about, among those asked for.
    pub entries: i64,
}

/// The newest notes that are read of one entry.
const MOST_OF_ENTRY: i64 = 20;

/// The history of these entries, newest first. An action on several of them is listed once.
pub async fn list(store: &Store, merchant: MerchantId, messages: &[Uuid]) -> Result<Vec<Note>, Failed> {
    let notes = sqlx::query_as!(
        Note,
        r#"
        select
            min(newest.made_at) as "made_at!", min(newest.actor) as "actor!", min(newest.kind) as "kind!", min(newest.text) as text,
            count(*) as "entries!"
        from unnest($2::uuid[]) as entry (message_id)
        cross join lateral (
            select failure_note.note_id, failure_note.made_at, failure_note.actor, failure_note.kind, failure_note.text
            from failure_note
            where failure_note.merchant_id = $1 and failure_note.message_id = entry.message_id
            order by failure_note.note_id desc
            limit $3
        ) as newest
        group by newest.note_id
        order by newest.note_id desc
        limit $3
        "#,
        merchant.0,
        messages,
        MOST_OF_ENTRY,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(notes)
}
