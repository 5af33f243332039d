//! Several messages, with their deliveries and their positions.

use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use super::message::Message;
use crate::connection::Connection;
use crate::failed::Failed;

/// Writes messages, and deliveries for those whose kind has an endpoint; merchants' messages without one are unsent. If they are
/// `numbered`, those of the feed take its next positions, in the order in which they are owed. Returns those with endpoints.
pub(super) async fn insert(
    connection: &mut Connection,
    merchant: MerchantId,
    messages: &[Message],
    numbered: bool,
    trace: Option<&[u8]>,
) -> Result<Vec<(Uuid, EndpointId)>, Failed> {
    let mut count = 0;
    let places: Vec<Option<i64>> = messages
        .iter()
        .map(|message| {
            (numbered && message.is_in_feed()).then(|| {
                count += 1;
                count
            })
        })
        .collect();
    let last = messages.iter().rfind(|message| message.is_in_feed()).map(|message| message.id);
    let rows = sqlx::query!(
        r#"
        with owed as (
            select message_id, sequence, kind, event, subject, body, due_at, internal, place
            from unnest(
                $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::boolean[], $10::bigint[]
            ) as owed (message_id, sequence, kind, event, subject, body, due_at, internal, place)
        ), taken as (
            update feed_counter
            set last = last + case when live then $11::bigint else 0 end, last_message = case when live then $12 else last_message end
            where merchant_id = $1 and $11::bigint > 0
            returning case when live then last - $11::bigint end as before
        ), written as (
            insert into message (
                merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, internal, position, trace
            )
            select $1, owed.message_id, pg_current_xact_id(), feed_epoch(), owed.sequence, owed.kind, owed.event, owed.subject, owed.body,
                owed.internal, taken.before + owed.place, $13::bytea
            from owed
            left join taken on true
        ), addressed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, owed.message_id, endpoint.endpoint_id, owed.sequence, owed.due_at, 0, 0, false, owed.subject
            from owed
            join endpoint on endpoint.merchant_id = $1 and endpoint.interface = owed.kind and endpoint.removed_at is null
            returning message_id, endpoint_id
        ), unsent as (
            insert into unsent_message (merchant_id, message_id, sequence, kind, subject)
            select $1, owed.message_id, owed.sequence, owed.kind, owed.subject
            from owed
            where not owed.internal and not exists (select from addressed where addressed.message_id = owed.message_id)
        )
        select addressed.message_id as "message_id?", addressed.endpoint_id as "endpoint_id?", held.for_time
        from (
            -- From here on nobody else gets a number, so this process must not stop for long.
            select case when $11::bigint > 0 then set_config('idle_in_transaction_session_timeout', '2s', true) end as for_time
        ) as held
        left join addressed on true
        "#,
        merchant.0,
        &messages.iter().map(|message| message.id).collect::<Vec<_>>(),
        &messages.iter().map(|message| message.sequence).collect::<Vec<_>>(),
        &messages.iter().map(|message| message.kind.as_str()).collect::<Vec<_>>() as &[&str],
        &messages.iter().map(|message| message.event).collect::<Vec<_>>() as &[&str],
        &messages.iter().map(|message| message.subject.as_str()).collect::<Vec<_>>() as &[&str],
        &messages.iter().map(|message| message.body.as_str()).collect::<Vec<_>>() as &[&str],
        &messages.iter().map(|message| message.due_at).collect::<Vec<_>>(),
        &messages.iter().map(|message| message.kind.is_internal()).collect::<Vec<_>>(),
        &places as &[Option<i64>],
        count,
        last,
        trace,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().filter_map(|row| Some((row.message_id?, EndpointId(row.endpoint_id?)))).collect())
}
