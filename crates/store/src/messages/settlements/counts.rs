//! The hourly counts of what is settled. They are added up here, so each row is written once for a batch, and the statements are simple
//! to plan. The rows are written in the order of their keys: whoever settles a lane apart may count in the same rows.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use domain::messages::promptness::within;
use uuid::Uuid;

use crate::Failed;
use crate::connection::Connection;
use crate::crash::{self, Point};
use crate::messages::settlement::Attempt;

/// The bytes of a reason that are kept beside the hourly counts.
const LONGEST_REASON: usize = 300;

/// The attempts that are counted in one row of `attempt_hourly`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Calls<'a> {
    count: i64,
    /// The newest of them: when it began, and why there was no answer.
    last_at: DateTime<Utc>,
    last_reason: Option<&'a str>,
}

/// The key of a row of `attempt_hourly`: merchant, endpoint, hour, kind, outcome, number.
type CallsKey<'a> = (Uuid, Uuid, DateTime<Utc>, &'static str, &'a str, i16);

/// The key of a row of `delivered_hourly`: merchant, hour, endpoint, kind, number of the attempt, time to deliver.
type DeliveredKey = (Uuid, DateTime<Utc>, Uuid, &'static str, i16, i64);

/// Adds attempts to the hourly counts, except those that the reports do not count.
pub(super) async fn add_attempts<'a>(connection: &mut Connection, attempts: impl Iterator<Item = &'a Attempt>) -> Result<(), Failed> {
    let calls = add_up(attempts);
    if calls.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        r#"
        insert into attempt_hourly as hourly (merchant_id, endpoint_id, hour, kind, outcome, number, count, last_at, last_reason)
        select *
        from unnest(
            $1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::timestamptz[], $9::text[]
        )
        on conflict (merchant_id, endpoint_id, hour, kind, outcome, number) do update
        set count = hourly.count + excluded.count, last_at = greatest(hourly.last_at, excluded.last_at),
            last_reason = excluded.last_reason
        "#,
        &calls.keys().map(|(merchant, ..)| *merchant).collect::<Vec<_>>(),
        &calls.keys().map(|(_, endpoint, ..)| *endpoint).collect::<Vec<_>>(),
        &calls.keys().map(|(_, _, hour, ..)| *hour).collect::<Vec<_>>(),
        &calls.keys().map(|(.., kind, _, _)| *kind).collect::<Vec<_>>() as &[&str],
        &calls.keys().map(|(.., outcome, _)| *outcome).collect::<Vec<_>>() as &[&str],
        &calls.keys().map(|(.., number)| *number).collect::<Vec<_>>(),
        &calls.values().map(|calls| calls.count).collect::<Vec<_>>(),
        &calls.values().map(|calls| calls.last_at).collect::<Vec<_>>(),
        &calls.values().map(|calls| calls.last_reason).collect::<Vec<_>>() as &[Option<&str>],
    )
    .execute(connection)
    .await?;
    crash::point(Point::SettleCounted);
    Ok(())
}

fn add_up<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> BTreeMap<CallsKey<'a>, Calls<'a>> {
    let mut rows: BTreeMap<CallsKey<'a>, Calls<'a>> = BTreeMap::new();
    for attempt in attempts {
        let Some(kind) = attempt.counted_as else { continue };
        let key = (attempt.merchant.0, attempt.endpoint.0, hour(attempt.started_at), kind, attempt.outcome.as_str(), attempt.number);
        let reason = attempt.reason.as_deref().map(|reason| beginning(reason, LONGEST_REASON));
        let calls = rows.entry(key).or_insert(Calls { count: 0, last_at: attempt.started_at, last_reason: reason });
        calls.count += 1;
        if attempt.started_at > calls.last_at {
            (calls.last_at, calls.last_reason) = (attempt.started_at, reason);
        }
    }
    rows
}

