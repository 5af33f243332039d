//! The file of an import, read on a thread of its own, so that a slow disk or a pipe stops nobody else.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::progress::Progress;
use crate::flow::import_orders::{BrokenOff, Source};

/// How much is read at a time, and how many of these may wait for their turn.
const PIECE: usize = 256 * 1024;
const PIECES: usize = 4;

/// A file on its way in. It ends early when somebody presses Ctrl-C or the process is told to end.
pub(super) struct File {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    size: Option<u64>,
    progress: Option<Arc<Progress>>,
    interrupt: Signal,
    terminate: Signal,
}

impl File {
    /// The file at `path`, or standard input for `-`.
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

    /// How large it is, if that is known beforehand.
    pub(super) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Tells `progress` of every piece from now on.
    pub(super) fn tell(&mut self, progress: Arc<Progress>) {
        self.progress = Some(progress);
    }
}

/// Reads until the end, or until nobody wants to know any more.
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
    async fn next(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        let stopped = || BrokenOff::Gone("it was stopped".to_owned());
        let piece = tokio::select! {
            biased;
            _ = self.interrupt.recv() => return Err(stopped()),
            _ = self.terminate.recv() => return Err(stopped()),
            piece = self.pieces.recv() => piece.transpose().map_err(|error| BrokenOff::Gone(format!("the file cannot be read on: {error}")))?,
        };
        if let (Some(piece), Some(progress)) = (&piece, &self.progress) {
            progress.read(piece.len() as u64);
        }
        Ok(piece)
    }
}
