//! What a `backhaul dev` leaves behind if it is killed: its PostgreSQL. The next one removes it.
//!
//! Every run holds a lock on a file beside its cluster for as long as it lives, however it ends. A lock that can be had belongs to
//! nobody any more.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sandbox::postgres::{Cluster, NoPostgres};

/// The beginning of the names of all clusters.
const PREFIX: &str = "backhaul-dev-";

/// The place of one run's cluster, which is this run's while the lock is held.
pub(super) struct Place {
    pub(super) dir: PathBuf,
    lock_file: PathBuf,
    _lock: File,
}

impl Place {
    /// Takes a place of this process's own below `parent`.
    pub(super) fn take(parent: &Path) -> Result<Self, NoPostgres> {
        let dir = parent.join(format!("{PREFIX}{}", std::process::id()));
        let lock_file = dir.with_extension("lock");
        let taken = File::create(&lock_file).and_then(|lock| lock.lock().map(|()| lock));
        let lock = taken.map_err(|error| NoPostgres::Io(lock_file.clone(), error))?;
        Ok(Self { dir, lock_file, _lock: lock })
    }

    /// Stops and removes the clusters below the same directory whose runs have ended. One that cannot be removed is left alone: it
    /// may be another user's.
    pub(super) fn remove_leftovers(&self) {
        let Some(parent) = self.dir.parent() else { return };
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let file = entry.path();
            let is_lock = file.extension().is_some_and(|end| end == "lock") && entry.file_name().to_string_lossy().starts_with(PREFIX);
            if is_lock && file != self.lock_file && self.is_of_same_user(&file) {
                remove_if_nobodys(&file);
            }
        }
    }

    /// True if the file belongs to the user of this process. In a directory that everybody can write to, others may lay traps.
    fn is_of_same_user(&self, file: &Path) -> bool {
        let owner = |file: &Path| fs::symlink_metadata(file).map(|about| about.uid()).ok();
        owner(file).is_some() && owner(file) == owner(&self.lock_file)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.lock_file);
    }
}

fn remove_if_nobodys(lock_file: &Path) {
    let Ok(lock) = File::open(lock_file) else { return };
    if lock.try_lock().is_err() {
        return;
    }
    let dir = lock_file.with_extension("");
    // A server that was killed too cannot be stopped.
    let is_gone = !dir.exists() || Cluster::left_in(&dir).stop().is_ok() || fs::remove_dir_all(&dir).is_ok();
    if is_gone {
        let _ = fs::remove_file(lock_file);
    }
}
