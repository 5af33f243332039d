//! Money and dates as people read them, by language, currency and time zone.

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use chrono_tz::Tz;
use domain::money::Cents;
use fixed_decimal::Decimal;
use icu_calendar::Iso;
use icu_datetime::DateTimeFormatter;
use icu_datetime::fieldsets::{MD, MDE, YMD};
use icu_datetime::input::{Date, DateTime as LocalTime, Time};
use icu_decimal::DecimalFormatter;
use icu_decimal::options::DecimalFormatterOptions;
use icu_locale_core::Locale;
use iso_currency::Currency;

use crate::platform::texts::Language;

/// The formats of one reader.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) language: Language,
    pub(crate) zone: Tz,
}

impl Words {
    fn locale(self) -> Locale {
        // Most of the world writes the day first, in English too.
        let code = if self.language.code() == "en" { "en-GB" } else { self.language.code() };
        code.parse().unwrap_or(Locale::UNKNOWN)
    }

    /// An amount with its currency, such as `€107.10`.
    pub(crate) fn money(self, amount: Cents, currency: &str) -> String {
        let known = Currency::from_code(&currency.to_ascii_uppercase());
        let decimals = known.and_then(Currency::exponent).and_then(|exponent| i16::try_from(exponent).ok()).unwrap_or(2);
        let mut number = Decimal::from(amount.get());
        number.multiply_pow10(-decimals);
        number.pad_end(-decimals);
        let digits = match DecimalFormatter::try_new(self.locale().into(), DecimalFormatterOptions::default()) {
            Ok(formatter) => formatter.format(&number).to_string(),
            Err(_) => number.to_string(),
        };
        let symbol = known.map_or_else(|| currency.to_ascii_uppercase(), |currency| currency.symbol().to_string());
        self.language.text_with("money", [("symbol", symbol.into()), ("amount", digits.into())])
    }

    /// A day, such as `4 December`.
    pub(crate) fn day(self, time: DateTime<Utc>) -> String {
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), MD::long()).ok()?.format(&self.date(time)?).to_string());
        format().unwrap_or_else(|| iso_day(self, time))
    }

    /// A day with its year, such as `4 December 2026`.
    pub(crate) fn day_of_year(self, time: DateTime<Utc>) -> String {
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), YMD::long()).ok()?.format(&self.date(time)?).to_string());
        format().unwrap_or_else(|| iso_day(self, time))
    }

    /// A day with its weekday, such as `Tuesday 15 December`.
    pub(crate) fn weekday(self, time: DateTime<Utc>) -> String {
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), MDE::long()).ok()?.format(&self.date(time)?).to_string());
        format().unwrap_or_else(|| iso_day(self, time))
    }

    /// A day with the time, such as `15 November, 10:53`.
    pub(crate) fn moment(self, time: DateTime<Utc>) -> String {
        let format = || {
            let local = LocalTime { date: self.date(time)?, time: self.clock(time)? };
            Some(DateTimeFormatter::try_new(self.locale().into(), MD::long().with_time_hm()).ok()?.format(&local).to_string())
        };
        format().unwrap_or_else(|| iso_day(self, time))
    }

    /// A time with its day and zone, such as `4 December at 11:20 CET`.
    pub(crate) fn moment_with_zone(self, time: DateTime<Utc>) -> String {
        format!("{} {}", self.moment(time), time.with_timezone(&self.zone).format("%Z"))
    }

    /// A day for the `datetime` attribute.
    pub(crate) fn machine_day(self, time: DateTime<Utc>) -> String {
        iso_day(self, time)
    }

    /// A time for the `datetime` attribute.
    pub(crate) fn machine_time(self, time: DateTime<Utc>) -> String {
        time.with_timezone(&self.zone).format("%Y-%m-%dT%H:%M").to_string()
    }

    fn date(self, time: DateTime<Utc>) -> Option<Date<Iso>> {
        let local = time.with_timezone(&self.zone);
        Date::try_new_iso(local.year(), u8::try_from(local.month()).ok()?, u8::try_from(local.day()).ok()?).ok()
    }

    fn clock(self, time: DateTime<Utc>) -> Option<Time> {
        let local = time.with_timezone(&self.zone);
        Time::try_new(u8::try_from(local.hour()).ok()?, u8::try_from(local.minute()).ok()?, 0, 0).ok()
    }
}

fn iso_day(words: Words, time: DateTime<Utc>) -> String {
    time.with_timezone(&words.zone).format("%Y-%m-%d").to_string()
}
