//! A single message to a merchant's system, with its delivery state.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// The delivery state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Still to be delivered.
    Owed,
    /// In the failure queue.
    Failed,
    /// Taken out of the failure queue, or cancelled, without being delivered.
    Discarded,
    /// The merchant had no endpoint for such messages when it was written.
    Unsent,
    Delivered,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Owed, Self::Failed, Self::Discarded, Self::Unsent, Self::Delivered];

    /// The state's name in the API and the CLI.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Failed => "failed",
            Self::Discarded => "discarded",
            Self::Unsent => "unsent",
            Self::Delivered => "delivered",
        }
    }
}

/// The time a message was written, which is part of its id.
#[must_use]
pub fn written_at(id: Uuid) -> DateTime<Utc> {
    let millis = i64::try_from(id.as_u128() >> 80).unwrap_or(i64::MAX);
    DateTime::from_timestamp_millis(millis).unwrap_or_default()
}

/// The smallest id that a message written at `time` can have.
pub(crate) fn first_id(time: DateTime<Utc>) -> Uuid {
    Uuid::from_u128(u128::from(time.timestamp_millis().unsigned_abs()) << 80)
}

/// A message with its delivery state, without its attempts.
#[derive(Clone)]
pub struct MessageDetail {
    pub id: Uuid,
    /// The message kind as stored.
    pub kind: String,
    pub event: String,
    /// Messages with the same subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
    /// The exact bytes that are sent.
    pub body: String,
    /// True if the content has been erased.
    pub erased: bool,
    /// `None` if nothing is left to deliver.
    pub owed: Option<Owed>,
    pub failure: Option<Failure>,
    /// True if there was an attempt.
    pub attempted: bool,
    /// True if an attempt succeeded.
    pub accepted: bool,
}

/// The outstanding delivery of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    /// Counted attempts in all rounds.
    pub attempts: i16,
    /// The time of the next attempt. `None` while another message goes first.
    pub due_at: Option<DateTime<Utc>>,
    /// The message that goes first.
    pub behind: Option<Uuid>,
}

/// An entry of the failure queue.
#[derive(Clone, Debug)]
pub struct Failure {
    pub reason: String,
    /// open, contacted, resolved or discarded.
    pub state: String,
    /// The time it was last given up.
    pub failed_at: DateTime<Utc>,
}

impl MessageDetail {
    /// The delivery state.
    #[must_use]
    pub fn state(&self) -> State {
        let failure = self.failure.as_ref().map(|failure| failure.state.as_str());
        match (self.owed, failure) {
            (Some(_), _) => State::Owed,
            (None, Some("open" | "contacted")) => State::Failed,
            (None, Some("discarded")) => State::Discarded,
            (None, Some("resolved")) => State::Delivered,
            (None, _) if self.accepted => State::Delivered,
            (None, _) if self.attempted => State::Discarded,
            (None, _) => State::Unsent,
        }
    }
}

/// The message `message` of `merchant`, as it was written or as the failure queue keeps it.
pub async fn find(store: &Store, merchant: MerchantId, message: Uuid) -> Result<Option<MessageDetail>, Failed> {
    let mut connection = store.pool.single().await?;
    read(&mut connection, merchant, message).await
}

/// [`find`] within a transaction.
pub async fn find_within(tx: &mut Tx, message: Uuid) -> Result<Option<MessageDetail>, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant, message).await
}

async fn read(connection: &mut Connection, merchant: MerchantId, message: Uuid) -> Result<Option<MessageDetail>, Failed> {
    let row = sqlx::query!(
        r#"
        select
            text.kind as "kind!", text.event as "event!", text.subject as "subject!", text.sequence as "sequence!", text.body as "body!",
            text.erased as "erased!",
            delivery.attempts as "attempts?", delivery.attempts_before as "attempts_before?",
            case when delivery.due_at < 'infinity' then delivery.due_at end as due_at,
            case when delivery.due_at = 'infinity' then (
                select head.message_id
                from delivery as head
                where head.merchant_id = $1 and head.endpoint_id = delivery.endpoint_id and head.lane = delivery.lane
                order by head.sequence
                limit 1
            ) end as behind,
            failure.reason as "reason?", failure.state as "state?", failure.failed_at as "failed_at?",
            tried.attempted as "attempted!", tried.accepted as "accepted!"
        from (
            select kept.*
            from (
                select message.kind, message.event, message.subject, message.sequence, message.body, message.erased
                from message
                where message.merchant_id = $1 and message.message_id = $2
                union all
                select failure.kind, failure.event, failure.subject, failure.sequence, failure.body, failure.erased
                from failure
                where failure.merchant_id = $1 and failure.message_id = $2
            ) as kept
            limit 1
        ) as text
        left join delivery on delivery.merchant_id = $1 and delivery.message_id = $2
        left join failure on failure.merchant_id = $1 and failure.message_id = $2
        cross join (
            select count(*) > 0 as attempted, coalesce(bool_or(attempt.status between 200 and 299), false) as accepted
            from attempt
            where attempt.merchant_id = $1 and attempt.message_id = $2
        ) as tried
        "#,
        merchant.0,
        message,
    )
    .fetch_optional(connection)
    .await?;
    let found = row.map(|row| {
        let failure = row.reason.zip(row.state).zip(row.failed_at);
        let attempts = row.attempts.zip(row.attempts_before);
        MessageDetail {
            id: message,
            kind: row.kind,
            event: row.event,
            subject: row.subject,
            sequence: row.sequence,
            body: row.body,
            erased: row.erased,
            owed: attempts.map(|(attempts, before)| Owed {
                attempts: attempts.saturating_add(before),
                due_at: row.due_at,
                behind: row.behind.filter(|behind| *behind != message),
            }),
            failure: failure.map(|((reason, state), failed_at)| Failure { reason, state, failed_at }),
            attempted: row.attempted,
            accepted: row.accepted,
        }
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_when_its_message_was_written() {
        let time: DateTime<Utc> = "2026-03-01T12:00:00.123Z".parse().expect("a time");
        assert_eq!(written_at(first_id(time)), time);
        assert_eq!(first_id(time).to_string(), "019ca945-0a7b-0000-0000-000000000000");
    }
}
