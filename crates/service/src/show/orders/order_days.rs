//! Orders and order messages by the day, as the console's report shows them.

use chrono::NaiveDate;
use store::messages::report_days::Figure;
use store::orders::order_days::{MESSAGE, ORDER};

use crate::show::messages::report::Range;

/// What merchants sent on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Day {
    pub day: NaiveDate,
    /// Orders by what became of them.
    pub created: i64,
    pub updated: i64,
    pub unchanged: i64,
    pub stale: i64,
    /// Order messages.
    pub taken: i64,
    pub refused: i64,
}

/// What merchants sent in a range of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderDays {
    pub days: Vec<Day>,
}

impl OrderDays {
    /// Sums figures up.
    #[must_use]
    pub fn new(range: Range, figures: &[Figure]) -> Self {
        let day = |day: NaiveDate| {
            let of_day = || figures.iter().filter(move |figure| figure.day == day);
            let count = |name: &str, value: &str| {
                of_day().filter(|figure| figure.figure == name && figure.value == value).map(|figure| figure.count).sum()
            };
            Day {
                day,
                created: count(ORDER, "created"),
                updated: count(ORDER, "updated"),
                unchanged: count(ORDER, "unchanged"),
                stale: count(ORDER, "stale"),
                taken: count(MESSAGE, "taken"),
                refused: count(MESSAGE, "refused"),
            }
        };
        Self { days: range.days().map(day).collect() }
    }

    /// All days together.
    #[must_use]
    pub fn total(&self) -> Day {
        self.days.iter().fold(Day::default(), |all, day| Day {
            day: all.day,
            created: all.created + day.created,
            updated: all.updated + day.updated,
            unchanged: all.unchanged + day.unchanged,
            stale: all.stale + day.stale,
            taken: all.taken + day.taken,
            refused: all.refused + day.refused,
        })
    }
}
