//! Money and dates as people read them, by language, currency and time zone.

use chrono::{DateTime, Datelike as _, NaiveDate, Timelike as _, Utc};
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
        self.language.locale().parse().unwrap_or(Locale::UNKNOWN)
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
        let symbol = known.map(|currency| currency.symbol().to_string()).filter(|symbol| is_common(symbol));
        let mut symbol = symbol.unwrap_or_else(|| currency.to_ascii_uppercase());
        if symbol.contains(char::is_alphabetic) {
            // Letters keep their distance from digits. Behind them there is nothing to keep it from.
            symbol.push('\u{a0}');
        }
        self.language.plain_text_with("money", [("symbol", symbol.into()), ("amount", digits.into())]).trim_end().to_owned()
    }

    /// A day, such as `4 December`.
    pub(crate) fn day(self, time: DateTime<Utc>) -> String {
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), MD::long()).ok()?.format(&self.date(time)?).to_string());
        format().map_or_else(|| iso_day(self, time), |day| self.first_of_month(day))
    }

    /// A day with its year, such as `4 December 2026`.
    pub(crate) fn day_of_year(self, time: DateTime<Utc>) -> String {
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), YMD::long()).ok()?.format(&self.date(time)?).to_string());
        format().map_or_else(|| iso_day(self, time), |day| self.first_of_month(day))
    }

    /// A day with its weekday, such as `Tuesday 15 December`.
    pub(crate) fn weekday(self, time: DateTime<Utc>) -> String {
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), MDE::long()).ok()?.format(&self.date(time)?).to_string());
        format().map_or_else(|| iso_day(self, time), |day| self.first_of_month(day))
    }

    /// A day with the time, such as `15 November, 10:53`.
    pub(crate) fn moment(self, time: DateTime<Utc>) -> String {
        let format = || {
            let local = LocalTime { date: self.date(time)?, time: self.clock(time)? };
            Some(DateTimeFormatter::try_new(self.locale().into(), MD::long().with_time_hm()).ok()?.format(&local).to_string())
        };
        format().map_or_else(|| iso_day(self, time), |moment| self.first_of_month(moment))
    }

    /// A time with its day and zone, such as `4 December at 11:20 CET`.
    pub(crate) fn moment_with_zone(self, time: DateTime<Utc>) -> String {
        format!("{} {}", self.moment(time), time.with_timezone(&self.zone).format("%Z"))
    }

    /// A time to the second, with its year and zone, such as `4 December 2026 at 11:20:05 CET`.
    pub(crate) fn exact_moment(self, time: DateTime<Utc>) -> String {
        let format = || {
            let local = LocalTime { date: self.date(time)?, time: self.clock(time)? };
            Some(DateTimeFormatter::try_new(self.locale().into(), YMD::long().with_time_hms()).ok()?.format(&local).to_string())
        };
        let moment = format().map_or_else(|| iso_day(self, time), |moment| self.first_of_month(moment));
        format!("{moment} {}", time.with_timezone(&self.zone).format("%Z"))
    }

    /// A calendar day with its year, such as `4 December 2026`.
    pub(crate) fn calendar_day(self, day: NaiveDate) -> String {
        let date = || Date::try_new_iso(day.year(), u8::try_from(day.month()).ok()?, u8::try_from(day.day()).ok()?).ok();
        let format = || Some(DateTimeFormatter::try_new(self.locale().into(), YMD::long()).ok()?.format(&date()?).to_string());
        format().map_or_else(|| day.to_string(), |day| self.first_of_month(day))
    }

    /// French counts the first day of a month: `1er décembre`. The day is the first number of every format.
    fn first_of_month(self, formatted: String) -> String {
        let is_first = || formatted.split(' ').find(|word| word.starts_with(|letter: char| letter.is_ascii_digit())) == Some("1");
        if self.language.code() == "fr" && is_first() { formatted.replacen("1 ", "1er ", 1) } else { formatted }
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
        let [hour, minute, second] = [local.hour(), local.minute(), local.second()].map(u8::try_from);
        Time::try_new(hour.ok()?, minute.ok()?, second.ok()?, 0).ok()
    }
}

/// False for symbols that run from right to left or that nobody uses: the currency's code says more.
fn is_common(symbol: &str) -> bool {
    symbol != "₣" && !symbol.contains(|letter| ('\u{590}'..'\u{900}').contains(&letter))
}

