//! Entries of the audit trail, from the flow that records them to the end of its transaction, which writes them.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::connection::Connection;
use crate::failed::Failed;

/// One change.
pub struct Entry<'a> {
    pub id: Uuid,
    /// The name of whoever made the change.
    pub actor: &'a str,
    /// A past participle: `merchant.added`.
    pub action: &'a str,
    /// The thing that was changed.
    pub detail: &'a str,
    pub done_at: DateTime<Utc>,
}

/// What a change was about: JSON objects with the fields that differ. Secrets and addresses of people are in them as fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// `None` for what is new.
    pub before: Option<String>,
    /// `None` for what is gone.
    pub after: Option<String>,
}

/// A change with what it was about.
pub struct Changed<'a> {
    entry: Entry<'a>,
    change: Change,
}

impl<'a> Entry<'a> {
    /// The same with what it was before and is after.
    #[must_use]
    pub fn with(self, change: Change) -> Changed<'a> {
        Changed { entry: self, change }
    }
}

impl<'a> From<Entry<'a>> for Changed<'a> {
    fn from(entry: Entry<'a>) -> Self {
        entry.with(Change::default())
    }
}

/// An entry that its transaction has still to write.
pub(crate) struct Unwritten {
    id: Uuid,
    actor: String,
    action: String,
    detail: String,
    change: Change,
    done_at: DateTime<Utc>,
}

impl Unwritten {
    pub(crate) fn new(Changed { entry, change }: Changed<'_>) -> Self {
        let Entry { id, actor, action, detail, done_at } = entry;
        Self { id, actor: actor.to_owned(), action: action.to_owned(), detail: detail.to_owned(), change, done_at }
    }
}

/// The columns of entries.
struct Columns<'a> {
    ids: Vec<Uuid>,
    actors: Vec<&'a str>,
    actions: Vec<&'a str>,
    details: Vec<&'a str>,
    before: Vec<Option<&'a str>>,
    after: Vec<Option<&'a str>>,
    times: Vec<DateTime<Utc>>,
}

impl<'a> Columns<'a> {
    fn of(entries: &'a [Unwritten]) -> Self {
        Self {
            ids: entries.iter().map(|entry| entry.id).collect(),
            actors: entries.iter().map(|entry| entry.actor.as_str()).collect(),
            actions: entries.iter().map(|entry| entry.action.as_str()).collect(),
            details: entries.iter().map(|entry| entry.detail.as_str()).collect(),
            before: entries.iter().map(|entry| entry.change.before.as_deref()).collect(),
            after: entries.iter().map(|entry| entry.change.after.as_deref()).collect(),
            times: entries.iter().map(|entry| entry.done_at).collect(),
        }
    }
}

/// Writes the entries of a transaction on a merchant's data. The database chains each to the one before it.
pub(crate) async fn write(connection: &mut Connection, merchant: MerchantId, entries: &[Unwritten]) -> Result<(), Failed> {
    if entries.is_empty() {
        return Ok(());
    }
    let Columns { ids, actors, actions, details, before, after, times } = Columns::of(entries);
    sqlx::query!(
        r#"
        insert into audit (merchant_id, audit_id, actor, action, detail, before, after, done_at)
        select $1, entry.id, entry.actor, entry.action, entry.detail, entry.before, entry.after, entry.done_at
        from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[]) with ordinality
            as entry (id, actor, action, detail, before, after, done_at, nth)
        order by entry.nth
        "#,
        merchant.0,
        &ids,
        &actors as &[&str],
        &actions as &[&str],
        &details as &[&str],
        &before as &[Option<&str>],
        &after as &[Option<&str>],
        &times,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes the entries of a transaction on what belongs to no merchant. The database chains each to the one before it.
pub(crate) async fn write_home(connection: &mut Connection, entries: &[Unwritten]) -> Result<(), Failed> {
    if entries.is_empty() {
        return Ok(());
    }
    let Columns { ids, actors, actions, details, before, after, times } = Columns::of(entries);
    sqlx::query!(
        r#"
        insert into home_audit (audit_id, actor, action, detail, before, after, done_at)
        select entry.id, entry.actor, entry.action, entry.detail, entry.before, entry.after, entry.done_at
        from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[]) with ordinality
            as entry (id, actor, action, detail, before, after, done_at, nth)
        order by entry.nth
        "#,
        &ids,
        &actors as &[&str],
        &actions as &[&str],
        &details as &[&str],
        &before as &[Option<&str>],
        &after as &[Option<&str>],
        &times,
    )
    .execute(connection)
    .await?;
    Ok(())
}
