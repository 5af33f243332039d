//! The heads of a JPEG. The decoder works row by row if the picture comes in one scan. Otherwise it keeps the coefficients of the
//! whole picture, 16 bits for each component of a pixel.

const START_OF_SCAN: u8 = 0xDA;
/// Baseline and extended sequential.
const SEQUENTIAL: [u8; 2] = [0xC0, 0xC1];
/// Every kind of frame; C4, C8 and CC are something else.
const FRAMES: [u8; 13] = [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF];
/// The most components, which are assumed of a file that cannot be told.
const MOST_COMPONENTS: u8 = 4;

/// The bytes for each pixel that its decoder needs beside the picture.
pub(super) fn beside(file: &[u8]) -> u64 {
    let mut frame = None;
    for (marker, data) in segments(file) {
        if FRAMES.contains(&marker) {
            frame = data.get(5).map(|components| (marker, *components));
        }
        if marker == START_OF_SCAN
            && let Some((kind, components)) = frame
            && SEQUENTIAL.contains(&kind)
            && data.first() == Some(&components)
        {
            return 0;
        }
    }
    let components = frame.map_or(MOST_COMPONENTS, |(_, components)| components.min(MOST_COMPONENTS));
    2 * u64::from(components)
}

/// The segments up to the first scan, each with its marker. They end early where one does not follow the other.
fn segments(file: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut left = file.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (&[start, marker], rest) = left.split_first_chunk()?;
        let (length, _) = rest.split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes(*length));
        if start != 0xFF || length < 2 {
            return None;
        }
        left = if marker == START_OF_SCAN { &[] } else { rest.get(length..).unwrap_or_default() };
        Some((marker, rest.get(2..length)?))
    })
}
