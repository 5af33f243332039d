//! The place up to which messages were forwarded, in a file.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

/// The longest text of a bookmark. A cursor has 39 characters.
const MOST_BYTES: usize = 200;

/// A file with the cursor after the last message. One run at a time has it.
pub(super) struct Bookmark {
    path: PathBuf,
    cursor: Option<String>,
    /// Locked for as long as this lives, however the process ends.
    _lock: File,
}

impl Bookmark {
    /// Opens the bookmark in this file, or else in the user's own directory that of the listener with these traits.
    pub(super) fn open(file: Option<PathBuf>, traits: &[&str]) -> anyhow::Result<Self> {
        let path = match file {
            Some(file) => file,
            None => default_path(traits)?,
        };
        let shown = path.display();
        if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made.with_context(|| format!("the directory of the state file {shown} cannot be made; name another with --state-file"))?;
        }
        let lock = private(&beside(&path, "lock")).and_then(|lock| lock.try_lock().map(|()| lock).map_err(Into::into));
        let lock = match lock {
            Ok(lock) => lock,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                bail!("another `backhaul listen` keeps its place in {shown}; end it, or name a file of its own for each with --state-file")
            }
            Err(error) => {
                return Err(error).context(format!("the state file {shown} cannot be locked; name another with --state-file"));
            }
        };
        let cursor = match fs::read_to_string(&path) {
            Ok(text) if text.len() <= MOST_BYTES && wire::messages::event::read_cursor(text.trim()).is_some() => {
                Some(text.trim().to_owned())
            }
            Ok(_) => bail!("{shown} is no state file of `backhaul listen`; remove it, or name another with --state-file"),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).context(format!("the state file {shown} cannot be read")),
        };
        Ok(Self { path, cursor, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The cursor after the last message; none at the first run.
    pub(super) fn cursor(&self) -> Option<String> {
        self.cursor.clone()
    }

    /// Keeps a cursor. The file has the old one or the new one, never half of it.
    pub(super) fn keep(&mut self, cursor: &str) -> anyhow::Result<()> {
        if self.cursor.as_deref() == Some(cursor) {
            return Ok(());
        }
        let new = beside(&self.path, "new");
        let written = private(&new).and_then(|mut file| {
            file.set_len(0)?;
            file.write_all(format!("{cursor}\n").as_bytes())
        });
        let moved = written.and_then(|()| fs::rename(&new, &self.path));
        moved.with_context(|| {
            format!("the place cannot be kept in {}; make room, or name another file with --state-file", self.path.display())
        })?;
        self.cursor = Some(cursor.to_owned());
        Ok(())
    }
}

/// Opens a file that only its owner may read, and creates it if it is not there.
fn private(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// The name of a file beside the bookmark.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

/// The bookmark of a listener with these traits, in the directory for the state of programs (XDG).
fn default_path(traits: &[&str]) -> anyhow::Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")));
    let state = state.context("neither XDG_STATE_HOME nor HOME is set; name a file that keeps the place with --state-file")?;
    let mut digest = Sha256::new();
    for text in traits {
        digest.update(text.len().to_be_bytes());
        digest.update(text);
    }
    let name: Vec<String> = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(state.join("backhaul").join(format!("listen-{}", name.concat())))
}

#[cfg(test)]
mod tests {
    use domain::messages::feed::{Cursor, Position};
    use uuid::Uuid;
    use wire::messages::event::write_cursor;

    use super::*;

    #[test]
    fn a_place_is_kept_for_the_next_run_and_for_one_at_a_time() {
        let dir = std::env::temp_dir().join(format!("backhaul-bookmark-{}", std::process::id()));
        let file = dir.join("deeper/place");
        let at = |number, id| write_cursor(Cursor::At(Position { number, message: Uuid::from_u128(id) }));
        let (first, later) = (at(1, 1), at(2, 2));
        let open = || Bookmark::open(Some(file.clone()), &[]);
        let mut bookmark = open().unwrap();
        assert_eq!(bookmark.cursor(), None);
        bookmark.keep(&first).unwrap();
        bookmark.keep(&later).unwrap();
        assert!(open().err().unwrap().to_string().contains("another `backhaul listen` keeps its place"));
        drop(bookmark);
        assert_eq!(open().unwrap().cursor(), Some(later));
        fs::write(&file, "something else").unwrap();
        assert!(open().err().unwrap().to_string().contains("is no state file"));
        fs::remove_dir_all(&dir).unwrap();
    }
}
