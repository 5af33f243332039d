//! A QR code as a drawing in a page.

use qrcode::{Color, EcLevel, QrCode};

/// The modules of white around a code, without which cameras do not see it.
const QUIET: usize = 4;

/// A QR code as the path of an SVG.
pub(super) struct Drawing {
    /// The width and height, in modules.
    pub(super) size: usize,
    /// A square for each dark module.
    pub(super) squares: String,
}

impl Drawing {
    /// The code with this text; none if it is too long.
    pub(super) fn of(text: &str) -> Option<Self> {
        let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let width = code.width();
        let dark = code.to_colors().into_iter().enumerate().filter(|(_, color)| *color == Color::Dark);
        let squares: Vec<String> = dark.map(|(at, _)| format!("M{} {}h1v1h-1z", at % width + QUIET, at / width + QUIET)).collect();
        Some(Self { size: width + 2 * QUIET, squares: squares.concat() })
    }
}
