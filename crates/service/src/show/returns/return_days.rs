//! Returns by the day on which they were started, as the console's report shows them: how far they got, why goods came back, and what
//! labels cost.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::NaiveDate;
use domain::messages::promptness::percentile;
use store::messages::report_days::Figure;
use store::returns::return_days::{
    ASKED_FOR, CANCELED, EXCHANGED, HANDED_OVER, LABEL_CENTS, LABELS, PRODUCT, REASON, RECEIVED, REFUNDED, STARTED,
};

use crate::show::messages::report::Range;

/// The returns that were started on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    pub day: NaiveDate,
    pub started: i64,
    pub refunded: i64,
    pub canceled: i64,
}

/// How many returns got this far, and how soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name of the figure, such as [`HANDED_OVER`].
    pub stage: &'static str,
    pub returns: i64,
    /// The days within which half and nine of ten of them got there; none of no returns.
    pub within: Option<(i64, i64)>,
}

/// The returns of a range of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnDays {
    pub days: Vec<Day>,
    pub stages: Vec<Stage>,
    /// Units by reason, by what was asked for, and by product, the most first.
    pub reasons: Vec<(String, i64)>,
    pub asked_for: Vec<(String, i64)>,
    pub products: Vec<(String, i64)>,
    /// Labels by carrier, the most first, and their cost in cents by currency.
    pub labels: Vec<(String, i64)>,
    pub label_cents: Vec<(String, i64)>,
}

/// The stages after the start, in their usual order.
const STAGES: [&str; 5] = [HANDED_OVER, RECEIVED, EXCHANGED, REFUNDED, CANCELED];

impl ReturnDays {
    /// Sums figures up.
    #[must_use]
    pub fn new(range: Range, figures: &[Figure]) -> Self {
        let day = |day: NaiveDate| {
            let count =
                |name: &str| figures.iter().filter(|figure| figure.day == day && figure.figure == name).map(|figure| figure.count).sum();
            Day { day, started: count(STARTED), refunded: count(REFUNDED), canceled: count(CANCELED) }
        };
        Self {
            days: range.days().map(day).collect(),
            stages: STAGES.into_iter().map(|stage| reached(figures, stage)).collect(),
            reasons: by_value(figures, REASON),
            asked_for: by_value(figures, ASKED_FOR),
            products: by_value(figures, PRODUCT),
            labels: by_value(figures, LABELS),
            label_cents: by_value(figures, LABEL_CENTS),
        }
    }

    /// Returns that were started.
    #[must_use]
    pub fn started(&self) -> i64 {
        self.days.iter().map(|day| day.started).sum()
    }
}

fn reached(figures: &[Figure], stage: &'static str) -> Stage {
    // Whole days are counted: whatever took 3 of them arrived within 4.
    let within = |(days, count): (String, i64)| Some((days.parse::<i64>().ok()? + 1, count.unsigned_abs()));
    let days: Vec<(i64, u64)> = by_value(figures, stage).into_iter().filter_map(within).collect();
    Stage {
        stage,
        returns: figures.iter().filter(|figure| figure.figure == stage).map(|figure| figure.count).sum(),
        within: percentile(&days, 50).zip(percentile(&days, 90)),
    }
}

fn by_value(figures: &[Figure], name: &str) -> Vec<(String, i64)> {
    let mut found: BTreeMap<&str, i64> = BTreeMap::new();
    for figure in figures.iter().filter(|figure| figure.figure == name) {
        *found.entry(&figure.value).or_default() += figure.count;
    }
    let mut found: Vec<(String, i64)> = found.into_iter().map(|(value, count)| (value.to_owned(), count)).collect();
    found.sort_by_key(|(_, count)| Reverse(*count));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_a_story_of_the_returns_of_these_days() {
        let range = Range::read(Some("2026-03-01"), Some("2026-03-02"), "2026-03-09T12:00:00Z".parse().unwrap()).unwrap();
        let figure = |day: &str, figure: &str, value: &str, count| Figure {
            day: day.parse().unwrap(),
            interface: String::new(),
            figure: figure.into(),
            value: value.into(),
            count,
        };
        let report = ReturnDays::new(
            range,
            &[
                figure("2026-03-01", STARTED, "", 10),
                figure("2026-03-02", STARTED, "", 2),
                figure("2026-03-01", REASON, "Too small", 4),
                figure("2026-03-01", REASON, "Damaged", 5),
                figure("2026-03-02", REASON, "Too small", 2),
                figure("2026-03-01", REFUNDED, "3", 8),
                figure("2026-03-02", REFUNDED, "12", 1),
                figure("2026-03-01", CANCELED, "14", 1),
                figure("2026-03-01", LABEL_CENTS, "USD", 6_080),
            ],
        );
        let days: Vec<(i64, i64, i64)> = report.days.iter().map(|day| (day.started, day.refunded, day.canceled)).collect();
        assert_eq!((report.started(), days), (12, vec![(10, 8, 1), (2, 1, 0)]));
        let stages: Vec<(i64, Option<(i64, i64)>)> = report.stages.iter().map(|stage| (stage.returns, stage.within)).collect();
        assert_eq!(stages, [(0, None), (0, None), (0, None), (9, Some((4, 13))), (1, Some((15, 15)))]);
        assert_eq!(report.reasons, [("Too small".to_owned(), 6), ("Damaged".to_owned(), 5)]);
        assert_eq!(report.label_cents, [("USD".to_owned(), 6_080)]);
    }
}
