//! Releases the messages of a replay job, a few at a time, on behalf of the owner of the endpoint's bucket.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::messages::buckets::bucket;
use crate::messages::holds::{Hold, hold};
use crate::messages::log::first_id;
use crate::messages::outbox::Signal;
use crate::messages::retry_jobs::{RateLimiter, Turn, capacity};
use crate::{Failed, Store, Tx};

/// The start of the lanes of replayed messages.
const LANE: &str = "replay ";

/// True for the lane of a replayed message.
pub(crate) fn is_replay(lane: &str) -> bool {
    lane.starts_with(LANE)
}

/// A running job, as the owner of its endpoint's bucket sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningReplay {
    pub merchant: MerchantId,
    pub job: Uuid,
    pub bucket: u8,
}

/// The running jobs for endpoints of `buckets`.
pub async fn running(store: &Store, buckets: &[u8]) -> Result<Vec<RunningReplay>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let rows = sqlx::query!(
        r#"
        -- Across merchants: few rows, by an index of their own.
        select replay_job.merchant_id, replay_job.job_id, endpoint.bucket
        from replay_job
        join endpoint on endpoint.merchant_id = replay_job.merchant_id and endpoint.endpoint_id = replay_job.endpoint_id
        where replay_job.ended_at is null and endpoint.bucket = any ($1::smallint[]) and endpoint.paused_at is null
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        "#,
        &buckets,
    )
    .fetch_all(&store.engine)
    .await?;
    let replay = |(merchant, job, number)| Ok(RunningReplay { merchant: MerchantId(merchant), job, bucket: bucket(number)? });
    rows.into_iter().map(|row| replay((row.merchant_id, row.job_id, row.bucket))).collect()
}

/// The most messages that a turn looks at, of whatever interface.
const LOOKED_AT: i64 = 100;

/// A message of the range, as a turn sees it.
struct Looked {
    message_id: Uuid,
    /// True for messages of the replayed interface.
    of_interface: bool,
    /// True if it was delivered and can be sent again.
    delivered: bool,
    /// Counted attempts so far.
    attempts: i16,
}

/// Releases the next messages of a job: no more than its rate allows by `now`, and no more than half of the endpoint's slots at a
/// time, so that live messages get through. The job's progress commits in the same transaction.
pub async fn release(tx: &mut Tx, by: Hold, job: Uuid, now: DateTime<Utc>) -> Result<Turn, Failed> {
    if hold(tx.connection(), &[by]).await?.is_empty() {
        return Ok(Turn::NotOurs);
    }
    let merchant = tx.merchant();
    let Some(row) = sqlx::query!(
        r#"
        select
            replay_job.endpoint_id, replay_job.replayed_from, replay_job.replayed_to, replay_job.cursor_message_id, replay_job.paced_at,
            replay_job.per_second, endpoint.interface, endpoint.slots, endpoint.removed_at is not null as "removed!"
        from replay_job
        join endpoint on endpoint.merchant_id = replay_job.merchant_id and endpoint.endpoint_id = replay_job.endpoint_id
        where replay_job.merchant_id = $1 and replay_job.job_id = $2 and replay_job.ended_at is null
        for update of replay_job
        "#,
        merchant.0,
        job,
    )
    .fetch_optional(tx.connection())
    .await?
    else {
        return Ok(Turn::NotOurs);
    };
    let limiter = RateLimiter::new(row.paced_at, row.per_second, now);
    if row.removed {
        record(tx, job, &Progress::default(), limiter.after(0), Some(now)).await?;
        return Ok(Turn::Ended(None));
    }
    let most = limiter.allowed.min(capacity(tx, row.endpoint_id, i64::from(row.slots / 2).max(1), now).await?);
    if most <= 0 {
        return Ok(Turn::Released(None));
    }
    let (from, to) = (first_id(row.replayed_from), first_id(row.replayed_to));
    let looked = look_at(tx, &row.interface, row.cursor_message_id, from, to).await?;
    let all_looked_at = i64::try_from(looked.len()).unwrap_or(i64::MAX) < LOOKED_AT;
    let (mut progress, chosen, complete) = choose(&looked, most);
    let count = insert(tx, row.endpoint_id, &chosen, now).await?;
    // A message that was erased since it was looked at, or whose exchange was converted, is left out too.
    progress.left_out += i64::try_from(chosen.len()).unwrap_or(i64::MAX) - count;
    progress.released = count;
    let ended = complete && all_looked_at;
    record(tx, job, &progress, limiter.after(count), ended.then_some(now)).await?;
    let signal = (count > 0).then_some(Signal { merchant, endpoint: EndpointId(row.endpoint_id), bucket: by.bucket, due_at: now });
    Ok(if ended { Turn::Ended(signal) } else { Turn::Released(signal) })
}

