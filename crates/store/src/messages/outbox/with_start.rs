//! A new return and the message on it, in one statement.

use domain::id::{EndpointId, MerchantId};

use super::message::Message;
use crate::connection::Connection;
use crate::failed::Failed;
use crate::returns::rma_starts::{Start, write_start};

/// Writes a return and its message with its position, and the delivery if the merchant has an endpoint for its kind; without one, the
/// message is unsent. Returns that endpoint.
pub(super) async fn insert(
    connection: &mut Connection,
    merchant: MerchantId,
    start: &Start,
    message: &Message,
    trace: Option<&[u8]>,
) -> Result<Option<EndpointId>, Failed> {
    let row = write_start!(
        query,
        ", claimed as (",
        "), taken as (
            update feed_counter
            set last = last + case when live then 1 else 0 end, last_message = case when live then $34 else last_message end
            where merchant_id = $1
            returning case when live then last end as position
        ), written as (
            insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, position, trace)
            select $1, $34, pg_current_xact_id(), feed_epoch(), $35, $36, $37, $38, $39, taken.position, $41
            from (select 1 as one) as new
            left join taken on true
        ), owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, $34, endpoint_id, $35, $40, 0, 0, false, $38
            from endpoint
            where merchant_id = $1 and interface = $36 and removed_at is null
            returning endpoint_id
        ), unsent as (
            insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
            select $1, $34, $35, $36, $38
            where not exists (select from owed)
        )
        select (select endpoint_id from owed) as endpoint_id,
            -- From here on nobody else gets a number, so this process must not stop for long.
            set_config('idle_in_transaction_session_timeout', '2s', true) as held_for",
        merchant,
        start,
        message.id,
        message.sequence,
        message.kind.as_str(),
        message.event,
        message.subject,
        message.body,
        message.due_at,
        trace,
    )
    .fetch_one(connection)
    .await?;
    Ok(row.endpoint_id.map(EndpointId))
}
