//! Colours of eight bits a channel, and their contrast.

use std::fmt;
use std::str::FromStr;

/// An sRGB colour, written as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour([u8; 3]);

/// The text is not a [`Colour`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a colour as # and six hexadecimal digits, such as #2340c7")]
pub struct NoColour;

impl Colour {
    /// The colour of these channels.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }

    /// The colour with `per_cent` of it painted over `ground`, mixed as browsers mix sRGB.
    pub(super) fn over(self, ground: Self, per_cent: u8) -> Self {
        let part = f64::from(per_cent) / 100.0;
        let mix = |mine: u8, its: u8| eight_bits((f64::from(mine) * part + f64::from(its) * (1.0 - part)) / 255.0);
        let (Self([red, green, blue]), Self(under)) = (self, ground);
        Self([mix(red, under[0]), mix(green, under[1]), mix(blue, under[2])])
    }

    /// The contrast ratio of WCAG 2, from 1 to 21.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (mine, its) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if mine > its { mine / its } else { its / mine }
    }

    /// The relative luminance of WCAG 2, from 0 to 1.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// The channels as amounts of light, from 0 to 1.
    pub(super) fn linear(self) -> [f64; 3] {
        self.0.map(|channel| {
            let level = f64::from(channel) / 255.0;
            if level <= 0.040_45 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// The nearest colour to amounts of light.
    pub(super) fn from_linear(light: [f64; 3]) -> Self {
        Self(light.map(|light| {
            let level = if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
            eight_bits(level)
        }))
    }
}

/// A level from 0 to 1 as the nearest of 256.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of eight bits")]
fn eight_bits(level: f64) -> u8 {
    (level.clamp(0.0, 1.0) * 255.0).round() as u8
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Colour {
    type Err = NoColour;

    fn from_str(text: &str) -> Result<Self, NoColour> {
        let digits = text.strip_prefix('#').ok_or(NoColour)?;
        if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(NoColour);
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).map_err(|_| NoColour)?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn colour(text: &str) -> Colour {
        text.parse().expect("a colour")
    }

    #[test]
    fn a_colour_is_six_digits() {
        assert_eq!(colour("#2340C7"), Colour::new(0x23, 0x40, 0xc7));
        for text in ["", "#", "2340c7", "#2340c", "#2340c71", "#23 0c7", "#+2340c", "#2340cg", "#ééé", "red", " #2340c7"] {
            assert_eq!(text.parse::<Colour>(), Err(NoColour), "{text}");
        }
    }

    /// As the published checkers of contrast have it; #767676 is the lightest grey and #777777 the first that fails on white.
    #[test]
    fn contrast_is_that_of_wcag() {
        for (one, other, ratio) in [
            ("#000000", "#ffffff", 21.0),
            ("#767676", "#ffffff", 4.54),
            ("#777777", "#ffffff", 4.48),
            ("#ff0000", "#ffffff", 4.00),
            ("#0000ff", "#ffffff", 8.59),
            ("#ffff00", "#ffffff", 1.07),
            ("#abcdef", "#abcdef", 1.0),
        ] {
            let found = colour(one).contrast(colour(other));
            assert!((found - ratio).abs() < 0.005, "{one} on {other}: {found}");
            assert!((found - colour(other).contrast(colour(one))).abs() < 1e-12);
        }
    }

    #[test]
    fn a_tint_is_mixed_channel_by_channel() {
        let (blue, white) = (colour("#2340c7"), colour("#ffffff"));
        assert_eq!(blue.over(white, 8).to_string(), "#edf0fb");
        assert_eq!((blue.over(white, 0), blue.over(white, 100)), (white, blue));
    }

    proptest! {
        #[test]
        fn every_colour_is_read_as_it_is_written_and_survives_linear_light(channels: [u8; 3]) {
            let colour = Colour(channels);
            prop_assert_eq!(colour.to_string().parse(), Ok(colour));
            prop_assert_eq!(Colour::from_linear(colour.linear()), colour);
        }
    }
}
