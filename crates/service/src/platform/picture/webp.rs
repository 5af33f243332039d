//! The frames of a WebP. Each lossy one states its size again, and the decoder compares it with that of the picture only after it has
//! decoded the frame, so it is checked here. A lossless one describes the tables that its decoder builds.

/// The bytes before the chunks of a file, and before those of an animation's frame.
const FILE_HEAD: usize = 12;
const FRAME_HEAD: usize = 16;

/// The pixels of the largest lossy frame.
pub(super) fn largest_frame(file: &[u8]) -> u64 {
    largest(file, |kind, data| if kind == b"VP8 " { pixels(data) } else { None })
}

/// The bytes of the largest part that is compressed without loss: a frame, or the alpha of a lossy one.
pub(super) fn largest_lossless(file: &[u8]) -> u64 {
    largest(file, |kind, data| if matches!(kind, b"VP8L" | b"ALPH") { u64::try_from(data.len()).ok() } else { None })
}

/// The largest number that `measure` finds in the chunks of the file and of its frames.
fn largest(file: &[u8], measure: impl Fn(&[u8; 4], &[u8]) -> Option<u64>) -> u64 {
    let mut most = 0;
    for (kind, data) in chunks(file, FILE_HEAD) {
        let within = chunks(data, FRAME_HEAD).filter(|_| kind == b"ANMF").filter_map(|(kind, data)| measure(kind, data));
        most = within.chain(measure(kind, data)).fold(most, u64::max);
    }
    most
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

/// The pixels of a lossy frame, from two numbers of 14 bits after the frame's tag and start code.
fn pixels(frame: &[u8]) -> Option<u64> {
    let [width @ .., low, high] = frame.get(6..10)?.first_chunk::<4>()?;
    let side = |bytes: [u8; 2]| u64::from(u16::from_le_bytes(bytes) & 0x3FFF);
    Some(side(*width) * side([*low, *high]))
}
