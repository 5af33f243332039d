//! The feed: a merchant's messages, each exactly once, read from a position onwards.
//!
//! Ids and times cannot order it: a transaction that started early may commit late, and a reader that had passed its
//! position would never see its messages. So the feed is ordered by transaction number. The database knows the oldest
//! transaction that is still running. Nothing can be added before it, and nothing after it is read. `pg_snapshot_xmin` says where
//! that is, by the very snapshot by which messages are read. The two statements of this module are the only ones with that rule.

use domain::id::MerchantId;
use domain::messages::feed::Position;
use domain::messages::message::Kind;
use uuid::Uuid;

use crate::{Failed, Store};

/// A message and its position in the feed.
pub struct Event {
    pub at: Position,
    pub kind: Kind,
    /// For example `rma.created`.
    pub event: String,
    /// Messages with the same subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
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
            kind: row.kind.parse().map_err(|_| Failed::Internal("a stored message kind is unknown"))?,
            event: row.event,
            subject: row.subject,
            sequence: row.sequence,
            body: row.body,
        })
    }
}

fn transaction(number: &str) -> Result<u64, Failed> {
    number.parse().map_err(|_| Failed::Internal("a stored transaction number is invalid"))
}

/// Up to `most` messages of `merchant` after `after`, without test messages and internal work.
pub async fn page(store: &Store, merchant: MerchantId, after: Position, most: u32) -> Result<Vec<Event>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select message_id, feed_epoch, transaction::text as "number!", sequence, kind, event, subject, body
        from message
        where merchant_id = $1 and kind <> 'endpoint_test' and not internal
            and (feed_epoch, transaction, message_id) > ($2, $3::text::xid8, $4)
            and (feed_epoch, transaction) < (
                select installation.feed_epoch, pg_snapshot_xmin(pg_current_snapshot()) from installation
            )
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

/// The current end of the feed. Everything that is yet to come is positioned after it.
pub async fn end(store: &Store) -> Result<Position, Failed> {
    let end =
        sqlx::query!(r#"select feed_epoch as "epoch!", pg_snapshot_xmin(pg_current_snapshot())::text as "number!" from installation"#);
    let end = end.fetch_one(&store.feed).await?;
    Ok(Position { epoch: end.epoch, transaction: transaction(&end.number)?, message: Uuid::nil() })
}
