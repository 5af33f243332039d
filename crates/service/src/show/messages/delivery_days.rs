//! Deliveries by the day, as the console's report shows them: answers by interface, what was delivered and failed, at which attempt,
//! and how soon.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use domain::messages::delivery::is_success;
use domain::messages::promptness::percentile;
use store::messages::report_days::{DELIVERED_AT_ATTEMPT, DELIVERED_WITHIN_MS, Figure, OUTCOME};

use super::report::Range;

/// How often an interface gave one answer, day by day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub interface: String,
    /// A status, or why there was none.
    pub outcome: String,
    pub by_day: Vec<i64>,
}

impl Answer {
    /// The call succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        succeeded(&self.outcome)
    }
}

fn succeeded(outcome: &str) -> bool {
    outcome.parse().is_ok_and(is_success)
}

/// The times within which half, 95 and 99 of 100 messages arrived: bounds of `domain::messages::promptness`, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub p50: i64,
    pub p95: i64,
    pub p99: i64,
}

/// One day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    pub day: NaiveDate,
    /// Messages that were delivered.
    pub delivered: i64,
    /// Calls that failed.
    pub failed: i64,
    /// Nothing was delivered: none.
    pub times: Option<Times>,
}

impl Day {
    fn new(day: NaiveDate, figures: &[&Figure]) -> Self {
        let of_day: Vec<&Figure> = figures.iter().copied().filter(|figure| figure.day == day).collect();
        let delivered = of_day.iter().filter(|figure| figure.figure == DELIVERED_AT_ATTEMPT);
        let failed = of_day.iter().filter(|figure| figure.figure == OUTCOME && !succeeded(&figure.value));
        Self {
            day,
            delivered: delivered.map(|figure| figure.count).sum(),
            failed: failed.map(|figure| figure.count).sum(),
            times: times(&of_day),
        }
    }
}

/// The deliveries of a range of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryDays {
    pub days: Vec<Day>,
    /// By interface, successes first, then by outcome.
    pub answers: Vec<Answer>,
    /// Delivered messages by the number of the attempt that succeeded.
    pub at_attempt: Vec<(i64, i64)>,
    /// The times of the whole range.
    pub times: Option<Times>,
}

impl DeliveryDays {
    /// Sums figures up, of one interface or of all.
    #[must_use]
    pub fn new(range: Range, interface: Option<&str>, figures: &[Figure]) -> Self {
        let fits = |figure: &&Figure| interface.is_none_or(|interface| interface == figure.interface);
        let figures: Vec<&Figure> = figures.iter().filter(fits).collect();
        let days: Vec<NaiveDate> = range.days().collect();
        Self {
            answers: answers(&days, &figures),
            at_attempt: at_attempt(&figures),
            times: times(&figures),
            days: days.iter().map(|day| Day::new(*day, &figures)).collect(),
        }
    }

    /// Messages that were delivered.
    #[must_use]
    pub fn delivered(&self) -> i64 {
        self.days.iter().map(|day| day.delivered).sum()
    }

    /// Calls that failed.
    #[must_use]
    pub fn failed(&self) -> i64 {
        self.days.iter().map(|day| day.failed).sum()
    }
}

fn answers(days: &[NaiveDate], figures: &[&Figure]) -> Vec<Answer> {
    let mut found: BTreeMap<(&str, bool, &str), BTreeMap<NaiveDate, i64>> = BTreeMap::new();
    for figure in figures.iter().filter(|figure| figure.figure == OUTCOME) {
        let of = found.entry((&figure.interface, !succeeded(&figure.value), &figure.value)).or_default();
        *of.entry(figure.day).or_default() += figure.count;
    }
    let answer = |((interface, _, outcome), counts): ((&str, bool, &str), BTreeMap<NaiveDate, i64>)| Answer {
        interface: interface.to_owned(),
        outcome: outcome.to_owned(),
        by_day: days.iter().map(|day| counts.get(day).copied().unwrap_or_default()).collect(),
    };
    found.into_iter().map(answer).collect()
}

fn at_attempt(figures: &[&Figure]) -> Vec<(i64, i64)> {
    let mut found: BTreeMap<i64, i64> = BTreeMap::new();
    for figure in figures.iter().filter(|figure| figure.figure == DELIVERED_AT_ATTEMPT) {
        *found.entry(figure.value.parse().unwrap_or_default()).or_default() += figure.count;
    }
    found.into_iter().collect()
}

fn times(figures: &[&Figure]) -> Option<Times> {
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    for figure in figures.iter().filter(|figure| figure.figure == DELIVERED_WITHIN_MS) {
        *counts.entry(figure.value.parse().ok()?).or_default() += figure.count.unsigned_abs();
    }
    let counts: Vec<(i64, u64)> = counts.into_iter().collect();
    Some(Times { p50: percentile(&counts, 50)?, p95: percentile(&counts, 95)?, p99: percentile(&counts, 99)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(day: &str, interface: &str, figure: &str, value: &str, count: i64) -> Figure {
        Figure { day: day.parse().unwrap(), interface: interface.into(), figure: figure.into(), value: value.into(), count }
    }

    #[test]
    fn figures_become_rows_of_days() {
        let range = Range::read(Some("2026-03-01"), Some("2026-03-02"), "2026-03-02T12:00:00Z".parse().unwrap()).unwrap();
        let figures = [
            figure("2026-03-01", "rma", OUTCOME, "503", 2),
            figure("2026-03-01", "rma", OUTCOME, "200", 100),
            figure("2026-03-01", "rma", DELIVERED_AT_ATTEMPT, "1", 98),
            figure("2026-03-01", "rma", DELIVERED_AT_ATTEMPT, "3", 2),
            figure("2026-03-01", "rma", DELIVERED_WITHIN_MS, "100", 94),
            figure("2026-03-01", "rma", DELIVERED_WITHIN_MS, "630", 4),
            figure("2026-03-01", "rma", DELIVERED_WITHIN_MS, "63000", 2),
            figure("2026-03-02", "exchange_order", OUTCOME, "timed out", 7),
        ];
        let all = DeliveryDays::new(range, None, &figures);
        let rows: Vec<(&str, &str, &[i64])> =
            all.answers.iter().map(|row| (row.interface.as_str(), row.outcome.as_str(), row.by_day.as_slice())).collect();
        assert_eq!(rows, [("exchange_order", "timed out", &[0, 7][..]), ("rma", "200", &[100, 0]), ("rma", "503", &[2, 0])]);
        assert_eq!(all.at_attempt, [(1, 98), (3, 2)]);
        assert_eq!((all.delivered(), all.failed()), (100, 9));
        let times = Some(Times { p50: 100, p95: 630, p99: 63_000 });
        assert_eq!(all.days.iter().map(|day| (day.delivered, day.failed, day.times)).collect::<Vec<_>>(), [(100, 2, times), (0, 7, None)]);
        let rma = DeliveryDays::new(range, Some("rma"), &figures);
        assert_eq!((rma.answers.len(), rma.failed(), rma.times), (2, 2, times));
    }
}
