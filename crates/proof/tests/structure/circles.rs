//! Circles in an import graph, and how they are reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::imports::{Graph, Import};

/// Files that import each other, directly or through one another.
#[derive(Debug)]
pub(crate) struct Circle {
    pub(crate) files: BTreeSet<String>,
    imports: Vec<Import>,
}

/// A circle that is allowed.
pub(crate) struct Listed {
    pub(crate) files: &'static [&'static str],
    pub(crate) reason: &'static str,
}

impl Circle {
    fn describe(&self) -> String {
        let mut text = format!("{} files import each other in a circle:", self.files.len());
        for Import { from, to, path } in &self.imports {
            write!(text, "\n    {from} imports {to} ({path})").unwrap();
        }
        text
    }
}

/// The circles that span folders, described.
pub(crate) fn between_folders(graph: &Graph) -> Vec<String> {
    let circles = circles(&graph.imports).into_iter().filter_map(|circle| {
        let folders: BTreeSet<String> = circle.files.iter().map(|file| graph.folder(file)).collect();
        (folders.len() > 1).then(|| {
            let folders: Vec<String> = folders.into_iter().collect();
            format!(
                "{}\n  It spans the folders {}. Move what both sides need into a module below both, or pass it in, so that imports go one way.",
                circle.describe(),
                folders.join(", ")
            )
        })
    });
    circles.collect()
}

/// The circles inside each folder, whatever the rest of the crate does.
pub(crate) fn inside_folders(graph: &Graph) -> Vec<Circle> {
    let mut by_folder: BTreeMap<String, Vec<Import>> = BTreeMap::new();
    for import in &graph.imports {
        let folder = graph.folder(&import.from);
        if folder == graph.folder(&import.to) {
            by_folder.entry(folder).or_default().push(import.clone());
        }
    }
    by_folder.values().flat_map(|imports| circles(imports)).collect()
}

/// Compares the circles inside folders with those that are listed.
pub(crate) fn unlisted(found: &[Circle], listed: &[Listed], most: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let is = |circle: &Circle, entry: &Listed| circle.files.iter().map(String::as_str).eq(sorted(entry.files));
    for circle in found.iter().filter(|circle| !listed.iter().any(|entry| is(circle, entry))) {
        wrong.push(format!(
            "{}\n  Move what they share into a module of its own. If they really belong together, list them in CIRCLES with the reason.",
            circle.describe()
        ));
    }
    for entry in listed {
        if !found.iter().any(|circle| is(circle, entry)) {
            wrong.push(format!("CIRCLES lists a circle that no longer exists; delete the entry: {}", entry.files.join(", ")));
        }
        if entry.reason.is_empty() {
            wrong.push(format!("CIRCLES gives no reason for {}", entry.files.join(", ")));
        }
    }
    if listed.len() > most {
        wrong.push(format!("CIRCLES lists {} circles; at most {most} are allowed. Break one up.", listed.len()));
    }
    wrong
}

fn sorted(files: &[&'static str]) -> BTreeSet<&'static str> {
    files.iter().copied().collect()
}

/// The strongly connected components with more than one file.
fn circles(imports: &[Import]) -> Vec<Circle> {
    let mut search = Search::default();
    for import in imports {
        search.targets.entry(&import.from).or_default().push(&import.to);
    }
    for import in imports {
        if !search.index.contains_key(import.from.as_str()) {
            search.visit(&import.from);
        }
    }
    let circles = search.found.into_iter().map(|files| Circle {
        imports: imports.iter().filter(|import| files.contains(&import.from) && files.contains(&import.to)).cloned().collect(),
        files,
    });
    circles.collect()
}

/// Tarjan's search for strongly connected components.
#[derive(Default)]
struct Search<'a> {
    targets: BTreeMap<&'a str, Vec<&'a str>>,
    index: BTreeMap<&'a str, usize>,
    lowest: BTreeMap<&'a str, usize>,
    open: Vec<&'a str>,
    found: Vec<BTreeSet<String>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, file: &'a str) {
        let index = self.index.len();
        self.index.insert(file, index);
        self.lowest.insert(file, index);
        self.open.push(file);
        for target in self.targets.get(file).cloned().unwrap_or_default() {
            let reached = if let Some(index) = self.index.get(target) {
                self.open.contains(&target).then_some(*index)
            } else {
                self.visit(target);
                Some(self.lowest[target])
            };
            if let Some(reached) = reached.filter(|reached| *reached < self.lowest[file]) {
                self.lowest.insert(file, reached);
            }
        }
        if self.lowest[file] == index {
            let at = self.open.iter().position(|open| *open == file).unwrap();
            let members: BTreeSet<String> = self.open.drain(at..).map(str::to_owned).collect();
            if members.len() > 1 {
                self.found.push(members);
            }
        }
    }
}
