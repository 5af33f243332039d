//! Tables that fit the terminal: times are told by their age, ids are as short as tells them apart, and the widest columns wrap. What
//! does not fit even so is shown as a block of lines for each row.
//!
//! That is for people. A script gets everything in full, so a table is fitted only where the width of a terminal is known.

use chrono::{DateTime, Utc};
use unicode_width::UnicodeWidthStr;
use uuid::Uuid;
use wire::time;

use crate::http::operator_api::Screen;

/// The spaces between two columns.
const GAP: usize = 2;
/// The length of the longest word that no column breaks.
const LONGEST_WORD: usize = 10;
/// The columns with ids of which commands take the beginning. Others are shown whole.
const SHORTENED: [&str; 3] = ["MESSAGE", "JOB", "ID"];
/// The length of the shortest id: the part that is made of the time.
const SHORTEST_ID: usize = super::id::SHORTEST;

/// How tables are shown to a person.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) screen: Screen,
    /// The time that ages are told by.
    pub(super) now: DateTime<Utc>,
}

/// The lines of a table. Whatever a terminal obeys must have been escaped in the cells.
pub(super) fn lines(headers: &[&str], mut rows: Vec<Vec<String>>, view: Option<&View>) -> Vec<String> {
    if let Some(view) = view.filter(|view| !view.screen.utc) {
        for cell in rows.iter_mut().flatten() {
            if let Some(age) = age(cell, view.now) {
                *cell = age;
            }
        }
    }
    let mut widths = widths(headers, &rows);
    if let Some(view) = view.filter(|view| needed(&widths) > view.screen.columns) {
        shorten_ids(headers, &mut rows);
        widths = self::widths(headers, &rows);
        let narrowest = narrowest(headers, &rows);
        if needed(&narrowest) > view.screen.columns {
            return blocks(headers, &rows, view.screen.columns);
        }
        squeeze(&mut widths, &narrowest, view.screen.columns);
    }
    let header = headers.iter().map(|header| (*header).to_owned()).collect();
    let paint = view.is_some_and(|view| view.screen.coloured);
    let head = row_lines(&[header], &widths, |_, text| text);
    let body = row_lines(&rows, &widths, |column, text| {
        let colour = headers.get(column).filter(|_| paint).and_then(|header| colour(header, text.trim()));
        colour.map_or(text.clone(), |colour| format!("{colour}{text}\x1b[0m"))
    });
    head.into_iter().chain(body).collect()
}

/// The width of each column if nothing wraps.
fn widths(headers: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let widest =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).flat_map(|cell| cell.lines()).map(UnicodeWidthStr::width).max();
    headers.iter().enumerate().map(|(column, header)| header.width().max(widest(column).unwrap_or_default())).collect()
}

/// The width of a table with these columns.
fn needed(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The width of each column below which it cannot be read: that of its longest word, and of the whole name in the first one.
fn narrowest(headers: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let of_column = |(column, header): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.get(column).map(String::as_str)).chain([*header]);
        let longest = cells.flat_map(str::split_whitespace).map(UnicodeWidthStr::width).max().unwrap_or_default();
        if column == 0 { longest } else { longest.min(LONGEST_WORD) }
    };
    headers.iter().enumerate().map(of_column).collect()
}

/// Takes from the widest columns until the table fits.
fn squeeze(widths: &mut [usize], narrowest: &[usize], columns: usize) {
    while needed(widths) > columns {
        let can_give = widths.iter_mut().zip(narrowest).filter(|(width, narrowest)| **width > **narrowest);
        match can_give.max_by_key(|(width, _)| **width) {
            Some((widest, _)) => *widest -= 1,
            None => return,
        }
    }
}

/// The rows as blocks of lines, each with the name of its column.
fn blocks(headers: &[&str], rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let name_width = headers.iter().map(|header| header.width()).max().unwrap_or_default();
    let room = columns.saturating_sub(name_width + GAP).max(1);
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        lines.extend((at > 0).then(String::new));
        for (header, cell) in headers.iter().zip(row) {
            for (number, part) in wrap(cell, room).into_iter().enumerate() {
                let name = if number == 0 { *header } else { "" };
                lines.push(format!("{name:width$}{part}", width = name_width + GAP).trim_end().to_owned());
            }
        }
    }
    lines
}

