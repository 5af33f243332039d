//! The shapes of the plots of reports: bars above and below a line, and lines on a logarithmic scale.

use chrono::TimeDelta;
use domain::messages::promptness::{BOUNDS, LONGER};

use super::view::span;

/// The width of a day, and of its bar.
const STEP: i32 = 40;
const BAR: i32 = 32;
/// The plot of bars: where the line is, and the room above and below it.
const LINE: i64 = 70;
const ABOVE: i64 = 66;
const BELOW: i64 = 28;

/// A bar.
pub(super) struct Bar {
    pub(super) class: &'static str,
    pub(super) x: i32,
    pub(super) y: i64,
    pub(super) width: i32,
    pub(super) height: i64,
}

/// Bars above a line and below it, on the same scale.
pub(super) struct Bars {
    pub(super) width: i32,
    pub(super) line: i64,
    pub(super) all: Vec<Bar>,
}

impl Bars {
    /// Draws, for each day, how many are above the line and how many below it.
    pub(super) fn new(days: &[(i64, i64)]) -> Self {
        let (most_above, most_below) = days.iter().fold((0, 0), |(above, below), day| (above.max(day.0), below.max(day.1)));
        // As many a unit of height as fit on both sides; a single one is still to be seen.
        let per_unit = per_unit(most_above, ABOVE).max(per_unit(most_below, BELOW));
        let height = |count: i64, room: i64| if count == 0 { 0 } else { (count * SCALE / per_unit).clamp(2, room) };
        let mut bars = Vec::new();
        let mut x = 0;
        for (above, below) in days {
            let (up, down) = (height(*above, ABOVE), height(*below, BELOW));
            if up > 0 {
                bars.push(Bar { class: "f-ok", x, y: LINE - 1 - up, width: BAR, height: up });
            }
            if down > 0 {
                bars.push(Bar { class: "f-bad", x, y: LINE + 1, width: BAR, height: down });
            }
            x += STEP;
        }
        Self { width: x, line: LINE, all: bars }
    }
}

/// Heights are computed in thousandths of a unit.
const SCALE: i64 = 1_000;

/// How many thousandths a unit of height stands for, so that `most` fits into `room`.
fn per_unit(most: i64, room: i64) -> i64 {
    (most * SCALE).div_euclid(room).max(1)
}

/// The words beside the scale of times, from the top: a day, and then a quarter of the height each.
pub(super) const TIMES: [&str; 5] = ["1 day", "27 min", "29 s", "0.5 s", "10 ms"];

/// A line through the days that have a time; a day alone is a short dash.
pub(super) fn line(times: &[Option<i64>]) -> String {
    let mut drawn = Vec::new();
    let mut x = STEP / 2;
    let mut before = false;
    for (at, time) in times.iter().enumerate() {
        if let Some(ms) = time {
            let after = times.get(at + 1).is_some_and(Option::is_some);
            let y = height(*ms);
            drawn.push(match (before, after) {
                (true, _) => format!("L{x} {y:.1}"),
                (false, true) => format!("M{x} {y:.1}"),
                (false, false) => format!("M{} {y:.1}h{}", x - STEP / 4, STEP / 2),
            });
        }
        before = time.is_some();
        x += STEP;
    }
    drawn.concat()
}

/// The place of a time between 10 ms at the bottom, 100, and a day at the top, 0.
fn height(ms: i64) -> f64 {
    let (least, most) = (BOUNDS.first().copied().unwrap_or(1), BOUNDS.last().copied().unwrap_or(1));
    let log = |ms: i64| u32::try_from(ms).map_or(0.0, f64::from).log10();
    let part = (log(ms.clamp(least, most)) - log(least)) / (log(most) - log(least));
    100.0 - part * 100.0
}

/// A time in words. It is a bound: what it stands for took at most so long.
pub(super) fn time(ms: i64) -> String {
    match ms {
        LONGER => "more than a day".to_owned(),
        ms if ms < 1_000 => format!("{ms} ms"),
        ms if ms < 60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        ms if ms < 600_000 => span(TimeDelta::milliseconds(ms)),
        // Longer ones are told to the minute, and never as too short.
        ms => span(TimeDelta::minutes((ms + 59_999) / 60_000)),
    }
}

/// The width of a bar of 100 that stands for `part` of `most`, to a tenth.
pub(super) fn share(part: i64, most: i64) -> String {
    let tenths = (part * 1_000).checked_div(most).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_share_a_scale_and_the_smallest_is_seen() {
        let plot = Bars::new(&[(1_000, 0), (500, 1), (0, 0)]);
        let drawn: Vec<(&str, i32, i64, i64)> = plot.all.iter().map(|bar| (bar.class, bar.x, bar.y, bar.height)).collect();
        assert_eq!(drawn, [("f-ok", 0, 3, 66), ("f-ok", 40, 36, 33), ("f-bad", 40, 71, 2)]);
        assert_eq!(plot.width, 120);
        // What failed does not leave the plot, however much it is.
        let plot = Bars::new(&[(10, 1_000)]);
        assert!(plot.all.iter().all(|bar| bar.y >= 0 && bar.y + bar.height <= 100));
        assert!(Bars::new(&[(0, 0)]).all.is_empty());
    }

    #[test]
    fn lines_are_logarithmic_and_break_where_there_is_nothing() {
        assert_eq!(line(&[Some(10), Some(86_400_000), None, Some(LONGER)]), "M20 100.0L60 0.0M130 0.0h20");
        assert_eq!(line(&[None]), "");
        assert_eq!([height(10), height(86_400_000)].map(|y| format!("{y:.0}")), ["100", "0"]);
        assert!((height(29_000) - 50.0).abs() < 1.0 && (height(540) - 75.0).abs() < 1.0, "as the words beside the scale say");
    }

    #[test]
    fn times_and_shares_are_told_briefly() {
        assert_eq!(
            [10, 630, 1_600, 63_000, 4_000_000, 86_400_000, LONGER].map(time),
            ["10 ms", "630 ms", "1.6 s", "1 min 3 s", "1 h 7 min", "1 day", "more than a day"]
        );
        assert_eq!([share(0, 0), share(1, 3), share(3, 3)], ["0.0", "33.3", "100.0"]);
    }
}
