//! Reads the lines of an import from a stream of any size, in chunks of bounded size.

use std::future::Future;
use std::mem;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, timeout_at};

/// The greatest length of a line: 1 MiB.
pub const LONGEST_LINE: usize = 1024 * 1024;

/// A chunk is full when it has this many lines or bytes.
const MOST_LINES: usize = 500;
const MOST_BYTES: usize = 512 * 1024;

/// A stream of bytes. [`Source::next`] is cancel-safe.
pub trait Source: Send {
    /// The next piece, or `None` at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, SourceError>> + Send;
}

/// The reasons a source ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("no more data arrived in time")]
    TooSlow,
    #[error("{0}")]
    Gone(String),
}

/// Consecutive lines, without the blank ones.
#[derive(Default)]
pub(super) struct Chunk {
    /// The number of lines done once this chunk is stored.
    pub(super) through: u64,
    text: Vec<u8>,
    lines: Vec<(u64, Option<Range<usize>>)>,
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.lines.len() >= MOST_LINES || self.text.len() >= MOST_BYTES
    }

    /// The lines with their numbers. `None` stands for a line that is too long.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, Option<&[u8]>)> {
        self.lines.iter().map(|(number, span)| (*number, span.clone().and_then(|span| self.text.get(span))))
    }
}

/// Reads and counts lines.
pub(super) struct Lines<'s, S> {
    source: &'s mut S,
    /// The rest of the last piece.
    unread: Bytes,
    /// The lines read so far; the first `skip` of them are only counted.
    read: u64,
    skip: u64,
    /// The text and the length of the incomplete line. Skipped and oversized lines have no text.
    open: Vec<u8>,
    length: usize,
    end: Option<Result<(), SourceError>>,
}

impl<'s, S: Source> Lines<'s, S> {
    /// The lines of `source` after the first `skip`.
    pub(super) fn new(source: &'s mut S, skip: u64) -> Self {
        Self { source, unread: Bytes::new(), read: 0, skip, open: Vec::new(), length: 0, end: None }
    }

    /// The number of lines read, including those skipped.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// The next chunk, or `None` at the end. After `patience` it returns a chunk in any case, if need be without lines, so that the
    /// lines of a slow sender are stored and the lease is renewed.
    pub(super) async fn next(&mut self, patience: Duration) -> Result<Option<Chunk>, SourceError> {
        if let Some(end) = self.end.take() {
            return end.map(|()| None);
        }
        let mut chunk = Chunk { through: self.read.max(self.skip), ..Chunk::default() };
        let until = Instant::now() + patience;
        loop {
            self.fill(&mut chunk);
            if chunk.is_full() {
                return Ok(Some(chunk));
            }
            match timeout_at(until, self.source.next()).await {
                Ok(Ok(Some(piece))) => self.unread = piece,
                Ok(Ok(None)) => {
                    if self.length > 0 {
                        self.close(&mut chunk);
                    }
                    self.end = Some(Ok(()));
                    return Ok(Some(chunk));
                }
                // The incomplete line is dropped.
                Ok(Err(broken)) => {
                    self.end = Some(Err(broken));
                    return Ok(Some(chunk));
                }
                Err(_) => return Ok(Some(chunk)),
            }
        }
    }

    fn fill(&mut self, chunk: &mut Chunk) {
        while !chunk.is_full() && !self.unread.is_empty() {
            if let Some(at) = memchr::memchr(b'\n', &self.unread) {
                let piece = self.unread.split_to(at);
                self.unread = self.unread.split_off(1);
                self.extend(&piece);
                self.close(chunk);
            } else {
                let piece = mem::take(&mut self.unread);
                self.extend(&piece);
            }
        }
    }

    /// Appends to the incomplete line. The text of skipped and oversized lines is dropped.
    fn extend(&mut self, piece: &[u8]) {
        self.length = self.length.saturating_add(piece.len());
        if self.read < self.skip || self.length > LONGEST_LINE {
            self.open.clear();
        } else {
            self.open.extend_from_slice(piece);
        }
    }

