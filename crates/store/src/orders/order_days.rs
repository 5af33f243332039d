//! Orders and order messages by the day, as figures of the reports.

use chrono::{DateTime, NaiveDate, Utc};

use crate::messages::report_days::{self, Figure};
use crate::{Failed, Tx};

/// Orders by what became of them: `created`, `updated`, `unchanged` or `stale`.
pub const ORDER: &str = "order";
/// Order messages: `taken` or `refused`.
pub const MESSAGE: &str = "order_message";

/// A count of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub day: NaiveDate,
    /// [`ORDER`] or [`MESSAGE`].
    pub figure: &'static str,
    pub value: &'static str,
    pub count: i64,
}

/// True if a figure is about orders or order messages.
#[must_use]
pub fn is_of_intake(figure: &Figure) -> bool {
    figure.figure == ORDER || figure.figure == MESSAGE
}

/// Adds counts, which are sorted by day, to the merchant's days.
pub async fn add(tx: &mut Tx, taken: &[Taken], now: DateTime<Utc>) -> Result<(), Failed> {
    let figure = |taken: &Taken| Figure {
        day: taken.day,
        interface: String::new(),
        figure: taken.figure.to_owned(),
        value: taken.value.to_owned(),
        count: taken.count,
    };
    for day in taken.chunk_by(|one, next| one.day == next.day) {
        report_days::add(tx, &day.iter().map(figure).collect::<Vec<_>>(), now).await?;
    }
    Ok(())
}
