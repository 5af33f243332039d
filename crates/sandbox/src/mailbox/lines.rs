//! The lines of a conversation, in both directions.

use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

/// How long a client may let the mailbox wait for a line, and for reading an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest line with its end, as RFC 5321 has it for texts.
pub(super) const MOST_LINE: usize = 1_000;
/// The largest mail.
pub(super) const MOST_MAIL: usize = 1024 * 1024;

/// The lines over one stream.
pub(super) struct Lines<S>(BufReader<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    pub(super) fn over(stream: S) -> Self {
        Self(BufReader::new(stream))
    }

    /// The stream. What was sent ahead is forgotten: what came before TLS counts for nothing behind it.
    pub(super) fn into_stream(self) -> S {
        self.0.into_inner()
    }

    /// The next line without its end; nothing when the client has left.
    pub(super) async fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let most = MOST_LINE.try_into().unwrap_or(u64::MAX);
        timeout(PATIENCE, (&mut self.0).take(most).read_until(b'\n', &mut line)).await??;
        if line.is_empty() {
            return Ok(None);
        }
        match line.strip_suffix(b"\n") {
            Some(line) => Ok(Some(line.strip_suffix(b"\r").unwrap_or(line).to_vec())),
            None if line.len() < MOST_LINE => Ok(None),
            None => Err(ErrorKind::InvalidData.into()),
        }
    }

    /// A mail up to the line with a single dot, its other leading dots taken off; nothing when the client leaves before. Of one that
    /// is too large no more than the beginning is kept.
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

    /// Answers with the lines of `text`.
    pub(super) async fn write(&mut self, code: u16, text: &str) -> io::Result<()> {
        let last = text.lines().count();
        let lines = text.lines().enumerate().map(|(at, line)| format!("{code}{}{line}\r\n", if at + 1 == last { ' ' } else { '-' }));
        let answer: String = lines.collect();
        timeout(PATIENCE, async {
            self.0.write_all(answer.as_bytes()).await?;
            self.0.flush().await
        })
        .await?
    }

    /// Reads and forgets until the client has left.
    pub(super) async fn ignore(&mut self) -> io::Result<()> {
        while self.read().await?.is_some() {}
        Ok(())
    }
}
