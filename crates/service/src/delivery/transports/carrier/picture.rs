//! Pictures of QR codes: checks that a file is one before it is stored and shown to shoppers.

use std::ops::RangeInclusive;

/// The first bytes of every PNG, and of its first chunk, which begins with the width and the height.
const START: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
const MOST_BYTES: usize = 256 * 1024;
/// The pixels of a side. The smallest QR code has 21 modules.
const SIDE: RangeInclusive<u32> = 21..=4_096;

/// True for a PNG of a size that fits a QR code.
pub(super) fn is_code(file: &[u8]) -> bool {
    file.len() <= MOST_BYTES && sides(file).is_some_and(|sides| sides.iter().all(|side| SIDE.contains(side)))
}

/// The width and the height of a PNG.
fn sides(file: &[u8]) -> Option<[u32; 2]> {
    let (width, rest) = file.strip_prefix(START)?.split_first_chunk()?;
    let (height, _) = rest.split_first_chunk()?;
    Some([u32::from_be_bytes(*width), u32::from_be_bytes(*height)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, length: usize) -> Vec<u8> {
        let mut file = [START, &width.to_be_bytes(), &height.to_be_bytes()].concat();
        file.resize(length, 0);
        file
    }

    #[test]
    fn a_code_is_a_png_within_bounds() {
        assert!(is_code(&png(21, 21, 100)) && is_code(&png(4_096, 4_096, MOST_BYTES)));
        for (width, height) in [(0, 0), (20, 21), (21, 20), (4_097, 21), (21, u32::MAX)] {
            assert!(!is_code(&png(width, height, 100)), "{width} x {height}");
        }
        assert!(!is_code(&png(300, 300, MOST_BYTES + 1)), "too large");
    }

    #[test]
    fn nothing_else_is_a_code() {
        let whole = png(300, 300, START.len() + 8);
        assert!(is_code(&whole));
        for length in 0..whole.len() {
            assert!(!is_code(&whole[..length]), "the first {length} bytes");
        }
        let pdf = [b"%PDF-1.4\n".as_slice(), &whole].concat();
        assert!(!is_code(&pdf));
    }
}