    /// Completes the open line.
    fn close(&mut self, chunk: &mut Chunk) {
        self.read += 1;
        if self.read > self.skip {
            chunk.through = self.read;
            // Some programs begin a file with a byte order mark, which is not part of the first line.
            let text = self.open.strip_prefix(b"\xef\xbb\xbf").filter(|_| self.read == 1).unwrap_or(&self.open);
            if self.length > LONGEST_LINE {
                chunk.lines.push((self.read, None));
            } else if !text.trim_ascii().is_empty() {
                let start = chunk.text.len();
                chunk.text.extend_from_slice(text);
                chunk.lines.push((self.read, Some(start..chunk.text.len())));
            }
        }
        self.open.clear();
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    struct Pieces(VecDeque<Result<Bytes, SourceError>>);

    impl Source for Pieces {
        async fn next(&mut self) -> Result<Option<Bytes>, SourceError> {
            self.0.pop_front().transpose()
        }
    }

    /// Every line of these pieces with its number, `!` for one that is too long; then the number of lines, or the error.
    async fn read(pieces: impl IntoIterator<Item = Result<Vec<u8>, SourceError>>, skip: u64) -> (Vec<String>, Result<u64, SourceError>) {
        let mut pieces = Pieces(pieces.into_iter().map(|piece| piece.map(Bytes::from)).collect());
        let mut lines = Lines::new(&mut pieces, skip);
        let mut read = Vec::new();
        let mut through = skip;
        loop {
            match lines.next(Duration::from_mins(1)).await {
                Ok(Some(chunk)) => {
                    assert!(chunk.lines.len() <= MOST_LINES && chunk.text.len() <= MOST_BYTES + LONGEST_LINE);
                    assert!(chunk.through >= through, "progress never goes back");
                    through = chunk.through;
                    let numbered =
                        chunk.lines().map(|(number, text)| format!("{number} {}", text.map_or("!".into(), String::from_utf8_lossy)));
                    read.extend(numbered);
                }
                Ok(None) => return (read, Ok(lines.read())),
                Err(broken) => return (read, Err(broken)),
            }
        }
    }

    fn whole(text: &str) -> [Result<Vec<u8>, SourceError>; 1] {
        [Ok(text.as_bytes().to_vec())]
    }

    #[tokio::test]
    async fn lines_are_the_same_however_they_are_cut_into_pieces() {
        let text = "\u{feff}one\n\n two\r\n \t\r\nthree";
        let (expected, count) = (["1 one", "3  two\r", "5 three"], Ok(5));
        for size in 1..=text.len() {
            let pieces = text.as_bytes().chunks(size).map(|piece| Ok(piece.to_vec()));
            let (lines, counted) = read(pieces, 0).await;
            assert_eq!((lines, counted), (expected.map(str::to_owned).to_vec(), count.clone()), "in pieces of {size}");
        }
        assert_eq!(read(whole(""), 0).await, (Vec::new(), Ok(0)));
        assert_eq!(read(whole("\n"), 0).await, (Vec::new(), Ok(1)));
        assert_eq!(read(whole("one\n"), 0).await, (vec!["1 one".to_owned()], Ok(1)));
    }

    #[tokio::test]
    async fn lines_that_are_done_are_only_counted() {
        assert_eq!(read(whole("one\ntwo\nthree\nfour"), 2).await, (vec!["3 three".to_owned(), "4 four".to_owned()], Ok(4)));
        assert_eq!(read(whole("one\ntwo\n"), 2).await, (Vec::new(), Ok(2)));
        assert_eq!(read(whole("one\n"), 2).await, (Vec::new(), Ok(1)), "whoever asks can see that the file is shorter");
    }

    #[tokio::test]
    async fn a_line_that_broke_off_is_no_line() {
        let gone = SourceError::Gone("away".to_owned());
        let (lines, end) = read([Ok(b"one\ntw".to_vec()), Err(gone.clone())], 0).await;
        assert_eq!((lines, end), (vec!["1 one".to_owned()], Err(gone)));
    }

    #[tokio::test]
    async fn a_line_beyond_the_limit_is_marked_and_not_kept() {
        let longest = "x".repeat(LONGEST_LINE);
        let text = format!("one\n{longest}x\n{longest}\nfour");
        let (lines, count) = read(text.as_bytes().chunks(70_000).map(|piece| Ok(piece.to_vec())), 0).await;
        assert_eq!(
            (&lines[0], &lines[1], lines[2].len(), &lines[3], count),
            (&"1 one".into(), &"2 !".into(), LONGEST_LINE + 2, &"4 four".into(), Ok(4))
        );
    }
}