/// Counts the delivered messages, each once: only those of `messages`, whose deliveries were removed in this transaction. This is a
/// separate statement because a Citus cluster allows only one write per statement.
pub(super) async fn add_delivered(connection: &mut Connection, attempts: &[&Attempt], messages: &HashSet<Uuid>) -> Result<(), Failed> {
    let mut rows: BTreeMap<DeliveredKey, i64> = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.arrived() && messages.contains(&attempt.message)) {
        let Some(kind) = attempt.counted_as else { continue };
        let hour = hour(attempt.started_at);
        let key = (attempt.merchant.0, hour, attempt.endpoint.0, kind, attempt.number, within(time_to_deliver(attempt)));
        *rows.entry(key).or_default() += 1;
    }
    if rows.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        r#"
        insert into delivered_hourly as hourly (merchant_id, hour, endpoint_id, kind, attempts, within_ms, count)
        select *
        from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::smallint[], $6::bigint[], $7::bigint[])
        on conflict (merchant_id, hour, endpoint_id, kind, attempts, within_ms) do update
        set count = hourly.count + excluded.count
        "#,
        &rows.keys().map(|(merchant, ..)| *merchant).collect::<Vec<_>>(),
        &rows.keys().map(|(_, hour, ..)| *hour).collect::<Vec<_>>(),
        &rows.keys().map(|(_, _, endpoint, ..)| *endpoint).collect::<Vec<_>>(),
        &rows.keys().map(|(.., kind, _, _)| *kind).collect::<Vec<_>>() as &[&str],
        &rows.keys().map(|(.., number, _)| *number).collect::<Vec<_>>(),
        &rows.keys().map(|(.., within)| *within).collect::<Vec<_>>(),
        &rows.values().copied().collect::<Vec<_>>(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The hour in which something happened.
fn hour(at: DateTime<Utc>) -> DateTime<Utc> {
    let past = at.timestamp().rem_euclid(3_600);
    at - TimeDelta::seconds(past) - TimeDelta::nanoseconds(at.timestamp_subsec_nanos().into())
}

/// The beginning of a text, of at most `most` bytes.
fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Milliseconds from writing the message, whose id starts with that time, to the end of the attempt.
fn time_to_deliver(attempt: &Attempt) -> i64 {
    let written = i64::try_from(attempt.message.as_u128() >> 80).unwrap_or(i64::MAX);
    attempt.started_at.timestamp_millis().saturating_add(attempt.took_ms.into()).saturating_sub(written)
}

#[cfg(test)]
mod tests {
    use domain::id::{EndpointId, MerchantId};

    use super::*;
    use crate::messages::holds::Hold;

    fn attempt(started_at: &str, outcome: &str, reason: Option<&str>) -> Attempt {
        Attempt {
            hold: Hold { bucket: 0, epoch: 1, owner: Uuid::nil() },
            id: Uuid::nil(),
            merchant: MerchantId(Uuid::from_u128(1)),
            message: Uuid::nil(),
            endpoint: EndpointId(Uuid::from_u128(2)),
            started_at: started_at.parse().unwrap(),
            took_ms: 1,
            number: 1,
            by_hand: false,
            status: None,
            outcome: outcome.to_owned(),
            reason: reason.map(str::to_owned),
            answer: None,
            counted_as: Some("rma"),
        }
    }

    #[test]
    fn calls_are_added_up_by_the_hour_and_the_newest_tells_why() {
        let attempts = [
            attempt("2026-03-01T11:59:59.999999Z", "refused", Some("the first")),
            attempt("2026-03-01T12:00:00Z", "refused", Some("in the middle")),
            attempt("2026-03-01T12:10:00Z", "refused", Some("the newest")),
            attempt("2026-03-01T12:05:00Z", "refused", Some("before it")),
            attempt("2026-03-01T12:05:00Z", "200", None),
            Attempt { counted_as: None, ..attempt("2026-03-01T12:05:00Z", "200", None) },
        ];
        let rows: Vec<_> = add_up(attempts.iter())
            .into_iter()
            .map(|((_, _, hour, _, outcome, _), calls)| (hour.to_rfc3339(), outcome, calls.count, calls.last_at, calls.last_reason))
            .collect();
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        assert_eq!(
            rows,
            [
                ("2026-03-01T11:00:00+00:00".to_owned(), "refused", 1, at("2026-03-01T11:59:59.999999Z"), Some("the first")),
                ("2026-03-01T12:00:00+00:00".to_owned(), "200", 1, at("2026-03-01T12:05:00Z"), None),
                ("2026-03-01T12:00:00+00:00".to_owned(), "refused", 3, at("2026-03-01T12:10:00Z"), Some("the newest")),
            ]
        );
    }

    #[test]
    fn hours_before_1970_begin_before_it() {
        let at: DateTime<Utc> = "1969-12-31T23:30:00.5Z".parse().unwrap();
        assert_eq!(hour(at), "1969-12-31T23:00:00Z".parse::<DateTime<Utc>>().unwrap());
    }

    #[test]
    fn a_reason_is_cut_between_characters() {
        assert_eq!(beginning("äöü", 3), "ä");
        assert_eq!(beginning("short", 300), "short");
    }
}
