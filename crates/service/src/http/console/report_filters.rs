//! The filters of reports, which are the same for all of them, and the figures that they ask for.

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use chrono::NaiveDate;
use domain::messages::message::Interface;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::report_days::{self, Figure};

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::frame::{Frame, Notice, Section};
use crate::node::each_cell;
use crate::show::messages::report::{MOST_DAYS, Range};

/// The days that are shown by default.
const USUAL_DAYS: u64 = 14;

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    pub(super) merchant: String,
    pub(super) interface: String,
    /// So many days up to today, unless `since` or `until` are set.
    pub(super) days: String,
    pub(super) since: String,
    pub(super) until: String,
    /// The plot whose figures are exported; all if empty.
    pub(super) plot: String,
}

impl Filters {
    pub(super) fn fields(&self) -> Vec<(&'static str, &str)> {
        let fields = [
            ("merchant", self.merchant.as_str()),
            ("interface", &self.interface),
            ("days", &self.days),
            ("since", &self.since),
            ("until", &self.until),
        ];
        fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The address `path` with these filters and the name of a plot; empty for all plots.
    pub(super) fn csv_at(&self, path: &str, plot: &str) -> String {
        let mut fields = self.fields();
        if !plot.is_empty() {
            fields.push(("plot", plot));
        }
        format!("{path}?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
    }

    fn range(&self, by: &By<Viewer>) -> Option<Range> {
        let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        match (some(&self.since), some(&self.until), some(&self.days)) {
            (None, None, None) => Range::last(USUAL_DAYS, by.now).ok(),
            (None, None, Some(days)) => Range::last(days.parse().ok()?, by.now).ok(),
            (since, until, _) => Range::read(since.as_deref(), until.as_deref(), by.now).ok(),
        }
    }
}

/// What the filters ask for, and what could not be read of them.
pub(super) struct Asked {
    pub(super) merchant: Option<Merchant>,
    pub(super) interface: Option<&'static str>,
    pub(super) range: Range,
    faults: Vec<String>,
}

impl Asked {
    /// The frame of a report, with what could not be read of the filters.
    pub(super) fn frame(&self, by: &By<Viewer>) -> Frame {
        let frame = by.frame(Section::Reports, "Reports");
        if self.faults.is_empty() { frame } else { frame.with(Some(Notice::warn("A filter was left out.", &self.faults.join(" ")))) }
    }

    /// The answer with the figures of `plot` for spreadsheets.
    pub(super) fn csv(&self, plot: &str, text: String) -> Response {
        let whose = self.merchant.as_ref().map_or("every-merchant", |merchant| &merchant.handle);
        let name = format!("attachment; filename=\"report-{plot}-{whose}-{}-{}.csv\"", self.range.from(), self.range.to());
        ([(header::CONTENT_TYPE, "text/csv; charset=utf-8"), (header::CONTENT_DISPOSITION, name.as_str())], text).into_response()
    }
}

/// Reads the filters; what cannot be read is left out, and told.
pub(super) async fn read(by: &By<Viewer>, filters: &Filters) -> Result<Asked, ConsoleError> {
    let mut faults = Vec::new();
    let merchant = match filters.merchant.trim() {
        "" => None,
        handle => match merchant_of(by, handle).await {
            Ok(merchant) => Some(merchant),
            Err(ConsoleError::NotFound) => {
                faults.push("There is no merchant with this handle: every merchant is shown.".to_owned());
                None
            }
            Err(error) => return Err(error),
        },
    };
    let interface = Interface::ALL.into_iter().map(Interface::as_str).find(|interface| *interface == filters.interface);
    if interface.is_none() && !filters.interface.is_empty() {
        faults.push("There is no such interface: every interface is shown.".to_owned());
    }
    let range = if let Some(range) = filters.range(by) {
        range
    } else {
        faults.push(format!("A report has 1 to {MOST_DAYS} days, the first not after the last: the usual {USUAL_DAYS} are shown."));
        Range::last(USUAL_DAYS, by.now).map_err(|_| ConsoleError::NotFound)?
    };
    Ok(Asked { merchant, interface, range, faults })
}

/// The figures of these days, from the rollups alone.
pub(super) async fn figures(by: &By<Viewer>, asked: &Asked) -> Result<Vec<Figure>, ConsoleError> {
    let (from, to) = (asked.range.from(), asked.range.to());
    Ok(match &asked.merchant {
        Some(merchant) => report_days::list(by.app.store(merchant.id), merchant.id, from, to).await?,
        None => total(each_cell::each(&by.app, |store| report_days::list_total(store, from, to)).await?),
    })
}

/// The figures of all cells as one.
fn total(of_cells: Vec<Vec<Figure>>) -> Vec<Figure> {
    let several = of_cells.len() > 1;
    let mut figures: Vec<Figure> = of_cells.into_iter().flatten().collect();
    if several {
        // By day, interface, figure and value.
        figures.sort_unstable();
        figures.dedup_by(|next, sum| {
            let same = (next.day, &next.interface, &next.figure, &next.value) == (sum.day, &sum.interface, &sum.figure, &sum.value);
            sum.count += if same { next.count } else { 0 };
            same
        });
    }
    figures
}

/// What the filters ask for; a filter that cannot be read is an error, since a file has no room for a notice.
pub(super) async fn read_exactly(by: &By<Viewer>, filters: &Filters) -> Result<Asked, ConsoleError> {
    let asked = read(by, filters).await?;
    if asked.faults.is_empty() { Ok(asked) } else { Err(ConsoleError::Refused(asked.faults.join(" "))) }
}

/// A day as the head of a column.
pub(super) fn short(day: NaiveDate) -> String {
    day.format("%-d %b").to_string()
}
