//! The feed: a merchant's messages, each exactly once, for whoever follows from a place in it.
//!
//! Ids and times do not do for this: a transaction that began early may commit late, and whoever had read past it would
//! never see its messages. Transactions have numbers, and the database knows the oldest that still runs. Up to there nothing
//! can be added, and further nothing is read. That rule is `feed_end()` in the schema.

use domain::feed::Position;
use domain::id::MerchantId;
use domain::message::Kind;
use uuid::Uuid;

use crate::{Failed, Store};

/// A message as it was said, and its place in the feed.
pub struct Event {
    /// Its place.
    pub at: Position,
    /// What it is about.
    pub kind: Kind,
    /// What happened: `rma.created`.
    pub event: String,
    /// What must stay in order.
    pub subject: String,
    /// The position within the subject.
    pub sequence: i64,
    /// The body.
    pub body: String,
}

struct Row {
    message_id: Uuid,
    feed_epoch: i32,
    number: String,
    sequence: i64,
    kind: String,
    event: String,
    subject: String,
    body: String,
}

impl TryFrom<Row> for Event {
    type Error = Failed;

    fn try_from(row: Row) -> Result<Self, Failed> {
        Ok(Self {
            at: Position { epoch: row.feed_epoch, transaction: transaction(&row.number)?, message: row.message_id },
            kind: row.kind.parse().map_err(|_| Failed::Refused("a stored kind is unknown".to_owned()))?,
            event: row.event,
            subject: row.subject,
            sequence: row.sequence,
            body: row.body,
        })
    }
}

fn transaction(number: &str) -> Result<u64, Failed> {
    number.parse().map_err(|_| Failed::Refused("a transaction without a number".to_owned()))
}

/// The `most` messages of `merchant` that follow `after`, without trials and work of our own.
pub async fn page(store: &Store, merchant: MerchantId, after: Position, most: u32) -> Result<Vec<Event>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select message_id, feed_epoch, transaction::text as "number!", sequence, kind, event, subject, body
        from message
        where merchant_id = $1 and kind <> 'endpoint_test' and not internal
            and (feed_epoch, transaction, message_id) > ($2, $3::text::xid8, $4)
            and (feed_epoch, transaction) < (select feed_epoch, transaction from feed_end())
        order by feed_epoch, transaction, message_id
        limit $5
        "#,
        merchant.0,
        after.epoch,
        after.transaction.to_string(),
        after.message,
        i64::from(most),
    )
    .fetch_all(&store.feed)
    .await?;
    rows.into_iter().map(Event::try_from).collect()
}

/// Where the feed ends at this moment: everything that is still to come stands after it.
pub async fn end(store: &Store) -> Result<Position, Failed> {
    let end =
        sqlx::query!(r#"select feed_epoch as "epoch!", transaction::text as "number!" from feed_end()"#).fetch_one(&store.feed).await?;
    Ok(Position { epoch: end.epoch, transaction: transaction(&end.number)?, message: Uuid::nil() })
}
