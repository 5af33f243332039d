//! Settles deliveries on behalf of the owner of their endpoint's bucket.
//!
//! Only the owner changes and removes rows of `delivery`. A settling transaction locks the bucket's row `for share` and
//! checks its epoch and its owner first, so the writes of a former owner change nothing: taking a bucket over changes that row, and so
//! waits for every transaction that holds it.

mod counts;
mod queue;

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::connection::Connection;
use crate::crash::{self, Point};
pub use crate::messages::holds::Hold;
use crate::messages::holds::hold_for;
use crate::messages::replays;
pub use crate::messages::settlement::{Attempt, Disposition, Settlement, UNKNOWN};
use crate::{Failed, Store, Tx};

/// The result of settling a batch.
#[derive(Debug, Default)]
pub struct Settled {
    /// The holds that were still valid. Anything settled under another hold changed nothing.
    pub held: Vec<Hold>,
    /// The endpoints of lanes whose next message has become due.
    pub unparked: Vec<(MerchantId, EndpointId)>,
}

/// Settles, in one transaction, everything that is under a valid hold, unless its merchant lives in another cell. Each message may
/// appear once. Lanes continue at `now`.
pub async fn settle(store: &Store, settlements: &[&Settlement], attempts: &[&Attempt], now: DateTime<Utc>) -> Result<Settled, Failed> {
    let mut connection = store.engine.begin().await?;
    crash::point(Point::SettleBegun);
    let settled = settle_all(&mut connection, settlements, attempts, now).await?;
    crash::point(Point::SettleCommit);
    connection.commit().await?;
    crash::point(Point::SettleCommitted);
    Ok(settled)
}

/// Settles one message in its merchant's transaction, so that its consequences commit together with it. Changes nothing if
/// the hold is no longer valid.
pub async fn settle_within(tx: &mut Tx, settlement: &Settlement, attempts: &[Attempt], now: DateTime<Utc>) -> Result<Settled, Failed> {
    settle_all(tx.connection(), &[settlement], &attempts.iter().collect::<Vec<_>>(), now).await
}

/// Records a call that is about to be made. Returns false if the hold is no longer valid, or the merchant lives in another cell.
pub async fn announce(store: &Store, attempt: &Attempt) -> Result<bool, Failed> {
    let mut connection = store.engine.begin().await?;
    let (held, moved) = hold_for(&mut connection, &[attempt.hold], &[attempt.merchant.0]).await?;
    if held.is_empty() || !moved.is_empty() {
        return Ok(false);
    }
    append(&mut connection, &[attempt]).await?;
    connection.commit().await?;
    Ok(true)
}

async fn settle_all(
    connection: &mut Connection,
    settlements: &[&Settlement],
    attempts: &[&Attempt],
    now: DateTime<Utc>,
) -> Result<Settled, Failed> {
    let mut holds: Vec<Hold> =
        settlements.iter().map(|settlement| settlement.hold).chain(attempts.iter().map(|attempt| attempt.hold)).collect();
    holds.sort_unstable();
    holds.dedup();
    let of_attempts = attempts.iter().map(|attempt| attempt.merchant.0);
    let mut merchants: Vec<Uuid> = settlements.iter().map(|settlement| settlement.merchant.0).chain(of_attempts).collect();
    merchants.sort_unstable();
    merchants.dedup();
    let (held, moved) = hold_for(connection, &holds, &merchants).await?;
    crash::point(Point::SettleHeld);
    // What belongs to a merchant that has moved is delivered and settled by its new cell.
    let good = |hold: &Hold, merchant: MerchantId| held.binary_search(hold).is_ok() && !moved.contains(&merchant.0);
    let is_ours = |settlement: &&Settlement| good(&settlement.hold, settlement.merchant);
    let ours: Vec<&Settlement> = settlements.iter().copied().filter(is_ours).collect();
    let attempts: Vec<&Attempt> = attempts.iter().copied().filter(|attempt| good(&attempt.hold, attempt.merchant)).collect();
    // Retrying a message locks its failure queue entry before its delivery. Keep the same order here.
    queue::keep(connection, &ours).await?;
    queue::resolve(connection, &attempts).await?;
    queue::withdraw(connection, &ours).await?;
    let removed = remove(connection, &ours).await?;
    postpone(connection, &ours).await?;
    park(connection, &ours).await?;
    let unparked = unpark(connection, &removed, now).await?;
    record(connection, &attempts).await?;
    // A replayed message was counted when it first arrived.
    let first = removed.iter().filter(|removed| !replays::is_replay(&removed.lane));
    counts::add_delivered(connection, &attempts, &first.map(|removed| removed.message).collect()).await?;
    Ok(Settled { held, unparked })
}