/// Shortens ids to as many characters as tell those of a column apart.
fn shorten_ids(headers: &[&str], rows: &mut [Vec<String>]) {
    for (column, _) in headers.iter().enumerate().filter(|(_, header)| SHORTENED.contains(header)) {
        let mut ids: Vec<&str> = rows.iter().filter_map(|row| row.get(column)).map(String::as_str).collect();
        if ids.is_empty() || !ids.iter().all(|id| id.len() == 36 && Uuid::try_parse(id).is_ok()) {
            continue;
        }
        ids.sort_unstable();
        ids.dedup();
        let shared = ids.windows(2).filter_map(|pair| Some(common(pair.first()?, pair.get(1)?))).max().unwrap_or_default();
        let length = (shared + 1).max(SHORTEST_ID);
        rows.iter_mut().filter_map(|row| row.get_mut(column)).for_each(|id| id.truncate(length));
    }
}

/// The number of bytes with which both begin.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// The lines of these rows, with each cell wrapped to its column and painted.
fn row_lines(rows: &[Vec<String>], widths: &[usize], paint: impl Fn(usize, String) -> String) -> Vec<String> {
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let cells: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
            let mut line = String::new();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let text = cell.get(at).map_or("", String::as_str);
                let padding = width.saturating_sub(text.width()) + GAP;
                line.push_str(&paint(column, text.to_owned()));
                line.push_str(&" ".repeat(padding));
            }
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// The text in lines of at most `width`, broken between words. A longer word stays whole, so that it can be copied.
pub(super) fn wrap_words(text: &str, width: usize) -> Vec<String> {
    wrap_with(text, width, false)
}

/// The text in lines of at most `width`, broken between words, and in a word only if it is longer than that.
fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_with(text, width, true)
}

fn wrap_with(text: &str, width: usize, breaks_words: bool) -> Vec<String> {
    let mut wrapped = Vec::new();
    for line in text.split('\n') {
        let mut current = String::new();
        for word in line.split(' ') {
            if !current.is_empty() && current.width() + 1 + word.width() <= width {
                current.push(' ');
                current.push_str(word);
                continue;
            }
            if !current.is_empty() {
                wrapped.push(std::mem::take(&mut current));
            }
            for letter in word.chars() {
                if breaks_words && current.width() + letter.to_string().width() > width && !current.is_empty() {
                    wrapped.push(std::mem::take(&mut current));
                }
                current.push(letter);
            }
        }
        wrapped.push(current);
    }
    wrapped
}

/// A time in its own spelling, told by its age; `None` for any other text.
fn age(text: &str, now: DateTime<Utc>) -> Option<String> {
    // Spelled as we write it, so that no identifier is taken for a time.
    let at = time::read(text).filter(|at| time::write(*at) == text)?;
    let seconds = (now - at).num_seconds();
    let (number, unit) = match seconds.unsigned_abs() {
        0..=59 => (seconds.unsigned_abs(), "s"),
        60..=3_599 => (seconds.unsigned_abs() / 60, "min"),
        3_600..=86_399 => (seconds.unsigned_abs() / 3_600, "h"),
        86_400..=31_535_999 => (seconds.unsigned_abs() / 86_400, "d"),
        _ => return Some(at.format("%Y-%m-%d").to_string()),
    };
    Some(if seconds < 0 { format!("in {number} {unit}") } else { format!("{number} {unit} ago") })
}