fn iso_day(words: Words, time: DateTime<Utc>) -> String {
    time.with_timezone(&words.zone).format("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::texts::Languages;

    /// The same in every language, in the order of the menu, and in the made-up one.
    fn in_each(shown: impl Fn(Words) -> String) -> Vec<String> {
        let each = Languages { pseudo: true }.iter();
        // Spaces that do not break look like others.
        each.map(|language| shown(Words { language, zone: Tz::Europe__Berlin }).replace(['\u{a0}', '\u{202f}'], "_")).collect()
    }

    #[test]
    fn money_is_written_as_each_language_does_with_the_decimals_of_its_currency() {
        let money = |cents: i64, currency: &str| in_each(|words| words.money(Cents::new(cents).unwrap(), currency));
        assert_eq!(money(123_456, "EUR"), ["€1,234.56", "1.234,56_€", "1234,56_€", "1_234,56_€", "€1,234.56"]);
        assert_eq!(money(5400, "usd"), ["$54.00", "54,00_$", "54,00_$", "54,00_$", "$54.00"]);
        assert_eq!(money(1_234_567, "JPY"), ["¥1,234,567", "1.234.567_¥", "1.234.567_¥", "1_234_567_¥", "¥1,234,567"]);
        assert_eq!(money(1_234, "KWD"), ["KWD_1.234", "1,234_KWD", "1,234_KWD", "1,234_KWD", "KWD_1.234"]);
        assert_eq!(money(5, "KWD"), ["KWD_0.005", "0,005_KWD", "0,005_KWD", "0,005_KWD", "KWD_0.005"]);
        assert_eq!(money(9_900, "SEK"), ["kr_99.00", "99,00_kr", "99,00_kr", "99,00_kr", "kr_99.00"]);
        assert_eq!(money(9_900, "CHF"), ["CHF_99.00", "99,00_CHF", "99,00_CHF", "99,00_CHF", "CHF_99.00"]);
        assert_eq!(money(100, "XQQ"), ["XQQ_1.00", "1,00_XQQ", "1,00_XQQ", "1,00_XQQ", "XQQ_1.00"]);
    }

    #[test]
    fn days_and_times_are_written_as_each_language_does() {
        // An hour later in Berlin.
        let time = "2026-12-15T10:20:00Z".parse().unwrap();
        assert_eq!(in_each(|words| words.day(time)), ["15 December", "15. Dezember", "15 de diciembre", "15 décembre", "15 December"]);
        assert_eq!(
            in_each(|words| words.day_of_year(time)),
            ["15 December 2026", "15. Dezember 2026", "15 de diciembre de 2026", "15 décembre 2026", "15 December 2026"]
        );
        assert_eq!(
            in_each(|words| words.weekday(time)),
            ["Tuesday 15 December", "Dienstag, 15. Dezember", "martes, 15 de diciembre", "mardi 15 décembre", "Tuesday 15 December"]
        );
        assert_eq!(
            in_each(|words| words.moment_with_zone(time)),
            [
                "15 December at 11:20 CET",
                "15. Dezember um 11:20 CET",
                "15 de diciembre a las 11:20 CET",
                "15 décembre à 11:20 CET",
                "15 December at 11:20 CET"
            ]
        );
    }

    #[test]
    fn a_receipt_has_the_time_to_the_second_and_the_year() {
        let time = "2026-12-15T10:20:05Z".parse().unwrap();
        assert_eq!(
            in_each(|words| words.exact_moment(time)),
            [
                "15 December 2026 at 11:20:05 CET",
                "15. Dezember 2026 um 11:20:05 CET",
                "15 de diciembre de 2026 a las 11:20:05 CET",
                "15 décembre 2026 à 11:20:05 CET",
                "15 December 2026 at 11:20:05 CET"
            ]
        );
        let day = NaiveDate::from_ymd_opt(2026, 12, 5).unwrap();
        assert_eq!(in_each(|words| words.calendar_day(day))[..2], ["5 December 2026", "5. Dezember 2026"]);
    }

    #[test]
    fn french_counts_the_first_day_of_a_month() {
        let shown = |time: &str| {
            let (words, time) = (Words { language: Languages::default().find("fr").unwrap(), zone: Tz::UTC }, time.parse().unwrap());
            [words.day(time), words.day_of_year(time), words.weekday(time), words.moment(time), words.exact_moment(time)]
        };
        let first = ["1er décembre", "1er décembre 2026", "mardi 1er décembre", "1er décembre à 11:01", "1er décembre 2026 à 11:01:01 UTC"];
        assert_eq!(shown("2026-12-01T11:01:01Z"), first);
        let later = ["21 décembre", "21 décembre 2026", "lundi 21 décembre", "21 décembre à 11:01", "21 décembre 2026 à 11:01:01 UTC"];
        assert_eq!(shown("2026-12-21T11:01:01Z"), later);
        let words = Words { language: Languages::default().find("fr").unwrap(), zone: Tz::UTC };
        assert_eq!(words.calendar_day(NaiveDate::from_ymd_opt(2026, 1, 1).unwrap()), "1er janvier 2026");
    }

    #[test]
    fn the_day_is_that_of_the_shop() {
        let late = "2026-12-15T23:30:00Z".parse().unwrap();
        assert_eq!(Words { language: Language::default(), zone: Tz::Europe__Berlin }.day(late), "16 December");
    }

    proptest::proptest! {
        #[test]
        fn no_digit_of_an_amount_is_lost(cents in 0..=10_i64.pow(12), currency in 0..3_usize) {
            for shown in in_each(|words| words.money(Cents::new(cents).unwrap(), ["JPY", "USD", "KWD"][currency])) {
                let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
                proptest::prop_assert_eq!(digits.parse::<i64>().unwrap(), cents, "{}", shown);
            }
        }
    }
}