/// A removed delivery, and the lane that may continue after it.
struct Removed {
    merchant: Uuid,
    message: Uuid,
    lane: String,
    /// The next message of the lane, if it is parked.
    next: Option<Uuid>,
}

/// Removes finished deliveries, and looks up what follows them in their lanes.
async fn remove(connection: &mut Connection, settlements: &[&Settlement]) -> Result<Vec<Removed>, Failed> {
    let over = settlements
        .iter()
        .filter(|settlement| matches!(settlement.disposition, Disposition::Finished | Disposition::Withdrawn | Disposition::Failed { .. }));
    let (merchants, messages): (Vec<Uuid>, Vec<Uuid>) = over.map(|settlement| (settlement.merchant.0, settlement.message)).unzip();
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    // What follows is read as of the start of the statement. If it is removed too, what follows it in turn is returned with it.
    let rows = sqlx::query!(
        r#"
        delete from delivery
        using unnest($1::uuid[], $2::uuid[]) as over (merchant_id, message_id)
        where delivery.merchant_id = over.merchant_id and delivery.message_id = over.message_id
        returning
            delivery.merchant_id, delivery.message_id, delivery.lane,
            (
                select next.message_id
                from (
                    select follower.message_id, follower.due_at
                    from delivery as follower
                    where follower.merchant_id = delivery.merchant_id and follower.endpoint_id = delivery.endpoint_id
                        and follower.lane = delivery.lane and follower.sequence > delivery.sequence
                    order by follower.sequence
                    limit 1
                ) as next
                where next.due_at = 'infinity'
            ) as "next?"
        "#,
        &merchants,
        &messages,
    )
    .fetch_all(connection)
    .await?;
    crash::point(Point::SettleRemoved);
    let removed =
        rows.into_iter().map(|row| Removed { merchant: row.merchant_id, message: row.message_id, lane: row.lane, next: row.next });
    Ok(removed.collect())
}

/// Continues the lanes of removed rows: the next message of each becomes due if it was parked.
async fn unpark(connection: &mut Connection, removed: &[Removed], now: DateTime<Utc>) -> Result<Vec<(MerchantId, EndpointId)>, Failed> {
    let next = removed.iter().filter_map(|removed| Some((removed.merchant, removed.next?)));
    let (merchants, messages): (Vec<Uuid>, Vec<Uuid>) = next.unzip();
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query!(
        r#"
        update delivery
        set due_at = $3
        from unnest($1::uuid[], $2::uuid[]) as next (merchant_id, message_id)
        where delivery.merchant_id = next.merchant_id and delivery.message_id = next.message_id
        returning delivery.merchant_id, delivery.endpoint_id
        "#,
        &merchants,
        &messages,
        now,
    )
    .fetch_all(connection)
    .await?;
    crash::point(Point::SettleUnparked);
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), EndpointId(row.endpoint_id))).collect())
}

