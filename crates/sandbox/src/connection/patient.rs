//! A stream whose other side must read what is written to it, within a time.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The stream. Reading is not limited here: only whoever reads knows what it waits for.
pub(super) struct Patient<S> {
    stream: S,
    /// How long nothing may be taken; without it, for ever.
    patience: Option<Duration>,
    /// The end of the wait that goes on now.
    until: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Option<Duration>) -> Self {
        Self { stream, patience, until: None }
    }

    pub(super) fn into_inner(self) -> S {
        self.stream
    }

    /// The same outcome, or an error when it is waited for too long.
    fn limit<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        let (Poll::Pending, Some(patience)) = (&outcome, self.patience) else {
            self.until = None;
            return outcome;
        };
        let until = self.until.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        until.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limit(context, outcome)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, pieces: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.limit(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.limit(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.limit(context, outcome)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const SHORT: Duration = Duration::from_millis(10);

    #[tokio::test]
    async fn whoever_does_not_read_is_given_up() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let mut patient = Patient::new(ours, Some(SHORT));
        patient.write_all(b"1234").await.unwrap();
        assert_eq!(patient.write_all(b"5").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let mut read = [0; 4];
        theirs.read_exact(&mut read).await.unwrap();
        patient.write_all(b"56").await.unwrap();
    }
}
