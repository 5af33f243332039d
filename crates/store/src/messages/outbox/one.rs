//! One message, with its delivery and its position.

use domain::id::MerchantId;

use super::addressee::Addressee;
use super::message::Message;
use crate::connection::Connection;
use crate::failed::Failed;

/// Writes a message, and its delivery if the merchant has an endpoint for its kind; without one, a merchant's message is unsent. If it
/// is `numbered`, it takes the next position of the feed. Returns whom it is addressed to.
pub(super) async fn insert(
    connection: &mut Connection,
    merchant: MerchantId,
    message: &Message,
    numbered: bool,
    trace: Option<&[u8]>,
) -> Result<Option<Addressee>, Failed> {
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
        ), peer as (
            select endpoint_id, revision, paused_at
            from endpoint
            where merchant_id = $1 and interface = $4 and removed_at is null
        ), owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, $2, endpoint_id, $3, $8, 0, 0, false, $6
            from peer
        ), unsent as (
            insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
            select $1, $2, $3, $4, $6
            where not $9 and not exists (select from peer)
        )
        select peer.endpoint_id as "endpoint_id?", peer.revision as "revision?",
            -- Nobody can write an earlier message of the subject beside this one, because its lock is held.
            peer.paused_at is null and not exists (select 1 as found from moved_merchant where merchant_id = $1) and not exists (
                select 1 as found
                from delivery as before
                where before.merchant_id = $1 and before.endpoint_id = peer.endpoint_id and before.lane = $6
                    and before.sequence < $3
            ) as "is_next!",
            -- From here on nobody else gets a number, so this process must not stop for long.
            case when $10 then set_config('idle_in_transaction_session_timeout', '2s', true) end as held_for
        from (select 1 as one) as written_once
        left join peer on true
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
    Ok(Addressee::read(row.endpoint_id, row.revision, row.is_next))
}
