//! Easter Sunday, for the years of the Gregorian calendar.

use chrono::{Days, NaiveDate};

/// Easter of the western churches, by the anonymous algorithm that Meeus published.
pub(super) fn western(year: i32) -> Option<NaiveDate> {
    let (golden, century, rest) = (year % 19, year / 100, year % 100);
    let correction = (century - (century + 8) / 25 + 1) / 3;
    let epact = (19 * golden + century - century / 4 - correction + 15) % 30;
    let weekday = (32 + 2 * (century % 4) + 2 * (rest / 4) - epact - rest % 4) % 7;
    let late = (golden + 11 * epact + 22 * weekday) / 451;
    after_21_march(year, epact + weekday - 7 * late + 1)
}

/// Easter of the Orthodox churches: reckoned in the Julian calendar, by Meeus' algorithm, and moved by its lag.
pub(super) fn orthodox(year: i32) -> Option<NaiveDate> {
    let moon = (19 * (year % 19) + 15) % 30;
    let weekday = (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7;
    let lag = year / 100 - year / 400 - 2;
    after_21_march(year, moon + weekday + 1 + lag)
}

fn after_21_march(year: i32, days: i32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, 3, 21)?.checked_add_days(Days::new(u64::try_from(days).ok()?))
}

#[cfg(test)]
mod tests {
    use chrono::{Datelike, Weekday};
    use proptest::prelude::*;

    use super::*;

    /// Year, western, Orthodox; as month and day.
    const KNOWN: [(i32, &str, &str); 15] = [
        (2024, "03-31", "05-05"),
        (2025, "04-20", "04-20"),
        (2026, "04-05", "04-12"),
        (2027, "03-28", "05-02"),
        (2028, "04-16", "04-16"),
        (2029, "04-01", "04-08"),
        (2030, "04-21", "04-28"),
        (2031, "04-13", "04-13"),
        (2032, "03-28", "05-02"),
        (2033, "04-17", "04-24"),
        (2034, "04-09", "04-09"),
        (2035, "03-25", "04-29"),
        (2036, "04-13", "04-20"),
        (2037, "04-05", "04-05"),
        (2038, "04-25", "04-25"),
    ];

    #[test]
    fn easter_is_when_the_churches_celebrate_it() {
        let date = |year: i32, day: &str| format!("{year}-{day}").parse::<NaiveDate>().ok();
        for (year, west, east) in KNOWN {
            assert_eq!((western(year), orthodox(year)), (date(year, west), date(year, east)), "{year}");
        }
        // The earliest and the latest there can be, and a year in which the plain rule is off by a week.
        assert_eq!(
            [1818, 1943, 1954, 1981].map(western),
            [date(1818, "03-22"), date(1943, "04-25"), date(1954, "04-18"), date(1981, "04-19")]
        );
    }

    proptest! {
        #[test]
        fn easter_is_a_sunday_in_spring_and_the_orthodox_one_is_never_first(year in 1900..2100) {
            let (west, east) = (western(year).expect("a date"), orthodox(year).expect("a date"));
            prop_assert_eq!((west.weekday(), east.weekday()), (Weekday::Sun, Weekday::Sun));
            prop_assert!((3, 22) <= (west.month(), west.day()) && (west.month(), west.day()) <= (4, 25));
            prop_assert!(west <= east && (east - west).num_days() <= 35);
        }
    }
}
