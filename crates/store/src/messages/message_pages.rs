//! Lists of messages to merchants' systems: newest first, a page at a time.
//!
//! Whatever the filter, a page touches at most a few hundred database pages: it examines a fixed number of messages and
//! returns where to continue. So a page can be short, or even empty, although there are more messages.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::Kind;
use uuid::Uuid;

use crate::messages::log::{State, first_id, written_at};
use crate::{Failed, Store};

/// The maximum page size.
pub const MOST_LISTED: usize = 100;

/// The number of messages that a page examines, by access path. The paths differ in cost: a subject is searched for in every
/// daily partition, an owed message is found through its delivery, and a failed one is checked for being owed again.
const LOOKED_AT: i64 = 150;
const LOOKED_AT_OF_SUBJECT: i64 = 50;
const LOOKED_AT_OWED: i64 = 75;
const LOOKED_AT_FAILED: i64 = 75;

/// The filter of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Exact match. Test messages and internal work have no subject here.
    pub subject: Option<String>,
    /// The message kind as stored. Test messages and internal work are listed only if this asks for them.
    pub kind: Option<String>,
    pub event: Option<String>,
    pub state: Option<State>,
    /// Written at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Written before this time.
    pub to: Option<DateTime<Utc>>,
}

/// A message in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    /// The message kind as stored.
    pub kind: String,
    pub event: String,
    /// Messages with the same subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
    pub state: State,
}