async fn postpone(connection: &mut Connection, settlements: &[&Settlement]) -> Result<(), Failed> {
    let (mut merchants, mut messages, mut times, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for settlement in settlements {
        if let Disposition::Postponed { due_at, attempts } = settlement.disposition {
            merchants.push(settlement.merchant.0);
            messages.push(settlement.message);
            times.push(due_at);
            counts.push(attempts);
        }
    }
    if messages.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        r#"
        update delivery
        set due_at = later.due_at, attempts = later.attempts
        from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::smallint[]) as later (merchant_id, message_id, due_at, attempts)
        where delivery.merchant_id = later.merchant_id and delivery.message_id = later.message_id
        "#,
        &merchants,
        &messages,
        &times,
        &counts,
    )
    .execute(connection)
    .await?;
    crash::point(Point::SettlePostponed);
    Ok(())
}

/// Parks rows that are not the head of their lane. This is checked again here, because the head may have been removed since
/// they were read; nobody else can remove it while we hold the bucket.
async fn park(connection: &mut Connection, settlements: &[&Settlement]) -> Result<(), Failed> {
    let parked = settlements.iter().filter(|settlement| matches!(settlement.disposition, Disposition::Parked));
    let (merchants, messages): (Vec<Uuid>, Vec<Uuid>) = parked.map(|settlement| (settlement.merchant.0, settlement.message)).unzip();
    if messages.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        r#"
        update delivery
        set due_at = 'infinity'
        from unnest($1::uuid[], $2::uuid[]) as waiting (merchant_id, message_id)
        where delivery.merchant_id = waiting.merchant_id and delivery.message_id = waiting.message_id
            and delivery.sequence > (
                select head.sequence
                from delivery as head
                where head.merchant_id = delivery.merchant_id and head.endpoint_id = delivery.endpoint_id and head.lane = delivery.lane
                order by head.sequence
                limit 1
            )
        "#,
        &merchants,
        &messages,
    )
    .execute(connection)
    .await?;
    crash::point(Point::SettleParked);
    Ok(())
}

/// Inserts the attempts, or completes those that were announced, and returns the ids of those that changed. Writing the same
/// attempts again, after a commit whose confirmation was lost, changes nothing.
async fn append(connection: &mut Connection, attempts: &[&Attempt]) -> Result<Vec<Uuid>, Failed> {
    let written = sqlx::query_scalar!(
        r#"
        insert into attempt (
            merchant_id, attempt_id, message_id, endpoint_id, started_at, took_ms, number, status, outcome, reason, answer
        )
        select *
        from unnest(
            $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::integer[], $7::smallint[], $8::smallint[],
            $9::text[], $10::text[], $11::bytea[]
        )
        on conflict (merchant_id, attempt_id) do update
        set took_ms = excluded.took_ms, status = excluded.status, outcome = excluded.outcome, reason = excluded.reason,
            answer = excluded.answer
        where attempt.outcome = 'unknown'
        returning attempt_id
        "#,
        &attempts.iter().map(|attempt| attempt.merchant.0).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.id).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.message).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.endpoint.0).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.started_at).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.took_ms).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(),
        &attempts.iter().map(|attempt| attempt.status).collect::<Vec<_>>() as &[Option<i16>],
        &attempts.iter().map(|attempt| attempt.outcome.as_str()).collect::<Vec<_>>() as &[&str],
        &attempts.iter().map(|attempt| attempt.reason.as_deref()).collect::<Vec<_>>() as &[Option<&str>],
        &attempts.iter().map(|attempt| attempt.answer.as_deref()).collect::<Vec<_>>() as &[Option<&[u8]>],
    )
    .fetch_all(connection)
    .await?;
    Ok(written)
}

/// Records the attempts and adds them to the hourly counts, each once.
async fn record(connection: &mut Connection, attempts: &[&Attempt]) -> Result<(), Failed> {
    if attempts.is_empty() {
        return Ok(());
    }
    let written: HashSet<Uuid> = append(&mut *connection, attempts).await?.into_iter().collect();
    crash::point(Point::SettleAppended);
    counts::add_attempts(connection, attempts.iter().copied().filter(|attempt| written.contains(&attempt.id))).await
}