/// The next messages of the range.
async fn look_at(tx: &mut Tx, interface: &str, after: Option<Uuid>, from: Uuid, to: Uuid) -> Result<Vec<Looked>, Failed> {
    let looked = sqlx::query_as!(
        Looked,
        r#"
        select
            looked.message_id as "message_id!", looked.kind = $6 as "of_interface!", tried.attempts as "attempts!",
            tried.accepted and not looked.erased
                and not exists (
                    select from delivery where delivery.merchant_id = $1 and delivery.message_id = looked.message_id
                )
                and not exists (
                    select from failure
                    where failure.merchant_id = $1 and failure.message_id = looked.message_id and failure.state <> 'resolved'
                ) as "delivered!"
        from (
            select message.message_id, message.kind, message.erased
            from message
            where message.merchant_id = $1 and message.message_id >= $2 and message.message_id < $3
                and ($4::uuid is null or message.message_id > $4)
            order by message.message_id
            limit $5
        ) as looked
        cross join lateral (
            select
                coalesce(max(attempt.number), 0::smallint) as attempts, coalesce(bool_or(attempt.status between 200 and 299), false) as accepted
            from attempt
            where attempt.merchant_id = $1 and attempt.message_id = looked.message_id and looked.kind = $6
        ) as tried
        order by looked.message_id
        "#,
        tx.merchant().0,
        from,
        to,
        after,
        LOOKED_AT,
        interface,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(looked)
}

/// How far a turn gets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Progress {
    cursor: Option<Uuid>,
    released: i64,
    left_out: i64,
}

/// Chooses the first `most` messages to send again, and says how far that gets and whether it goes through all that was looked at.
fn choose(looked: &[Looked], most: i64) -> (Progress, Vec<(Uuid, i16)>, bool) {
    let (mut progress, mut chosen) = (Progress::default(), Vec::new());
    for message in looked {
        if message.of_interface && message.delivered {
            if i64::try_from(chosen.len()).unwrap_or(i64::MAX) >= most {
                return (progress, chosen, false);
            }
            chosen.push((message.message_id, message.attempts));
        } else if message.of_interface {
            progress.left_out += 1;
        }
        progress.cursor = Some(message.message_id);
    }
    (progress, chosen, true)
}

/// Owes messages once more, each behind the earlier ones of its subject. Returns how many.
async fn insert(tx: &mut Tx, endpoint: Uuid, messages: &[(Uuid, i16)], now: DateTime<Utc>) -> Result<i64, Failed> {
    if messages.is_empty() {
        return Ok(0);
    }
    let (ids, attempts): (Vec<Uuid>, Vec<i16>) = messages.iter().copied().unzip();
    // A concurrent conversion either goes first or waits: the shopper must not get the exchange and the refund.
    let converted = sqlx::query!(
        "select message_id, state from exchange_order where merchant_id = $1 and message_id = any($2) order by message_id for share",
        tx.merchant().0,
        &ids,
    )
    .fetch_all(tx.connection())
    .await?;
    let converted: Vec<Uuid> = converted.into_iter().filter(|row| row.state == "converted").map(|row| row.message_id).collect();
    let owed = sqlx::query_scalar!(
        r#"
        with next as materialized (
            select message.message_id, message.sequence, message.subject
            from message
            where message.merchant_id = $1 and message.message_id = any($3) and message.message_id <> all($5) and not message.erased
            order by message.message_id
            -- Whoever erases one at the same time goes first, or waits.
            for share of message
        )
        insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
        select $1, next.message_id, $2, next.sequence, $6, 0, chosen.attempts, false, $7::text || next.subject
        from next
        join unnest($3::uuid[], $4::smallint[]) as chosen (message_id, attempts) on chosen.message_id = next.message_id
        order by next.message_id
        on conflict (merchant_id, message_id) do nothing
        returning message_id
        "#,
        tx.merchant().0,
        endpoint,
        &ids,
        &attempts,
        &converted,
        now,
        LANE,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(i64::try_from(owed.len()).unwrap_or(i64::MAX))
}

/// Records the progress of a job.
async fn record(
    tx: &mut Tx,
    job: Uuid,
    progress: &Progress,
    paced_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update replay_job
        set cursor_message_id = coalesce($3, cursor_message_id), released = released + $4, left_out = left_out + $5, paced_at = $6,
            ended_at = $7
        where merchant_id = $1 and job_id = $2
        "#,
        tx.merchant().0,
        job,
        progress.cursor,
        progress.released,
        progress.left_out,
        paced_at,
        ended_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(id: u128, of_interface: bool, delivered: bool) -> Looked {
        Looked { message_id: Uuid::from_u128(id), of_interface, delivered, attempts: 1 }
    }

    #[test]
    fn a_turn_stops_before_the_first_message_that_it_may_not_send() {
        let messages =
            [looked(1, true, true), looked(2, true, false), looked(3, false, false), looked(4, true, true), looked(5, true, true)];
        let (progress, chosen, complete) = choose(&messages, 2);
        assert_eq!(chosen, [(Uuid::from_u128(1), 1), (Uuid::from_u128(4), 1)]);
        assert_eq!(progress, Progress { cursor: Some(Uuid::from_u128(4)), released: 0, left_out: 1 });
        assert!(!complete);
        assert!(choose(&messages, 3).2);
    }
}