impl Listed {
    /// The time it was written, taken from its id.
    #[must_use]
    pub fn written_at(&self) -> DateTime<Utc> {
        written_at(self.id)
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub messages: Vec<Listed>,
    /// Continue before this message. `None` on the last page.
    pub next: Option<Uuid>,
}

struct Row {
    message_id: Uuid,
    kind: String,
    event: String,
    subject: String,
    sequence: i64,
}

/// The access path that serves a filter.
enum AccessPath<'a> {
    All,
    Subject(&'a str),
    Owed,
    Failed,
}

/// The messages of `merchant` before the message `before`, at most `limit` of them.
pub async fn list(store: &Store, merchant: MerchantId, filter: &Filter, before: Option<Uuid>, limit: usize) -> Result<Page, Failed> {
    let limit = limit.min(MOST_LISTED);
    let until = filter.to.map_or(Uuid::max(), first_id);
    let before = before.map_or(until, |before| before.min(until));
    let from = filter.from.map_or(Uuid::nil(), first_id);
    let (path, most) = match (&filter.subject, filter.state) {
        (Some(subject), _) => (AccessPath::Subject(subject), LOOKED_AT_OF_SUBJECT),
        (None, Some(State::Owed)) => (AccessPath::Owed, LOOKED_AT_OWED),
        (None, Some(State::Failed)) => (AccessPath::Failed, LOOKED_AT_FAILED),
        (None, Some(State::Discarded | State::Unsent | State::Delivered) | None) => (AccessPath::All, LOOKED_AT),
    };
    let rows = look_at(store, merchant, &path, from, before, most).await?;
    let all_looked_at = i64::try_from(rows.len()).unwrap_or(i64::MAX) < most;
    let states = States::read(store, merchant, &rows, &path).await?;
    let mut page = Page { messages: Vec::new(), next: None };
    let mut last = None;
    for row in rows {
        if page.messages.len() == limit {
            page.next = last;
            return Ok(page);
        }
        last = Some(row.message_id);
        let state = states.of(&row);
        let fits = filter.kind.as_deref().map_or(matches!(row.kind.parse(), Ok(Kind::Of(_))), |kind| kind == row.kind)
            && filter.event.as_ref().is_none_or(|event| *event == row.event)
            && filter.state.is_none_or(|wanted| wanted == state);
        if fits {
            let Row { message_id, kind, event, subject, sequence } = row;
            page.messages.push(Listed { id: message_id, kind, event, subject, sequence, state });
        }
    }
    page.next = last.filter(|_| !all_looked_at);
    Ok(page)
}

async fn look_at(
    store: &Store,
    merchant: MerchantId,
    path: &AccessPath<'_>,
    from: Uuid,
    before: Uuid,
    most: i64,
) -> Result<Vec<Row>, Failed> {
    let rows = match path {
        AccessPath::All => {
            sqlx::query_as!(
                Row,
                r#"
                select message_id, kind, event, subject, sequence
                from message
                where merchant_id = $1 and message_id >= $2 and message_id < $3
                order by message_id desc
                limit $4
                "#,
                merchant.0,
                from,
                before,
                most,
            )
            .fetch_all(&store.pool)
            .await?
        }
        AccessPath::Subject(subject) => {
            sqlx::query_as!(
                Row,
                r#"
                select message_id, kind, event, subject, sequence
                from message
                where merchant_id = $1 and subject = $2 and message_id >= $3 and message_id < $4 and kind <> 'endpoint_test'
                    and not internal
                order by message_id desc
                limit $5
                "#,
                merchant.0,
                *subject,
                from,
                before,
                most,
            )
            .fetch_all(&store.pool)
            .await?
        }
        // The partition of an owed message may have been dropped. In that case the failure queue still has the message.
        AccessPath::Owed => {
            sqlx::query_as!(
                Row,
                r#"
                select owed.message_id, text.kind as "kind!", text.event as "event!", text.subject as "subject!", owed.sequence
                from (
                    select delivery.merchant_id, delivery.message_id, delivery.sequence
                    from delivery
                    where delivery.merchant_id = $1 and delivery.message_id >= $2 and delivery.message_id < $3
                    order by delivery.message_id desc
                    limit $4
                ) as owed
                cross join lateral (
                    select kept.kind, kept.event, kept.subject
                    from (
                        select message.kind, message.event, message.subject
                        from message
                        where message.merchant_id = owed.merchant_id and message.message_id = owed.message_id
                        union all
                        select failure.kind, failure.event, failure.subject
                        from failure
                        where failure.merchant_id = owed.merchant_id and failure.message_id = owed.message_id
                    ) as kept
                    limit 1
                ) as text
                order by owed.message_id desc
                "#,
                merchant.0,
                from,
                before,
                most,
            )
            .fetch_all(&store.pool)
            .await?
        }
        AccessPath::Failed => {
            sqlx::query_as!(
                Row,
                r#"
                select message_id, kind, event, subject, sequence
                from failure
                where merchant_id = $1 and message_id >= $2 and message_id < $3 and state in ('open', 'contacted')
                order by message_id desc
                limit $4
                "#,
                merchant.0,
                from,
                before,
                most,
            )
            .fetch_all(&store.pool)
            .await?
        }
    };
    Ok(rows)
}

/// The delivery states of the messages on a page.
#[derive(Default)]
struct States {
    owed: Vec<Uuid>,
    failed: Vec<(Uuid, bool)>,
    unsent: Vec<Uuid>,
}

impl States {
    async fn read(store: &Store, merchant: MerchantId, rows: &[Row], path: &AccessPath<'_>) -> Result<Self, Failed> {
        let (Some(newest), Some(oldest)) = (rows.first(), rows.last()) else {
            return Ok(Self::default());
        };
        let (newest, oldest) = (newest.message_id, oldest.message_id);
        let (owed, failed) = match path {
            // Consecutive messages of the merchant: read everything between the first and the last at once.
            AccessPath::All => (
                owed_between(store, merchant, oldest, newest).await?,
                sqlx::query!(
                    r#"
                    select message_id, state in ('open', 'contacted') as "open!"
                    from failure
                    where merchant_id = $1 and message_id >= $2 and message_id <= $3 and state <> 'resolved'
                    order by message_id
                    "#,
                    merchant.0,
                    oldest,
                    newest,
                )
                .fetch_all(&store.pool)
                .await?
                .into_iter()
                .map(|row| (row.message_id, row.open))
                .collect(),
            ),
            AccessPath::Subject(_) => {
                let ids: Vec<Uuid> = rows.iter().map(|row| row.message_id).collect();
                let found = sqlx::query!(
                    r#"
                    select
                        wanted.message_id as "message_id!",
                        exists (
                            select from delivery where delivery.merchant_id = $1 and delivery.message_id = wanted.message_id
                        ) as "owed!",
                        (
                            select failure.state in ('open', 'contacted')
                            from failure
                            where failure.merchant_id = $1 and failure.message_id = wanted.message_id and failure.state <> 'resolved'
                        ) as open
                    from unnest($2::uuid[]) as wanted (message_id)
                    "#,
                    merchant.0,
                    &ids,
                )
                .fetch_all(&store.pool)
                .await?;
                let owed = found.iter().filter(|row| row.owed).map(|row| row.message_id).collect();
                (owed, found.into_iter().filter_map(|row| Some((row.message_id, row.open?))).collect())
            }
            AccessPath::Owed => (rows.iter().map(|row| row.message_id).collect(), Vec::new()),
            // A message that is being retried is owed, although it is in the failure queue as well. There are few of these
            // at a time.
            AccessPath::Failed => {
                let ids: Vec<Uuid> = rows.iter().map(|row| row.message_id).collect();
                let owed = sqlx::query_scalar!(
                    r#"
                    select wanted.message_id as "message_id!"
                    from unnest($2::uuid[]) as wanted (message_id)
                    where exists (select from delivery where delivery.merchant_id = $1 and delivery.message_id = wanted.message_id)
                    "#,
                    merchant.0,
                    &ids,
                )
                .fetch_all(&store.pool)
                .await?;
                (owed, ids.into_iter().map(|id| (id, true)).collect())
            }
        };
        let ids: Vec<Uuid> = rows.iter().map(|row| row.message_id).collect();
        let unsent =
            sqlx::query_scalar!("select message_id from unsent_message where merchant_id = $1 and message_id = any($2)", merchant.0, &ids,)
                .fetch_all(&store.pool)
                .await?;
        Ok(Self { owed, failed, unsent })
    }

    fn of(&self, row: &Row) -> State {
        if self.owed.contains(&row.message_id) {
            return State::Owed;
        }
        if let Some((_, open)) = self.failed.iter().find(|(id, _)| *id == row.message_id) {
            return if *open { State::Failed } else { State::Discarded };
        }
        if self.unsent.contains(&row.message_id) { State::Unsent } else { State::Delivered }
    }
}

async fn owed_between(store: &Store, merchant: MerchantId, oldest: Uuid, newest: Uuid) -> Result<Vec<Uuid>, Failed> {
    let owed = sqlx::query_scalar!(
        "select message_id from delivery where merchant_id = $1 and message_id >= $2 and message_id <= $3 order by message_id",
        merchant.0,
        oldest,
        newest,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(owed)
}
