//! A merchant's brand in the portal: one colour, from which the others are derived so that every text can be read.
//!
//! A colour is never refused. Where it lacks contrast, its lightness moves, just far enough, and its hue stays (OKLCH). Texts have at
//! least 4.5:1 and edges of controls 3:1, as WCAG 2.2 AA asks, in light and in dark.

mod colour;
mod oklch;
mod phone;
mod sheet;
mod wording;

pub use self::colour::{Colour, NoColour};
use self::oklch::Oklch;
pub use self::phone::{dialled, is_phone};
pub use self::wording::Wording;

/// Contrast of texts.
const TEXT: f64 = 4.5;
/// Contrast of the edges of controls.
const EDGE: f64 = 3.0;
/// The part of the accent in the background of a selected choice, in per cent.
const SOFT: u8 = 8;
/// The part of black or white in the fill of a button under the pointer, in per cent.
const HOVER: u8 = 10;

const WHITE: Colour = Colour::new(0xff, 0xff, 0xff);
const INK: Colour = Colour::new(0x16, 0x18, 0x1d);
const BLACK: Colour = Colour::new(0, 0, 0);

/// The portal's neutral backgrounds, which no brand changes: `--page` and `--surface` of its style sheet.
struct Ground {
    page: Colour,
    surface: Colour,
    /// Black or white: the way on which a colour gains contrast on these, and its end.
    furthest: Colour,
}

const LIGHT: Ground = Ground { page: Colour::new(0xf6, 0xf6, 0xf3), surface: WHITE, furthest: BLACK };
const DARK: Ground = Ground { page: Colour::new(0x12, 0x13, 0x16), surface: Colour::new(0x1b, 0x1d, 0x21), furthest: WHITE };

/// A merchant's choices for the look of the portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brand {
    pub accent: Colour,
    pub radius: Radius,
    /// Buttons are round at both ends, whatever the radius.
    pub pill_buttons: bool,
}

impl Default for Brand {
    /// The portal's own look.
    fn default() -> Self {
        Self { accent: Colour::new(0x23, 0x40, 0xc7), radius: Radius(12), pill_buttons: false }
    }
}

/// The radius of corners, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Radius(u8);

impl Radius {
    /// The largest radius: beyond it, boxes with one line of text look like buttons.
    pub const MAX: u8 = 20;

    /// The radius, if it is in range.
    #[must_use]
    pub const fn new(pixels: u8) -> Option<Self> {
        if pixels > Self::MAX { None } else { Some(Self(pixels)) }
    }

    /// The number of pixels.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// The colours of a brand, for light or for dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// The fill of the primary button.
    pub accent: Colour,
    /// The fill of the primary button under the pointer.
    pub accent_hover: Colour,
    /// Text on `accent` and on `accent_hover`.
    pub on_accent: Colour,
    /// The outline of `accent`, if it needs one to stand out from the page.
    pub accent_edge: Option<Colour>,
    /// The accent as text, tick or ring on the page, on a card and on `accent_soft`.
    pub accent_text: Colour,
    /// The background of a selected choice.
    pub accent_soft: Colour,
}

impl Brand {
    /// The palette on light backgrounds. The accent is the merchant's colour as it is.
    #[must_use]
    pub fn light(self) -> Palette {
        Palette::derive(self.accent, &LIGHT)
    }

    /// The palette on dark backgrounds. The accent is lightened until it can be read on them.
    #[must_use]
    pub fn dark(self) -> Palette {
        Palette::derive(readable(self.accent, &[DARK.surface], DARK.furthest), &DARK)
    }
}

impl Palette {
    fn derive(accent: Colour, ground: &Ground) -> Self {
        let accent_soft = accent.over(ground.surface, SOFT);
        let accent_text = readable(accent, &[ground.page, ground.surface, accent_soft], ground.furthest);
        let accent_edge = (accent.contrast(ground.page) < EDGE).then_some(accent_text);
        let on_accent = on(accent);
        // Darker, or lighter where darker would take the contrast; on some colours of medium lightness, both would.
        let stands_out = |fill: &Colour| {
            let outline = accent_edge.unwrap_or(*fill);
            on_accent.contrast(*fill) >= TEXT && outline.contrast(ground.page) >= EDGE && outline.contrast(ground.surface) >= EDGE
        };
        let accent_hover = [BLACK, WHITE].map(|end| end.over(accent, HOVER)).into_iter().find(stands_out).unwrap_or(accent);
        Self { accent, accent_hover, on_accent, accent_edge, accent_text, accent_soft }
    }
}

/// The text colour on a fill: white or near-black, whichever has more contrast. On some colours of medium lightness, one in fifteen,
/// neither is enough (4.2:1 at worst); black is then, because white or black has at least 4.58:1 on any colour.
fn on(fill: Colour) -> Colour {
    let better = if WHITE.contrast(fill) >= INK.contrast(fill) { WHITE } else { INK };
    if better.contrast(fill) >= TEXT { better } else { BLACK }
}

/// The colour, or its nearest lightness on the way to `furthest` that can be read on all the grounds.
///
/// It is tried in small steps, because rounding to eight bits makes contrast rise unevenly.
fn readable(colour: Colour, grounds: &[Colour], furthest: Colour) -> Colour {
    const STEPS: u16 = 500;
    let reads = |colour: &Colour| grounds.iter().all(|ground| colour.contrast(*ground) >= TEXT);
    if reads(&colour) {
        return colour;
    }
    let from = Oklch::from(colour);
    let way = Oklch::from(furthest).lightness - from.lightness;
    let moved = |step: u16| from.with_lightness(from.lightness + way * f64::from(step) / f64::from(STEPS)).nearest();
    (1..STEPS).map(moved).find(reads).unwrap_or(furthest)
}

#[cfg(test)]
mod tests;
