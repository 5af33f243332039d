//! The report on deliveries to a merchant's systems, computed from the rollups.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::messages::delivery::is_success;
use domain::messages::promptness::{LONGER, percentile};
use store::Failed;
use store::messages::reports::{self, Attempts, Delivered};
use wire::messages::report::{
    DeliveredAtAttempt, DeliveriesReport, Figure, ReportedDay, ReportedInterface, ReportedOutcome, TimeToDeliver, csv,
};

use crate::app::App;

/// The most days that a report covers.
pub const MOST_DAYS: i64 = 92;
/// The days that a report covers by default.
const USUAL_DAYS: u64 = 30;

/// The first and the last day of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    from: NaiveDate,
    to: NaiveDate,
}

/// The error for an invalid [`Range`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the days of the report are invalid: from and to must be days such as 2026-03-01, from not after to, at most {MOST_DAYS} days in all"
)]
pub struct NoRange;

impl Range {
    /// Reads the requested days, with defaults for those that are left out.
    pub fn read(from: Option<&str>, to: Option<&str>, now: DateTime<Utc>) -> Result<Self, NoRange> {
        let day = |text: &str| text.parse::<NaiveDate>().map_err(|_| NoRange);
        let to = to.map_or(Ok(now.date_naive()), day)?;
        let from = match from {
            Some(from) => day(from)?,
            None => to.checked_sub_days(Days::new(USUAL_DAYS - 1)).ok_or(NoRange)?,
        };
        let days = (to - from).num_days() + 1;
        if (1..=MOST_DAYS).contains(&days) { Ok(Self { from, to }) } else { Err(NoRange) }
    }

    /// The last `days` days, today included.
    pub fn last(days: u64, now: DateTime<Utc>) -> Result<Self, NoRange> {
        let to = now.date_naive();
        let from = days.checked_sub(1).and_then(|before| to.checked_sub_days(Days::new(before))).ok_or(NoRange)?;
        if (to - from).num_days() < MOST_DAYS { Ok(Self { from, to }) } else { Err(NoRange) }
    }

    /// The first day.
    #[must_use]
    pub const fn from(self) -> NaiveDate {
        self.from
    }

    /// The last day.
    #[must_use]
    pub const fn to(self) -> NaiveDate {
        self.to
    }

    /// Every day, the first one first.
    pub fn days(self) -> impl Iterator<Item = NaiveDate> {
        self.from.iter_days().take_while(move |day| *day <= self.to)
    }

    /// The beginning of the first day and the end of the last.
    fn times(self) -> (DateTime<Utc>, DateTime<Utc>) {
        let begins = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        (begins(self.from), begins(self.to) + TimeDelta::days(1))
    }
}

/// The deliveries to a merchant's systems within a range of days.
pub struct Deliveries {
    range: Range,
    attempts: Vec<Attempts>,
    delivered: Vec<Delivered>,
}

impl Deliveries {
    /// Reads the rollups of these days.
    pub async fn read(app: &App, merchant: MerchantId, range: Range) -> Result<Self, Failed> {
        let (from, to) = range.times();
        let attempts = reports::attempts(app.store(merchant), merchant, from, to).await?;
        let delivered = reports::delivered(app.store(merchant), merchant, from, to).await?;
        Ok(Self { range, attempts, delivered })
    }

    /// Summarises by interface, and by day and interface.
    #[must_use]
    pub fn report(&self) -> DeliveriesReport {
        let mut interfaces: BTreeMap<&str, Totals<'_>> = BTreeMap::new();
        let mut days: BTreeMap<(DateTime<Utc>, &str), Totals<'_>> = BTreeMap::new();
        for attempts in &self.attempts {
            interfaces.entry(&attempts.kind).or_default().add_attempts(attempts);
            days.entry((attempts.day, &attempts.kind)).or_default().add_attempts(attempts);
        }
        for delivered in &self.delivered {
            interfaces.entry(&delivered.kind).or_default().add_delivered(delivered);
            days.entry((delivered.day, &delivered.kind)).or_default().add_delivered(delivered);
        }
        DeliveriesReport {
            from: self.range.from.to_string(),
            to: self.range.to.to_string(),
            interfaces: interfaces.into_iter().map(|(interface, totals)| totals.interface(interface)).collect(),
            days: days.into_iter().map(|((day, interface), totals)| totals.day(day, interface)).collect(),
        }
    }

