//! The frames of a WebP. Each lossy one states its size again, and the decoder compares it with that of the picture only after it has
//! decoded the frame, so it is checked here.

/// The bytes before the chunks of a file, and before those of an animation's frame.
const FILE_HEAD: usize = 12;
const FRAME_HEAD: usize = 16;

/// Returns true if a lossy frame has a side that is longer than `most` pixels.
pub(super) fn has_large_frame(file: &[u8], most: u32) -> bool {
    let is_large = |kind: &[u8; 4], data: &[u8]| kind == b"VP8 " && longest_side(data).is_some_and(|side| side > most);
    chunks(file, FILE_HEAD)
        .any(|(kind, data)| is_large(kind, data) || (kind == b"ANMF" && chunks(data, FRAME_HEAD).any(|(kind, data)| is_large(kind, data))))
}

/// The chunks after a head, each with its kind. The last may be cut off.
fn chunks(data: &[u8], head: usize) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut left = data.get(head..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, rest) = left.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        left = rest.get(length.next_multiple_of(2)..).unwrap_or_default();
        Some((kind, rest.get(..length).unwrap_or(rest)))
    })
}

/// The longest side of a lossy frame: two numbers of 14 bits, after the frame's tag and start code.
fn longest_side(frame: &[u8]) -> Option<u32> {
    let [width @ .., low, high] = frame.get(6..10)?.first_chunk::<4>()?;
    let side = |bytes: [u8; 2]| u32::from(u16::from_le_bytes(bytes) & 0x3FFF);
    Some(side(*width).max(side([*low, *high])))
}
