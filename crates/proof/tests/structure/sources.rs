//! The source files of the workspace, or a small made-up set of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Rust sources by their path from the root of the workspace, as in `crates/store/src/lib.rs`.
pub(crate) struct Sources(BTreeMap<String, String>);

impl Sources {
    /// Reads every `.rs` file below `crates`.
    pub(crate) fn of_the_workspace() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = BTreeMap::new();
        collect(&root.join("crates"), "crates", &mut files);
        assert!(files.len() > 100, "only {} files were found below {}", files.len(), root.display());
        Self(files)
    }

    /// A set of `(path, text)` for trying a check.
    pub(crate) fn sample(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    /// Every file with its text, sorted by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files below a folder.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| is_below(path, folder))
    }

    /// True if the path is a file, or a folder with files in it.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path) || self.below(path).next().is_some()
    }

    /// The `src` folder of every crate.
    pub(crate) fn crates(&self) -> Vec<String> {
        let mut found: Vec<String> = self
            .files()
            .filter_map(|(path, _)| path.strip_prefix("crates/")?.split_once("/src/"))
            .filter(|(name, _)| !name.contains('/'))
            .map(|(name, _)| format!("crates/{name}/src"))
            .collect();
        found.dedup();
        found
    }
}

/// True if the path lies inside the folder.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

fn collect(dir: &Path, name: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), format!("{name}/{}", entry.file_name().to_str().unwrap()));
        if path.is_dir() {
            collect(&path, &name, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}
