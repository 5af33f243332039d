//! Pages of lists. Every list of the merchant API and of the operator API speaks this dialect: `limit` and `cursor` in the query,
//! `items` and `next` in the answer.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use utoipa::IntoParams;

/// Maximum page size.
pub const MOST: u32 = 100;

/// Default page size.
pub const USUAL: u32 = 50;

/// Query parameters of every list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// The `next` of the page before; the list begins at its start without it.
    #[param(required = false)]
    pub cursor: Option<String>,
    /// Maximum number of items per page.
    #[param(required = false, value_type = u32, minimum = 1, maximum = 100, default = 50)]
    pub limit: Option<String>,
}

/// A page that cannot be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadPage {
    Limit,
    Cursor,
    /// A parameter was given twice, or cannot be read.
    Unreadable,
}

impl fmt::Display for BadPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => write!(f, "limit must be a number between 1 and {MOST}"),
            Self::Cursor => f.write_str("cursor must be the `next` of another page of this list"),
            Self::Unreadable => f.write_str("limit and cursor must be given once at most, as text in UTF-8"),
        }
    }
}

impl std::error::Error for BadPage {}

/// Reads the size of a page.
///
/// # Errors
///
/// If it is not a number within the bounds.
pub fn read_limit(text: &str) -> Result<u32, BadPage> {
    text.parse().ok().filter(|limit| (1..=MOST).contains(limit)).ok_or(BadPage::Limit)
}

/// Writes a place in a list that is ordered by time, and by `key` among what has the same time, as a cursor that is safe in a URL.
#[must_use]
pub fn write_moment(at: DateTime<Utc>, key: impl fmt::Display) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{key}", at.timestamp_micros()))
}

/// Reads what [`write_moment`] wrote.
#[must_use]
pub fn read_moment<T: FromStr>(cursor: &str) -> Option<(DateTime<Utc>, T)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (at, key) = text.split_once('.').filter(|(_, key)| !key.contains('\0'))?;
    Some((DateTime::from_timestamp_micros(at.parse().ok()?)?, key.parse().ok()?))
}

/// Reads a cursor: `read` gives `None` for a text that is no place in the list.
///
/// # Errors
///
/// If it is not a place in the list.
pub fn read_cursor<T>(cursor: Option<&str>, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, BadPage> {
    // No place has a NUL, and PostgreSQL refuses even to compare with one.
    cursor.map(|text| Some(text).filter(|text| !text.contains('\0')).and_then(read).ok_or(BadPage::Cursor)).transpose()
}

/// Takes what is beyond a page of `limit` items off `found`, and says where to read on.
pub fn cut<T>(found: &mut Vec<T>, limit: u32, place: impl FnOnce(&T) -> String) -> Option<String> {
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    found.last().filter(|_| more).map(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_between_1_and_100_items() {
        assert_eq!((read_limit("1"), read_limit("100")), (Ok(1), Ok(100)));
        for wrong in ["0", "101", "-1", "", "ten", "4294967296", "1.5"] {
            assert_eq!(read_limit(wrong), Err(BadPage::Limit), "{wrong}");
        }
    }

    #[test]
    fn a_place_by_time_is_read_as_it_was_written() {
        let at = DateTime::from_timestamp_micros(1_772_366_400_123_456).unwrap_or_default();
        assert_eq!(read_moment::<String>(&write_moment(at, "A.1 ö")), Some((at, "A.1 ö".to_owned())));
        let wrong = ["", "1772366400123456", "x.A-1", "9223372036854775807.A-1", "1.\0"].map(|text| URL_SAFE_NO_PAD.encode(text));
        for wrong in wrong.iter().map(String::as_str).chain(["1772366400123456.A-1", "ö"]) {
            assert_eq!(read_moment::<String>(wrong), None, "{wrong}");
        }
    }
}
