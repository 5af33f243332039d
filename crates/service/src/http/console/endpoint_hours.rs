//! The last 24 hours of an endpoint: outcomes by the hour as a plot and a table, and how soon messages arrived.

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::promptness::{LONGER, percentile};
use store::messages::reports::{self, DeliveredTo, HourlyCalls};
use store::{Failed, Store};

use super::count::grouped as number;
use super::report_plots::time;
use super::stamp::Stamp;
use super::view::{View, span};

/// The hours that are shown.
const SHOWN: i32 = 24;
/// The plot: its width for an hour, the line between delivered and failed, and the room above and below it.
const STEP: usize = 40;
const LINE: i64 = 53;
const ABOVE: i64 = 49;
const BELOW: i64 = 24;

/// A bar of the plot.
pub(super) struct Bar {
    pub(super) class: &'static str,
    pub(super) x: i32,
    pub(super) y: i64,
    pub(super) height: i64,
}

/// An hour of the table.
pub(super) struct Hour {
    pub(super) from: Stamp,
    pub(super) succeeded: String,
    pub(super) failed: String,
}

/// An outcome and how many calls ended in it.
pub(super) struct Answer {
    pub(super) class: &'static str,
    pub(super) outcome: String,
    pub(super) calls: String,
}

/// The last 24 hours of an endpoint.
pub(super) struct Hours {
    pub(super) bars: Vec<Bar>,
    pub(super) sentence: String,
    pub(super) first: Stamp,
    pub(super) table: Vec<Hour>,
    pub(super) answers: Vec<Answer>,
    pub(super) calls: i64,
    pub(super) succeeded: String,
    /// The part of the calls that succeeded.
    pub(super) rate: String,
    /// Half of the messages arrived within this time, and 95 % within the other.
    pub(super) p50: Option<String>,
    pub(super) p95: Option<String>,
    /// The part of the messages that arrived at their first attempt.
    pub(super) at_first: Option<String>,
}

/// Reads the last 24 hours of an endpoint from the hourly counts.
pub(super) async fn hours_of(store: &Store, merchant: MerchantId, endpoint: EndpointId, view: &View) -> Result<Hours, Failed> {
    let this_hour = view.now.duration_trunc(TimeDelta::hours(1)).unwrap_or(view.now);
    let (from, to) = (this_hour - TimeDelta::hours(i64::from(SHOWN - 1)), this_hour + TimeDelta::hours(1));
    let calls = reports::calls_of(store, merchant, endpoint, from, to).await?;
    let delivered = reports::delivered_to(store, merchant, endpoint, from, to).await?;
    Ok(Hours::new(&calls, &delivered, from, view))
}

/// The calls of an hour: succeeded and failed.
fn sums(calls: &[HourlyCalls], hour: DateTime<Utc>) -> (i64, i64) {
    let of_hour = calls.iter().filter(|call| call.hour == hour);
    of_hour.fold((0, 0), |(good, bad), call| if is_success(&call.outcome) { (good + call.count, bad) } else { (good, bad + call.count) })
}

fn is_success(outcome: &str) -> bool {
    outcome.len() == 3 && outcome.starts_with('2')
}

