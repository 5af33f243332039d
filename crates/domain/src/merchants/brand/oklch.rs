//! Colours by lightness, chroma and hue in OKLCH, where equal steps look equal and a hue stays itself when its lightness moves.
//!
//! The matrices are those of Björn Ottosson's "A perceptual color space for image processing".

use super::colour::Colour;

/// A colour by lightness (0 to 1), chroma (0 is grey) and hue (radians).
#[derive(Clone, Copy, Debug)]
pub(super) struct Oklch {
    pub(super) lightness: f64,
    chroma: f64,
    hue: f64,
}

impl From<Colour> for Oklch {
    fn from(colour: Colour) -> Self {
        let [red, green, blue] = colour.linear();
        // The responses of the eye's cones to long, medium and short waves.
        let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
        let medium = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
        let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
        let lightness = 0.210_454_255_3 * long + 0.793_617_785_0 * medium - 0.004_072_046_8 * short;
        let a = 1.977_998_495_1 * long - 2.428_592_205_0 * medium + 0.450_593_709_9 * short;
        let b = 0.025_904_037_1 * long + 0.782_771_766_2 * medium - 0.808_675_766_0 * short;
        Self { lightness, chroma: a.hypot(b), hue: b.atan2(a) }
    }
}

impl Oklch {
    pub(super) fn with_lightness(self, lightness: f64) -> Self {
        Self { lightness, ..self }
    }

    /// The colour, with as much of its chroma as a screen can show at this lightness.
    pub(super) fn nearest(self) -> Colour {
        if is_shown(self.linear()) {
            return Colour::from_linear(self.linear());
        }
        let (mut shown, mut beyond) = (0.0, self.chroma);
        // Each round halves the doubt about a chroma of at most 0.33; after twelve it is far below a step of eight bits.
        for _ in 0..12 {
            let middle = f64::midpoint(shown, beyond);
            if is_shown(Self { chroma: middle, ..self }.linear()) {
                shown = middle;
            } else {
                beyond = middle;
            }
        }
        Colour::from_linear(Self { chroma: shown, ..self }.linear())
    }

    /// The amounts of red, green and blue light; outside of 0 to 1 if a screen cannot show the colour.
    fn linear(self) -> [f64; 3] {
        let (a, b) = (self.chroma * self.hue.cos(), self.chroma * self.hue.sin());
        let long = (self.lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let medium = (self.lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let short = (self.lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
        [
            4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
            -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
            -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
        ]
    }
}

/// True if a screen can show this light, but for errors of rounding.
fn is_shown(light: [f64; 3]) -> bool {
    light.into_iter().all(|channel| (-1e-6..=1.0 + 1e-6).contains(&channel))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The values of CSS Color 4, with the hue in degrees.
    #[test]
    fn known_colours_have_their_published_coordinates() {
        for (text, lightness, chroma, hue) in [
            ("#ff0000", 0.627_96, 0.257_68, 29.234),
            ("#00ff00", 0.866_44, 0.294_83, 142.495),
            ("#0000ff", 0.452_01, 0.313_21, 264.052),
            ("#ffff00", 0.967_98, 0.211_01, 109.769),
            ("#00ffff", 0.905_40, 0.154_55, 194.769),
            ("#ff00ff", 0.701_67, 0.322_49, 328.363),
            ("#663399", 0.440_27, 0.160_30, 303.373),
        ] {
            let found = Oklch::from(text.parse::<Colour>().expect("a colour"));
            let degrees = found.hue.to_degrees().rem_euclid(360.0);
            let off = [(found.lightness - lightness) * 100.0, (found.chroma - chroma) * 100.0, degrees - hue];
            assert!(off.into_iter().all(|off| off.abs() < 0.02), "{text}: {found:?}, {degrees}");
        }
        for (text, lightness) in [("#ffffff", 1.0), ("#000000", 0.0), ("#808080", 0.599_87)] {
            let found = Oklch::from(text.parse::<Colour>().expect("a colour"));
            assert!((found.lightness - lightness).abs() < 1e-5 && found.chroma < 1e-6, "{text}: {found:?}");
        }
    }

    fn difference(one: f64, other: f64) -> f64 {
        let turn = (one - other).rem_euclid(std::f64::consts::TAU);
        turn.min(std::f64::consts::TAU - turn)
    }

    proptest! {
        #[test]
        fn a_colour_that_does_not_move_stays_as_it_is(red: u8, green: u8, blue: u8) {
            let colour = Colour::new(red, green, blue);
            prop_assert_eq!(Oklch::from(colour).nearest(), colour);
        }

        #[test]
        fn a_moved_colour_has_the_lightness_asked_for_and_keeps_its_hue(red: u8, green: u8, blue: u8, lightness in 0.0..1.0) {
            let from = Oklch::from(Colour::new(red, green, blue));
            let moved = Oklch::from(from.with_lightness(lightness).nearest());
            // Eight bits are coarse in the dark, where one step of a channel is a visible step of lightness.
            prop_assert!((moved.lightness - lightness).abs() < if lightness < 0.2 { 0.06 } else { 0.01 }, "{from:?} {lightness} {moved:?}");
            prop_assert!(moved.chroma <= from.chroma + 0.02, "{from:?} {lightness} {moved:?}");
            // The hue of a colour that is nearly grey is noise.
            if moved.chroma > 0.05 {
                prop_assert!(difference(moved.hue, from.hue) < 0.1, "{from:?} {lightness} {moved:?}");
            }
        }
    }
}
