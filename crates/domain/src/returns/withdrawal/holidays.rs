//! Working days: all but Saturdays, Sundays and public holidays.
//!
//! A day counts as a public holiday if the law of the country makes it one
//!
//! - in the whole country, or in a state or region of it, because the region of an address is not looked up; not if only in towns,
//! - for the whole day or a part of it, even if people work on it,
//! - or if the country's own rules on periods equate it with one: eves in Denmark, Finland and Sweden, Good Friday in Austria and the
//!   Netherlands.
//!
//! So a period may end a little later than the law asks for. The law is that of 2026, whatever the year. Two kinds of holidays are not
//! known: those that are declared for one year (mourning, elections, bridges between holidays), and the Islamic feasts of Ceuta and
//! Melilla, which follow the moon.

mod calendar;

use std::collections::BTreeSet;

use chrono::{Datelike, Days, NaiveDate, TimeDelta, Weekday};

use self::calendar::{Calendar, Day, Moving};
use super::country::Country;
use super::easter;

/// True if the day is neither a Saturday, a Sunday nor a public holiday.
#[must_use]
pub fn is_working_day(country: Country, day: NaiveDate) -> bool {
    !is_weekend(day) && !in_year(country, day.year()).contains(&day)
}

fn date(year: i32, day: Day) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, day / 100, day % 100)
}

fn is_weekend(day: NaiveDate) -> bool {
    matches!(day.weekday(), Weekday::Sat | Weekday::Sun)
}

/// The public holidays of a year. Substitutes stay within the year: none follows a day later than 26 December.
fn in_year(country: Country, year: i32) -> BTreeSet<NaiveDate> {
    let Calendar { fixed, after_weekend, after_sunday, moving } = Calendar::of(country);
    let date = |day: &Day| date(year, *day);
    let Some(easter) = easter_sunday(country, year) else { return BTreeSet::new() };
    let mut days: BTreeSet<NaiveDate> = [fixed, after_weekend, after_sunday].into_iter().flatten().filter_map(date).collect();
    days.extend(moving.iter().filter_map(|moving| moving.in_year(year, easter)));
    for day in after_weekend.iter().filter_map(date).filter(|day| is_weekend(*day)) {
        days.extend(day.iter_days().find(|next| !is_weekend(*next) && !days.contains(next)));
    }
    days.extend(after_sunday.iter().filter_map(date).filter(|day| day.weekday() == Weekday::Sun).filter_map(|day| day.succ_opt()));
    days
}

/// Easter Sunday of the church that the country's holidays follow.
fn easter_sunday(country: Country, year: i32) -> Option<NaiveDate> {
    match country {
        Country::Bulgaria | Country::Cyprus | Country::Greece | Country::Romania => easter::orthodox(year),
        _ => easter::western(year),
    }
}

impl Moving {
    fn in_year(self, year: i32, easter: NaiveDate) -> Option<NaiveDate> {
        let after_easter = |days| easter.checked_add_signed(TimeDelta::days(days));
        match self {
            Self::Easter(days) => after_easter(days),
            Self::From(weekday, day) => {
                let first = date(year, day)?;
                first.checked_add_days(Days::new(u64::from(weekday.days_since(first.weekday()))))
            }
            Self::SaintBrigid => {
                let first = date(year, 201)?;
                if first.weekday() == Weekday::Fri { Some(first) } else { Self::From(Weekday::Mon, 201).in_year(year, easter) }
            }
            Self::MayDayAfterEaster => {
                let may_day = date(year, 501)?;
                after_easter(2).filter(|_| (-6..=1).contains(&(may_day - easter).num_days()))
            }
        }
    }
}
