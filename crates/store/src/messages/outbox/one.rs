//! One message, with its delivery and its position.

use domain::id::{EndpointId, MerchantId};

use super::message::Message;
use crate::connection::Connection;
use crate::failed::Failed;

/// Writes a message, and its delivery if the merchant has an endpoint for its kind; without one, a merchant's message is unsent. If it
/// is `numbered`, it takes the next position of the feed. Returns that endpoint.
pub(super) async fn insert(
    connection: &mut Connection,
    merchant: MerchantId,
    message: &Message,
    numbered: bool,
    trace: Option<&[u8]>,
) -> Result<Option<EndpointId>, Failed> {
    let row = sqlx::query!(
        r#"
        with taken as (
            update feed_counter
            set last = last + case when live then 1 else 0 end, last_message = case when live then $2 else last_message end
            where merchant_id = $1 and $10
            returning case when live then last end as position
        ), written as (
            insert into message (
                merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, internal, position, trace
            )
            select $1, $2, pg_current_xact_id(), feed_epoch(), $3, $4, $5, $6, $7, $9, taken.position, $11
            from (select 1 as one) as new
            left join taken on true
        ), owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, $2, endpoint_id, $3, $8, 0, 0, false, $6
            from endpoint
            where merchant_id = $1 and interface = $4 and removed_at is null
            returning endpoint_id
        ), unsent as (
            insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
            select $1, $2, $3, $4, $6
            where not $9 and not exists (select from owed)
        )
        select (select endpoint_id from owed) as endpoint_id,
            -- From here on nobody else gets a number, so this process must not stop for long.
            case when $10 then set_config('idle_in_transaction_session_timeout', '2s', true) end as held_for
        "#,
        merchant.0,
        message.id,
        message.sequence,
        message.kind.as_str(),
        message.event,
        message.subject,
        message.body,
        message.due_at,
        message.kind.is_internal(),
        numbered,
        trace,
    )
    .fetch_one(connection)
    .await?;
    Ok(row.endpoint_id.map(EndpointId))
}
