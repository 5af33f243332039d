//! The file of an import, read on its own thread so that a slow disk or pipe does not block the runtime.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::progress::Progress;
use crate::flow::orders::import_orders::{Source, SourceError};

/// The bytes read at a time, and the most pieces read ahead.
const PIECE: usize = 256 * 1024;
const PIECES: usize = 4;

/// A file being read. It ends early on SIGINT (Ctrl-C) and SIGTERM.
pub(super) struct File {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    size: Option<u64>,
    progress: Option<Arc<Progress>>,
    interrupt: Signal,
    terminate: Signal,
}

impl File {
    /// Opens the file at `path`, or standard input for `-`.
    pub(super) fn open(path: &str) -> io::Result<Self> {
        let (sender, pieces) = mpsc::channel(PIECES);
        let size = if path == "-" {
            std::thread::spawn(move || read(io::stdin(), &sender));
            None
        } else {
            let file = std::fs::File::open(path)?;
            let size = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
            std::thread::spawn(move || read(file, &sender));
            size
        };
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { pieces, size, progress: None, interrupt, terminate })
    }

    /// The size in bytes; unknown for standard input and pipes.
    pub(super) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Reports every piece read from now on to `progress`.
    pub(super) fn report_to(&mut self, progress: Arc<Progress>) {
        self.progress = Some(progress);
    }
}

/// Reads until the end of the file, an error, or until the receiver is dropped.
fn read(mut file: impl Read, sender: &mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match file.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                piece.truncate(length);
                Ok(piece.into())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if sender.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

impl Source for File {
    async fn next(&mut self) -> Result<Option<Bytes>, SourceError> {
        let stopped = || SourceError::Gone("it was stopped by a signal".to_owned());
        let piece = tokio::select! {
            biased;
            _ = self.interrupt.recv() => return Err(stopped()),
            _ = self.terminate.recv() => return Err(stopped()),
            piece = self.pieces.recv() => piece.transpose().map_err(|error| SourceError::Gone(format!("reading the file failed: {error}")))?,
        };
        if let (Some(piece), Some(progress)) = (&piece, &self.progress) {
            progress.read(piece.len() as u64);
        }
        Ok(piece)
    }
}
