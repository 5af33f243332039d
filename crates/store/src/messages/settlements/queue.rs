//! Failure queue changes that belong to settling: messages that are given up are added, finished ones removed.

use uuid::Uuid;

use crate::Failed;
use crate::connection::Connection;
use crate::crash::{self, Point};
use crate::messages::notices;
use crate::messages::settlement::{Attempt, Disposition, Settlement};

/// Resolves the entries of messages that a manual retry has delivered. Costs nothing for other messages.
pub(super) async fn resolve(connection: &mut Connection, attempts: &[&Attempt]) -> Result<(), Failed> {
    let arrived = attempts.iter().filter(|attempt| attempt.by_hand && attempt.arrived());
    let ended = arrived.map(|attempt| (attempt.merchant.0, attempt.message)).collect();
    end(connection, ended, "resolved").await
}

/// Discards the entries of manually retried messages that have been withdrawn.
pub(super) async fn withdraw(connection: &mut Connection, settlements: &[&Settlement]) -> Result<(), Failed> {
    let withdrawn = settlements.iter().filter(|settlement| matches!(settlement.disposition, Disposition::Withdrawn));
    let ended = withdrawn.map(|settlement| (settlement.merchant.0, settlement.message)).collect();
    end(connection, ended, "discarded").await
}

/// Moves entries into their final state. Messages that are not in the queue are skipped, and those that were resolved before stay so.
async fn end(connection: &mut Connection, ended: Vec<(Uuid, Uuid)>, state: &str) -> Result<(), Failed> {
    if ended.is_empty() {
        return Ok(());
    }
    let (merchants, messages): (Vec<Uuid>, Vec<Uuid>) = ended.into_iter().unzip();
    let rows = sqlx::query!(
        r#"
        update failure
        set state = $3
        from unnest($1::uuid[], $2::uuid[]) as ended (merchant_id, message_id)
        where failure.merchant_id = ended.merchant_id and failure.message_id = ended.message_id and failure.state <> 'resolved'
        returning failure.merchant_id, failure.endpoint_id
        "#,
        &merchants,
        &messages,
        state,
    )
    .fetch_all(&mut *connection)
    .await?;
    let (merchants, endpoints): (Vec<Uuid>, Vec<Uuid>) = rows.into_iter().map(|row| (row.merchant_id, row.endpoint_id)).unzip();
    notices::note_emptied(connection, &merchants, &endpoints).await
}

/// Adds messages that are given up to the failure queue, with a copy of their bodies.
pub(super) async fn keep(connection: &mut Connection, settlements: &[&Settlement]) -> Result<(), Failed> {
    let (mut merchants, mut messages) = (Vec::new(), Vec::new());
    let (mut times, mut counts, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for settlement in settlements {
        if let Disposition::Failed { attempts, reason, failed_at } = &settlement.disposition {
            merchants.push(settlement.merchant.0);
            messages.push(settlement.message);
            times.push(*failed_at);
            counts.push(*attempts);
            reasons.push(reason.as_str());
        }
    }
    if messages.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        r#"
        insert into failure (
            merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body, erased
        )
        select
            given_up.merchant_id, given_up.message_id, delivery.endpoint_id, delivery.sequence, given_up.failed_at, given_up.attempts,
            coalesce(text.kind, endpoint.interface), coalesce(text.event, 'unknown'), coalesce(text.subject, delivery.lane),
            given_up.reason, 'open', coalesce(text.body, '{}'), coalesce(text.erased, true)
        from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::smallint[], $5::text[])
            as given_up (merchant_id, message_id, failed_at, attempts, reason)
        join delivery on delivery.merchant_id = given_up.merchant_id and delivery.message_id = given_up.message_id
        join endpoint on endpoint.merchant_id = delivery.merchant_id and endpoint.endpoint_id = delivery.endpoint_id
        -- The day of a message that was tried again by hand may be dropped by now: then the failure queue has its text. If the text
        -- is gone altogether, people still learn that something was owed.
        left join lateral (
            select kept.kind, kept.event, kept.subject, kept.body, kept.erased
            from (
                select message.kind, message.event, message.subject, message.body, message.erased
                from message
                where message.merchant_id = given_up.merchant_id and message.message_id = given_up.message_id
                union all
                select failure.kind, failure.event, failure.subject, failure.body, failure.erased
                from failure
                where failure.merchant_id = given_up.merchant_id and failure.message_id = given_up.message_id
                    and delivery.lane = delivery.message_id::text
            ) as kept
            limit 1
        ) as text on true
        on conflict (merchant_id, message_id) do update
        set endpoint_id = excluded.endpoint_id, failed_at = excluded.failed_at, attempts = excluded.attempts, reason = excluded.reason,
            state = 'open', ended_at = null
        "#,
        &merchants,
        &messages,
        &times,
        &counts,
        &reasons as &[&str],
    )
    .execute(connection)
    .await?;
    crash::point(Point::SettleFailuresKept);
    Ok(())
}
