//! A change of a return and the message on it, in one statement. The counter of the feed is taken last.

use domain::id::MerchantId;

use super::addressee::Addressee;
use super::message::Message;
use crate::connection::Connection;
use crate::failed::Failed;
use crate::returns::rma_changes::{Change, write_change};

/// Writes a change and its message with its position, and the delivery if the merchant has an endpoint for its kind; without one, the
/// message is unsent. Returns whom it is addressed to.
pub(super) async fn insert(
    connection: &mut Connection,
    merchant: MerchantId,
    change: &Change,
    message: &Message,
    trace: Option<&[u8]>,
) -> Result<Option<Addressee>, Failed> {
    let row = write_change!(
        query,
        "taken as (
            update feed_counter
            set last = last + case when live then 1 else 0 end, last_message = case when live then $32 else last_message end
            where merchant_id = $1
            returning case when live then last end as position
        ), written as (
            insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, position, trace)
            select $1, $32, pg_current_xact_id(), feed_epoch(), $33, $34, $35, $36, $37, taken.position, $39
            from (select 1 as one) as new
            left join taken on true
        ), ",
        ", changed as (",
        r#"), peer as (
            select endpoint_id, revision, paused_at
            from endpoint
            where merchant_id = $1 and interface = $34 and removed_at is null
        ), owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, $32, endpoint_id, $33, $38, 0, 0, false, $36
            from peer
        ), unsent as (
            insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
            select $1, $32, $33, $34, $36
            where not exists (select from peer)
        )
        select peer.endpoint_id as "endpoint_id?", peer.revision as "revision?",
            -- Nobody can write an earlier message of the subject beside this one, because its lock is held.
            peer.paused_at is null and not exists (select 1 as found from moved_merchant where merchant_id = $1) and not exists (
                select 1 as found
                from delivery as before
                where before.merchant_id = $1 and before.endpoint_id = peer.endpoint_id and before.lane = $36
                    and before.sequence < $33
            ) as "is_next!",
            -- From here on nobody else gets a number, so this process must not stop for long.
            set_config('idle_in_transaction_session_timeout', '2s', true) as held_for
        from (select 1 as one) as written_once
        left join peer on true"#,
        merchant,
        change,
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
    Ok(Addressee::read(row.endpoint_id, row.revision, row.is_next))
}