fn percent(part: i64, of: i64) -> String {
    let hundredths = (part * 10_000).checked_div(of).unwrap_or(0);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

impl Hours {
    fn new(calls: &[HourlyCalls], delivered: &[DeliveredTo], from: DateTime<Utc>, view: &View) -> Self {
        let hours: Vec<(DateTime<Utc>, i64, i64)> = (0..SHOWN)
            .map(|at| {
                let hour = from + TimeDelta::hours(i64::from(at));
                let (good, bad) = sums(calls, hour);
                (hour, good, bad)
            })
            .collect();
        let (good, bad) = hours.iter().fold((0, 0), |(good, bad), hour| (good + hour.1, bad + hour.2));
        Self {
            bars: bars(&hours),
            sentence: sentence(&hours, good, bad, view),
            first: view.time(from),
            table: hours
                .iter()
                .rev()
                .map(|(hour, good, bad)| Hour { from: view.time(*hour), succeeded: number(*good), failed: number(*bad) })
                .collect(),
            answers: answers(calls),
            calls: good + bad,
            succeeded: number(good),
            rate: percent(good, good + bad),
            p50: within(delivered, 50),
            p95: within(delivered, 95),
            at_first: at_first(delivered),
        }
    }
}

fn bars(hours: &[(DateTime<Utc>, i64, i64)]) -> Vec<Bar> {
    let most = hours.iter().map(|(_, good, bad)| *good.max(bad)).max().unwrap_or(0).max(1);
    // A single call is still to be seen.
    let height = |count: i64, room: i64| if count == 0 { 0 } else { (count * room / most).max(2) };
    let mut bars = Vec::new();
    for (x, (_, good, bad)) in (0..).step_by(STEP).zip(hours) {
        let (above, below) = (height(*good, ABOVE), height(*bad, BELOW));
        if above > 0 {
            bars.push(Bar { class: "f-ok", x, y: LINE - 1 - above, height: above });
        }
        if below > 0 {
            bars.push(Bar { class: "f-bad", x, y: LINE + 1, height: below });
        }
    }
    bars
}

fn sentence(hours: &[(DateTime<Utc>, i64, i64)], good: i64, bad: i64, view: &View) -> String {
    let failing = hours.iter().rev().filter(|(_, good, bad)| good + bad > 0).take_while(|(_, good, bad)| *good == 0 && *bad > 0).last();
    let since = failing.map(|(hour, ..)| format!("; every call has failed for {}", span(view.now - *hour))).unwrap_or_default();
    match good + bad {
        0 => "Calls by the hour: none in the last 24 hours".to_owned(),
        all => format!(
            "Calls by the hour: {} in the last 24 hours, of which {} succeeded and {} failed{since}",
            number(all),
            number(good),
            number(bad)
        ),
    }
}

fn answers(calls: &[HourlyCalls]) -> Vec<Answer> {
    let mut sums: Vec<(&str, i64)> = Vec::new();
    for call in calls {
        match sums.iter_mut().find(|(outcome, _)| *outcome == call.outcome) {
            Some((_, count)) => *count += call.count,
            None => sums.push((&call.outcome, call.count)),
        }
    }
    sums.sort_unstable_by_key(|(outcome, count)| (std::cmp::Reverse(*count), *outcome));
    sums.into_iter()
        .map(|(outcome, count)| Answer { class: class_of(outcome), outcome: outcome.to_owned(), calls: number(count) })
        .collect()
}

/// The class of an outcome: by its hundred, or without an answer.
pub(super) fn class_of(outcome: &str) -> &'static str {
    match outcome.as_bytes() {
        [b'2', _, _] => "s2",
        [b'3' | b'4', _, _] => "s4",
        [b'5', _, _] => "s5",
        _ => "sx",
    }
}

/// The time within which `part` per cent of the messages arrived.
fn within(delivered: &[DeliveredTo], part: u64) -> Option<String> {
    let counts: Vec<(i64, u64)> = delivered.iter().map(|row| (row.within_ms, row.count.unsigned_abs())).collect();
    percentile(&counts, part).map(|bound| match bound {
        LONGER => "more than a day".to_owned(),
        ms if ms < 1_000 => format!("0.{:02} s", ms / 10),
        ms if ms < 60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms => time(ms),
    })
}

fn at_first(delivered: &[DeliveredTo]) -> Option<String> {
    let all: i64 = delivered.iter().map(|row| row.count).sum();
    let first: i64 = delivered.iter().filter(|row| row.attempts == 1).map(|row| row.count).sum();
    (all > 0).then(|| percent(first, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_to_the_hundredth() {
        assert_eq!([percent(0, 0), percent(1, 3), percent(3, 3)], ["0.00 %", "33.33 %", "100.00 %"]);
    }

    #[test]
    fn times_are_told_as_bounds() {
        let row = |within_ms, count| DeliveredTo { attempts: 1, within_ms, count };
        let rows = [row(250, 90), row(2_500, 6), row(LONGER, 4)];
        assert_eq!(within(&rows, 50).as_deref(), Some("0.25 s"));
        assert_eq!(within(&rows, 95).as_deref(), Some("2.5 s"));
        assert_eq!(within(&rows, 99).as_deref(), Some("more than a day"));
        assert_eq!(within(&[], 50), None);
    }
}