    /// Every figure as comma-separated values, for a spreadsheet.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut figures: BTreeMap<(DateTime<Utc>, &str, &'static str, SortKey<'_>), u64> = BTreeMap::new();
        for Attempts { day, kind, outcome, count } in &self.attempts {
            *figures.entry((*day, kind, "outcome", SortKey::Word(outcome))).or_default() += count.unsigned_abs();
        }
        for Delivered { day, kind, attempts, within_ms, count } in &self.delivered {
            *figures.entry((*day, kind, "delivered_at_attempt", SortKey::Number((*attempts).into()))).or_default() += count.unsigned_abs();
            *figures.entry((*day, kind, "delivered_within_ms", SortKey::Number(*within_ms))).or_default() += count.unsigned_abs();
        }
        csv(figures.into_iter().map(|((day, interface, figure, value), count)| Figure {
            day: day.date_naive().to_string(),
            interface,
            figure,
            value: value.text(),
            count,
        }))
    }
}

/// The value of a figure, in sort order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortKey<'a> {
    Number(i64),
    Word(&'a str),
}

impl SortKey<'_> {
    fn text(&self) -> String {
        match self {
            Self::Number(LONGER) => "longer".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Word(word) => (*word).to_owned(),
        }
    }
}

/// The sums of one interface, or of one interface on one day.
#[derive(Default)]
struct Totals<'a> {
    failed_attempts: u64,
    outcomes: BTreeMap<&'a str, u64>,
    by_attempt: BTreeMap<i16, u64>,
    by_time: BTreeMap<i64, u64>,
}

impl<'a> Totals<'a> {
    fn add_attempts(&mut self, attempts: &'a Attempts) {
        let count = attempts.count.unsigned_abs();
        *self.outcomes.entry(&attempts.outcome).or_default() += count;
        if !attempts.outcome.parse().is_ok_and(is_success) {
            self.failed_attempts += count;
        }
    }

    fn add_delivered(&mut self, delivered: &Delivered) {
        let count = delivered.count.unsigned_abs();
        *self.by_attempt.entry(delivered.attempts).or_default() += count;
        *self.by_time.entry(delivered.within_ms).or_default() += count;
    }

    fn delivered(&self) -> u64 {
        self.by_attempt.values().sum()
    }

    fn interface(self, interface: &str) -> ReportedInterface {
        let times: Vec<(i64, u64)> = self.by_time.iter().map(|(bound, count)| (*bound, *count)).collect();
        let at_most = |percent| percentile(&times, percent).filter(|bound| *bound != LONGER);
        let time_to_deliver = (!times.is_empty()).then(|| TimeToDeliver {
            p50_at_most_ms: at_most(50),
            p90_at_most_ms: at_most(90),
            p99_at_most_ms: at_most(99),
        });
        ReportedInterface {
            interface: interface.to_owned(),
            delivered: self.delivered(),
            failed_attempts: self.failed_attempts,
            delivered_at_attempt: self.by_attempt.into_iter().map(|(attempt, messages)| DeliveredAtAttempt { attempt, messages }).collect(),
            time_to_deliver,
        }
    }

    fn day(self, day: DateTime<Utc>, interface: &str) -> ReportedDay {
        ReportedDay {
            day: day.date_naive().to_string(),
            interface: interface.to_owned(),
            delivered: self.delivered(),
            failed_attempts: self.failed_attempts,
            outcomes: self
                .outcomes
                .into_iter()
                .map(|(outcome, attempts)| ReportedOutcome { outcome: outcome.to_owned(), attempts })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: Option<&str>, to: Option<&str>) -> Result<Range, NoRange> {
        Range::read(from, to, "2026-03-01T12:00:00Z".parse().expect("a time"))
    }

    #[test]
    fn a_report_has_thirty_days_unless_others_are_asked_for() {
        assert_eq!(read(None, None), read(Some("2026-01-31"), Some("2026-03-01")));
        assert_eq!(read(None, Some("2026-01-30")), read(Some("2026-01-01"), Some("2026-01-30")));
    }

    #[test]
    fn a_report_has_at_most_92_days_and_at_least_one() {
        for (from, to, right) in [
            ("2026-01-01", "2026-04-02", true),
            ("2026-01-01", "2026-04-03", false),
            ("2026-01-02", "2026-01-02", true),
            ("2026-01-02", "2026-01-01", false),
            ("yesterday", "2026-01-01", false),
        ] {
            assert_eq!(read(Some(from), Some(to)).is_ok(), right, "{from} to {to}");
        }
    }
}
