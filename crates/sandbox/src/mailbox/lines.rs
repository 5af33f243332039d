//! The lines of an SMTP session, in both directions.

use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

/// The timeout for receiving a line, and for sending an answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest line including its end, as in RFC 5321 for text lines.
pub(super) const MOST_LINE: usize = 1_000;
/// The maximum size of a mail.
pub(super) const MOST_MAIL: usize = 1024 * 1024;

/// Reads and writes lines on a stream.
pub(super) struct Lines<S>(BufReader<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    pub(super) fn over(stream: S) -> Self {
        Self(BufReader::new(stream))
    }

    /// Returns the stream and discards buffered input: nothing sent before TLS may count after it.
    pub(super) fn into_stream(self) -> S {
        self.0.into_inner()
    }

    /// Reads the next line without its end. `None` if the client has left.
    pub(super) async fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let most = MOST_LINE.try_into().unwrap_or(u64::MAX);
        timeout(TIMEOUT, (&mut self.0).take(most).read_until(b'\n', &mut line)).await??;
        if line.is_empty() {
            return Ok(None);
        }
        match line.strip_suffix(b"\n") {
            Some(line) => Ok(Some(line.strip_suffix(b"\r").unwrap_or(line).to_vec())),
            None if line.len() < MOST_LINE => Ok(None),
            None => Err(ErrorKind::InvalidData.into()),
        }
    }

    /// Reads a mail up to the line with a single dot, and removes the leading dots that SMTP adds. `None` if the client leaves
    /// before the end. Only the beginning of a mail that is too large is kept.
    pub(super) async fn read_mail(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut mail = Vec::new();
        while let Some(line) = self.read().await? {
            if line == b"." {
                return Ok(Some(mail));
            }
            if mail.len() <= MOST_MAIL {
                mail.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
                mail.extend_from_slice(b"\r\n");
            }
        }
        Ok(None)
    }

    /// Sends the lines of `text` as one answer.
    pub(super) async fn write(&mut self, code: u16, text: &str) -> io::Result<()> {
        let last = text.lines().count();
        let lines = text.lines().enumerate().map(|(at, line)| format!("{code}{}{line}\r\n", if at + 1 == last { ' ' } else { '-' }));
        let answer: String = lines.collect();
        timeout(TIMEOUT, async {
            self.0.write_all(answer.as_bytes()).await?;
            self.0.flush().await
        })
        .await?
    }

    /// Reads and discards everything until the client leaves.
    pub(super) async fn ignore(&mut self) -> io::Result<()> {
        while self.read().await?.is_some() {}
        Ok(())
    }
}
