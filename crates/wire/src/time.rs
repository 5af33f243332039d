//! Timestamps as merchants write them.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeZone, Utc};

/// Reads an ISO 8601 time in the extended or the basic form: a calendar date, alone or followed by `T` or a space and a time of
/// day, with or without seconds, a fraction and an offset. Without an offset it is UTC; without a time of day it is midnight. The instant is
/// truncated to the microsecond, the database's resolution, so that a time compares equal to its stored value.
#[must_use]
pub fn read(text: &str) -> Option<DateTime<Utc>> {
    let mut rest = Rest(text.as_bytes());
    let date = rest.date()?;
    if rest.0.is_empty() {
        return Some(date.and_time(NaiveTime::MIN).and_utc());
    }
    rest.one_of(b"Tt ")?;
    let time = rest.time()?;
    let offset = rest.offset()?;
    if !rest.0.is_empty() {
        return None;
    }
    let local = NaiveDateTime::new(date, time);
    Some(offset.from_local_datetime(&local).single()?.with_timezone(&Utc))
}

/// Reads a calendar day, such as `2026-03-01` or `20260301`.
#[must_use]
pub fn read_day(text: &str) -> Option<NaiveDate> {
    let mut rest = Rest(text.as_bytes());
    rest.date().filter(|_| rest.0.is_empty())
}

/// Writes a time as in every response: UTC, ending in `Z`.
#[must_use]
pub fn write(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// The text that is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    /// A number of exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |sum: u32, digit| digit.is_ascii_digit().then(|| sum * 10 + u32::from(digit - b'0')))
    }

    fn date(&mut self) -> Option<NaiveDate> {
        let year = self.number(4)?;
        let extended = self.one_of(b"-").is_some();
        let month = self.number(2)?;
        if extended {
            self.one_of(b"-")?;
        }
        NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, self.number(2)?)
    }

    fn time(&mut self) -> Option<NaiveTime> {
        let hour = self.number(2)?;
        let extended = self.one_of(b":").is_some();
        let minute = self.number(2)?;
        let seconds = if extended { self.one_of(b":").is_some() } else { self.0.first().is_some_and(u8::is_ascii_digit) };
        let second = if seconds { self.number(2)? } else { 0 };
        let micros = if self.one_of(b".,").is_some() { self.fraction()? } else { 0 };
        NaiveTime::from_hms_micro_opt(hour, minute, second, micros)
    }

    /// The digits after the decimal point, as microseconds; further digits are dropped.
    fn fraction(&mut self) -> Option<u32> {
        let mut micros = self.number(1)? * 100_000;
        let mut unit = 10_000;
        while self.0.first().is_some_and(u8::is_ascii_digit) {
            micros += self.number(1)? * unit;
            unit /= 10;
        }
        Some(micros)
    }

    fn offset(&mut self) -> Option<FixedOffset> {
        let seconds = match self.one_of(b"Zz+-") {
            None | Some(b'Z' | b'z') => 0,
            Some(sign) => {
                let hours = self.number(2)?;
                let colon = self.one_of(b":").is_some();
                let minutes = if colon || !self.0.is_empty() { self.number(2)? } else { 0 };
                if hours > 23 || minutes > 59 {
                    return None;
                }
                let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
                if sign == b'-' { -seconds } else { seconds }
            }
        };
        FixedOffset::east_opt(seconds)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_that_merchants_write_are_read() {
        let same = "2026-03-01T12:30:00Z";
        for text in [
            same,
            "2026-03-01t12:30:00z",
            "2026-03-01T12:30:00.000Z",
            "2026-03-01 12:30:00",
            "2026-03-01T12:30",
            "2026-03-01T13:30:00+01:00",
            "2026-03-01T05:00:00-0730",
            "2026-03-01T13:30+01",
            "2026-03-01T12:30:00.0000009Z",
            "2026-03-01T12:30:00,000Z",
            "20260301T123000Z",
            "20260301T1230Z",
            "20260301T123000",
            "20260301T123000.000Z",
            "20260301T133000,0+0100",
            "20260301T1330+01",
            "20260301T123000-00:00",
        ] {
            assert_eq!(read(text).map(write).as_deref(), Some(same), "{text}");
        }
        assert_eq!(read("2026-03-01").map(write).as_deref(), Some("2026-03-01T00:00:00Z"));
        assert_eq!(read("20260301").map(write).as_deref(), Some("2026-03-01T00:00:00Z"));
        assert_eq!(read("2026-03-01T00:00:00.123456789Z").map(write).as_deref(), Some("2026-03-01T00:00:00.123456Z"));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "yesterday",
            "2026",
            "2026-3-1",
            "2026-02-30",
            "2026-03-01T",
            "2026-03-01T24:00",
            "2026-03-01T12",
            "2026-03-01T12:30:60Z",
            "2026-03-01T12:30:00.Z",
            "2026-03-01T12:30:00+",
            "2026-03-01T12:30:00+1",
            "2026-03-01T12:30:00+24:00",
            "2026-03-01T12:30:00Z ",
            "1772368200",
            "202603-01",
            "2026-0301",
            "20260230",
            "20260301T12",
            "20260301T12300Z",
            "20260301T12:3000Z",
            "20260301T123000+1",
            "٢٠٢٦-03-01",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(micros in -62_000_000_000_000_000_i64..250_000_000_000_000_000) {
            let time = DateTime::from_timestamp_micros(micros).expect("in range");
            prop_assert_eq!(read(&write(time)), Some(time));
        }

        #[test]
        fn a_day_that_is_written_is_read_back(days in 0_i32..3_000_000) {
            let day = NaiveDate::from_num_days_from_ce_opt(days).expect("in range");
            prop_assert_eq!(read_day(&day.to_string()), Some(day));
            prop_assert_eq!(read_day(&format!("{day}T00:00:00Z")), None);
        }

        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "[0-9TtZz:.,+ -]{0,40}") {
            let _ = (read(&text), read_day(&text));
        }

        #[test]
        fn offsets_agree_with_a_second_reader(micros in 0_i64..4_000_000_000_000_000, minutes in -1439_i32..=1439) {
            let offset = FixedOffset::east_opt(minutes * 60).expect("in range");
            let time = DateTime::from_timestamp_micros(micros).expect("in range").with_timezone(&offset);
            prop_assert_eq!(read(&time.to_rfc3339()), Some(time.with_timezone(&Utc)));
            prop_assert_eq!(read(&time.format("%Y%m%dT%H%M%S%.6f%z").to_string()), Some(time.with_timezone(&Utc)));
        }
    }
}
