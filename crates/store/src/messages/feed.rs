//! The feed: a merchant's messages, each exactly once, read from a position onwards.
//!
//! Positions are numbered without a gap, in the order in which messages were committed (`messages::positions`). So whatever a reader
//! sees of them is complete, and nothing appears at or before a position that was read.

use domain::id::MerchantId;
use domain::messages::feed::{Cursor, Extent, FormerPosition, Position, Refused, translate};
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

/// A part of the feed.
pub struct Page {
    /// The place after which the events begin. It is a position as soon as the cursor can be translated into one.
    pub after: Cursor,
    pub events: Vec<Event>,
}

/// The answer to a reader.
pub enum Reading {
    Page(Page),
    Refused(Refused),
}

struct Row {
    message_id: Uuid,
    position: i64,
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
            at: Position { number: row.position, message: row.message_id },
            kind: row.kind.parse().map_err(|_| Failed::Internal("a stored message kind is unknown"))?,
            event: row.event,
            subject: row.subject,
            sequence: row.sequence,
            body: row.body,
        })
    }
}

/// Up to `most` messages of `merchant` after `after`, without test messages and internal work.
pub async fn page(store: &Store, merchant: MerchantId, after: Cursor, most: u32) -> Result<Reading, Failed> {
    let at = match after {
        Cursor::At(position) => position,
        Cursor::Former(former) => match find(store, merchant, former).await? {
            Ok(Some(position)) => position,
            // What follows is not numbered yet. Until then there is nothing to read.
            Ok(None) => return Ok(Reading::Page(Page { after, events: Vec::new() })),
            Err(refused) => return Ok(Reading::Refused(refused)),
        },
    };
    let mut rows = rows(store, merchant, at.number, most).await?.into_iter().peekable();
    let here = rows.next_if(|row| row.position == at.number);
    let rows: Vec<Row> = rows.collect();
    let is_whole = (at.number + 1..).zip(&rows).all(|(number, row)| row.position == number);
    let is_known = match &here {
        Some(row) => row.message_id == at.message,
        None => at == Position::START && !rows.is_empty(),
    };
    if !(is_known && is_whole) {
        // Nothing, or something else, stands where the reader was.
        if let Some(refused) = extent(store, merchant).await?.refuses(at) {
            return Ok(Reading::Refused(refused));
        }
        if !is_whole {
            return Err(Failed::Internal("a position of the feed is missing"));
        }
    }
    let events = rows.into_iter().map(Event::try_from).collect::<Result<_, _>>()?;
    Ok(Reading::Page(Page { after: Cursor::At(at), events }))
}

/// The message at `number`, for its id alone, and up to `most` messages after it.
async fn rows(store: &Store, merchant: MerchantId, number: i64, most: u32) -> Result<Vec<Row>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select message_id, position as "position!", sequence, kind, event, subject,
            case when position > $2 then body else '' end as "body!"
        from message
        where merchant_id = $1 and position >= $2
        order by position
        limit $3
        "#,
        merchant.0,
        number,
        i64::from(most) + 1,
    );
    Ok(rows.fetch_all(&store.feed).await?)
}

/// The position before the oldest message that is kept.
pub async fn beginning(store: &Store, merchant: MerchantId) -> Result<Position, Failed> {
    Ok(extent(store, merchant).await?.floor)
}

/// The current end of the feed. Everything that is yet to come is positioned after it.
pub async fn end(store: &Store, merchant: MerchantId) -> Result<Cursor, Failed> {
    match counter(store, merchant).await? {
        Some(counter) if counter.live => Ok(Cursor::At(counter.extent().last)),
        // Messages that are there already have yet to be numbered, so the end is named as the version before did.
        Some(_) | None => former_end(store).await,
    }
}

/// How far a feed is numbered.
struct Counter {
    last: i64,
    last_message: Option<Uuid>,
    floor: i64,
    floor_message: Option<Uuid>,
    live: bool,
    numbered_before: Option<i64>,
}

impl Counter {
    fn extent(&self) -> Extent {
        let position = |number, message: Option<Uuid>| Position { number, message: message.unwrap_or_default() };
        Extent { floor: position(self.floor, self.floor_message), last: position(self.last, self.last_message) }
    }
}

/// `None` for a merchant of the version before, until its messages are numbered.
async fn counter(store: &Store, merchant: MerchantId) -> Result<Option<Counter>, Failed> {
    let counter = sqlx::query_as!(
        Counter,
        "select last, last_message, floor, floor_message, live, numbered_before from feed_counter where merchant_id = $1",
        merchant.0,
    );
    Ok(counter.fetch_optional(&store.feed).await?)
}

async fn extent(store: &Store, merchant: MerchantId) -> Result<Extent, Failed> {
    Ok(counter(store, merchant).await?.map_or(Extent::EMPTY, |counter| counter.extent()))
}

/// The position of the last message at or before a place that the version before has named.
async fn find(store: &Store, merchant: MerchantId, place: FormerPosition) -> Result<Result<Option<Position>, Refused>, Failed> {
    let found = sqlx::query!(
        r#"
        select message_id, position
        from message
        where merchant_id = $1 and kind <> 'endpoint_test' and not internal
            and (feed_epoch, transaction, message_id) <= ($2, $3::text::xid8, $4)
        order by feed_epoch desc, transaction desc, message_id desc
        limit 1
        "#,
        merchant.0,
        place.epoch,
        place.transaction.to_string(),
        place.message,
    );
    let found = found.fetch_optional(&store.feed).await?.map(|row| (row.message_id, row.position));
    let Some(counter) = counter(store, merchant).await? else { return Ok(translate(found, false, 0, Position::START)) };
    Ok(translate(found, counter.live, counter.numbered_before.unwrap_or_default(), counter.extent().floor))
}

/// The end of the feed by the rule of the version before: nothing can be added any more before the oldest transaction that still runs.
async fn former_end(store: &Store) -> Result<Cursor, Failed> {
    let end =
        sqlx::query!(r#"select feed_epoch as "epoch!", pg_snapshot_xmin(pg_current_snapshot())::text as "number!" from installation"#);
    let end = end.fetch_one(&store.feed).await?;
    let transaction = end.number.parse().map_err(|_| Failed::Internal("a transaction number is invalid"))?;
    Ok(Cursor::Former(FormerPosition { epoch: end.epoch, transaction, message: Uuid::nil() }))
}