/// The colour of a state.
fn colour(header: &str, state: &str) -> Option<&'static str> {
    const GREEN: [&str; 9] = ["live", "healthy", "delivered", "yes", "active", "done", "ok", "accepted", "resolved"];
    const YELLOW: [&str; 10] =
        ["paused", "onboarding", "owed", "retrying", "waiting", "needed", "deleting", "untried", "degraded", "expired"];
    const RED: [&str; 9] = ["failed", "failing", "no", "wrong", "missing", "refused", "revoked", "unreachable", "broken"];
    if !["STATE", "STATUS", "OK", "OUTCOME", "RESULT"].contains(&header) {
        return None;
    }
    let is_in = |words: &[&str]| words.contains(&state.to_lowercase().as_str());
    match () {
        () if is_in(&GREEN) => Some("\x1b[32m"),
        () if is_in(&YELLOW) => Some("\x1b[33m"),
        () if is_in(&RED) => Some("\x1b[31m"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;

    fn view(columns: usize) -> View {
        let now = time::read("2026-03-01T12:00:00Z").expect("a time");
        View { screen: Screen { columns, utc: false, coloured: false }, now }
    }

    fn cells(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn a_script_gets_everything_in_full() {
        let rows = cells(&[&["0195513c-9a00-7000-8000-000000000001", "2026-03-01T11:57:00Z", "a long reason that nobody wraps"]]);
        let lines = lines(&["ID", "AT", "WHY"], rows, None);
        assert_eq!(lines[1], "0195513c-9a00-7000-8000-000000000001  2026-03-01T11:57:00Z  a long reason that nobody wraps");
    }

    #[test]
    fn a_table_fits_the_terminal() {
        let rows = cells(&[
            &["0195513c-9a00-7000-8000-000000000001", "2026-03-01T11:57:00Z", "rma", "the endpoint answered 500"],
            &["0195513c-9a00-7000-8000-000000000002", "2026-02-27T11:57:00Z", "exchange_order", "it hangs"],
        ]);
        let shown = lines(&["MESSAGE", "AT", "INTERFACE", "WHY"], rows.clone(), Some(&view(100)));
        assert_eq!(shown[1], "0195513c-9a00-7000-8000-000000000001  3 min ago  rma             the endpoint answered 500");
        let shown = lines(&["MESSAGE", "AT", "INTERFACE", "WHY"], rows, Some(&view(60)));
        assert!(shown.iter().all(|line| line.width() <= 60), "{shown:#?}");
        assert!(shown.iter().any(|line| line.contains("2 d ago")), "{shown:#?}");
    }

    #[test]
    fn what_does_not_fit_is_shown_in_blocks() {
        let rows = cells(&[&["bhc_0yq3k5", "orders warehouse", "live"], &["bhc_8dk2m1", "orders", "revoked"]]);
        let shown = lines(&["CLIENT ID", "SCOPES", "STATE"], rows, Some(&view(24)));
        let expected = [
            "CLIENT ID  bhc_0yq3k5",
            "SCOPES     orders",
            "           warehouse",
            "STATE      live",
            "",
            "CLIENT ID  bhc_8dk2m1",
            "SCOPES     orders",
            "STATE      revoked",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn ids_keep_what_tells_them_apart() {
        let mut rows = cells(&[&["0195513c-9a00-7000-8000-000000000001"], &["0195513c-9a00-7001-8000-000000000001"]]);
        shorten_ids(&["MESSAGE"], &mut rows);
        assert_eq!(rows, cells(&[&["0195513c-9a00-7000"], &["0195513c-9a00-7001"]]));
        let mut alone = cells(&[&["0195513c-9a00-7000-8000-000000000001"]]);
        shorten_ids(&["MESSAGE"], &mut alone);
        assert_eq!(alone, cells(&[&["0195513c-9a00"]]));
        let mut asked_for = cells(&[&["0195513c-9a00-7000-8000-000000000001"]]);
        shorten_ids(&["REQUEST"], &mut asked_for);
        assert_eq!(asked_for, cells(&[&["0195513c-9a00-7000-8000-000000000001"]]), "no command takes a part of it");
    }

    #[test]
    fn times_are_told_by_their_age() {
        let now = view(80).now;
        let told = |by: TimeDelta| age(&time::write(now - by), now).expect("a time");
        let by = [TimeDelta::seconds(5), TimeDelta::minutes(90), TimeDelta::days(400), TimeDelta::hours(-3), TimeDelta::days(-2)];
        assert_eq!(by.map(told), ["5 s ago", "1 h ago", "2025-01-25", "in 3 h", "in 2 d"]);
        assert_eq!(age("20260301", now), None, "an identifier stays as it is");
    }

    #[test]
    fn states_are_coloured_and_nothing_else() {
        let coloured = View { screen: Screen { coloured: true, ..view(80).screen }, ..view(80) };
        let shown = lines(&["NAME", "STATE"], cells(&[&["live", "live"], &["b", "unheard of"]]), Some(&coloured));
        assert_eq!(shown[1..], ["live  \x1b[32mlive\x1b[0m", "b     unheard of"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal_and_nothing_is_lost(
            rows in prop::collection::vec(prop::collection::vec("[a-zé漢 ]{0,40}", 3), 0..6),
            columns in 30_usize..120,
        ) {
            let shown = lines(&["ONE", "TWO", "THREE"], rows.clone(), Some(&view(columns)));
            prop_assert!(shown.iter().all(|line| line.width() <= columns), "{shown:#?}");
            let letters = |texts: &[String]| {
                let mut letters: Vec<char> = texts.concat().chars().filter(|letter| *letter != ' ' && !letter.is_ascii_uppercase()).collect();
                letters.sort_unstable();
                letters
            };
            prop_assert_eq!(letters(&shown), letters(&rows.concat()));
        }
    }
}
