//! Time spans as people write them: `30m`, `6h`, `1d12h`.

use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;

/// The units, from the largest, with their seconds.
const UNITS: [(char, i64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// A stretch of time, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(TimeDelta);

/// The reasons a text is not a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSpan {
    #[error("a time span must be given in days, hours, minutes and seconds, such as 6h, 30m or 1d12h")]
    Unreadable,
    #[error("the clock can only be moved forward")]
    Backward,
    #[error("the clock must be moved by at least one second")]
    Nothing,
    #[error("the clock can be moved by at most ten years")]
    TooLong,
}

impl Span {
    /// The most that a clock can be ahead: ten years of 365 days.
    pub const MOST: Self = Self(TimeDelta::days(3_650));

    /// The span of `time`, without fractions of a second.
    #[must_use]
    pub fn of(time: TimeDelta) -> Self {
        Self(TimeDelta::seconds(time.num_seconds()))
    }

    /// The span as a [`TimeDelta`].
    #[must_use]
    pub fn time(self) -> TimeDelta {
        self.0
    }
}

/// Each unit at most once, larger units first.
impl FromStr for Span {
    type Err = NoSpan;

    fn from_str(text: &str) -> Result<Self, NoSpan> {
        if let Some(rest) = text.strip_prefix('-') {
            return Err(if rest.parse::<Self>() == Err(NoSpan::Unreadable) { NoSpan::Unreadable } else { NoSpan::Backward });
        }
        let (mut rest, mut seconds) = (text, 0_i64);
        for (unit, each) in UNITS {
            let Some((count, after)) = rest.split_once(unit) else { continue };
            if count.is_empty() || !count.bytes().all(|digit| digit.is_ascii_digit()) {
                return Err(NoSpan::Unreadable);
            }
            // A count that does not fit is too long in any unit.
            let count: i64 = count.parse().unwrap_or(i64::MAX);
            seconds = seconds.saturating_add(count.saturating_mul(each));
            rest = after;
        }
        match seconds {
            _ if text.is_empty() || !rest.is_empty() => Err(NoSpan::Unreadable),
            0 => Err(NoSpan::Nothing),
            _ if seconds > Self::MOST.0.num_seconds() => Err(NoSpan::TooLong),
            _ => Ok(Self(TimeDelta::seconds(seconds))),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.num_seconds();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, each) in UNITS {
            let count = rest / each;
            rest %= each;
            if count != 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_is_read_as_people_write_it() {
        for (text, seconds) in
            [("6h", 21_600), ("30m", 1_800), ("2d", 172_800), ("1d12h", 129_600), ("90s", 90), ("1d1s", 86_401), ("05m", 300)]
        {
            assert_eq!(text.parse::<Span>().map(|span| span.0.num_seconds()), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_refused_with_the_reason() {
        for text in ["", "6", "h", "6 h", "6H", "12h1d", "6h6h", "1.5h", "+6h", "6w", "d6", "-", "tomorrow", "٣h"] {
            assert_eq!(text.parse::<Span>(), Err(NoSpan::Unreadable), "{text}");
        }
        for (text, why) in [
            ("-6h", NoSpan::Backward),
            ("-0s", NoSpan::Backward),
            ("--6h", NoSpan::Backward),
            ("0h", NoSpan::Nothing),
            ("0d0s", NoSpan::Nothing),
            ("3650d1s", NoSpan::TooLong),
            ("99999999999999999999d", NoSpan::TooLong),
            ("9223372036854775807d9223372036854775807h", NoSpan::TooLong),
        ] {
            assert_eq!(text.parse::<Span>(), Err(why), "{text}");
        }
        assert_eq!("3650d".parse(), Ok(Span::MOST));
    }

    proptest! {
        #[test]
        fn a_span_that_is_written_is_read_again(seconds in 1..=Span::MOST.0.num_seconds()) {
            let span = Span::of(TimeDelta::seconds(seconds));
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn no_text_breaks_the_reader(text in "[-0-9dhms ]{0,40}") {
            if let Ok(span) = text.parse::<Span>() {
                prop_assert!(span.time() > TimeDelta::zero() && span.time() <= Span::MOST.time());
            }
        }
    }
}
