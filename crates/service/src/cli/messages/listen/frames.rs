//! The frames of a stream of server-sent events.

/// The most bytes of a frame. The largest message has a few hundred kilobytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A frame of the stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) id: Option<String>,
    pub(super) data: Option<String>,
}

/// A frame has no end where one must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// The part of the stream that has arrived and was not read yet.
#[derive(Default)]
pub(super) struct Frames {
    arrived: Vec<u8>,
    /// The bytes at the beginning that have no end of a frame.
    searched: usize,
}

impl Frames {
    /// Adds a piece of the stream.
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.arrived.len() + piece.len() > MOST_BYTES {
            return Err(TooLong);
        }
        self.arrived.extend_from_slice(piece);
        Ok(())
    }

    /// The next frame that has arrived whole.
    pub(super) fn next(&mut self) -> Option<Frame> {
        const END: &[u8] = b"\n\n";
        let Some(at) = memchr::memmem::find(self.arrived.get(self.searched..)?, END) else {
            // The first half of an end may be the last byte.
            self.searched = self.arrived.len().saturating_sub(1);
            return None;
        };
        let rest = self.arrived.split_off(self.searched + at + END.len());
        let frame = std::mem::replace(&mut self.arrived, rest);
        self.searched = 0;
        Some(Frame::read(&String::from_utf8_lossy(&frame)))
    }
}

impl Frame {
    /// Reads the fields that are needed. Several lines of data are one text, and a line that starts with a colon is a comment.
    fn read(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => frame.id = Some(id.to_owned()),
                Some(("data", more)) => {
                    frame.data = Some(frame.data.map_or_else(|| more.to_owned(), |data| format!("{data}\n{more}")));
                }
                _ => {}
            }
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "retry: 2000\nid: A\n\nid: B\nevent: rma.created\ndata: {\"größer\":\ndata: 1}\n\n: here\nid: B\n\n";

    fn frame(id: &str, data: Option<&str>) -> Frame {
        Frame { id: Some(id.to_owned()), data: data.map(str::to_owned) }
    }

    #[test]
    fn frames_are_read_wherever_the_stream_is_cut() {
        let expected = [frame("A", None), frame("B", Some("{\"größer\":\n1}")), frame("B", None)];
        for size in [1, 2, 7, STREAM.len()] {
            let (mut frames, mut read) = (Frames::default(), Vec::new());
            for piece in STREAM.as_bytes().chunks(size) {
                frames.add(piece).unwrap();
                read.extend(std::iter::from_fn(|| frames.next()));
            }
            assert_eq!(read, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_frame_without_an_end_is_not_kept_for_ever() {
        let mut frames = Frames::default();
        let piece = vec![b'x'; MOST_BYTES / 2];
        assert_eq!([frames.add(&piece), frames.add(&piece), frames.add(b"x")], [Ok(()), Ok(()), Err(TooLong)]);
    }
}
