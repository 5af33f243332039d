//! The import graph of a crate: which source file names something of which other.
//!
//! Both `use` trees and paths in code count; what is under `#[cfg(test)]` does not.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{ImplItem, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

use crate::sources::Sources;
use crate::syntax::{attributes, impl_attributes, is_test, parse, words};

/// One file naming something of another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The path as it is written.
    pub(crate) path: String,
}

/// The imports among the files of one `src` folder, at most one for each pair.
pub(crate) struct Graph {
    pub(crate) imports: Vec<Import>,
    /// The files that are not under `#[cfg(test)]`.
    pub(crate) files: BTreeSet<String>,
}

type Module = Vec<String>;

/// The names that a path in a module can begin with.
#[derive(Default)]
struct Names {
    children: BTreeSet<String>,
    /// Several for one name where a function is called as a module is.
    imported: BTreeMap<String, Vec<Module>>,
}

/// The names and paths of one file: names by module, inline modules included, and the paths with the module they stand in.
#[derive(Default)]
struct Reading {
    context: Module,
    names: BTreeMap<Module, Names>,
    paths: Vec<(Module, Module)>,
    tests: BTreeSet<Module>,
}

impl Graph {
    /// Reads the crate with this `src` folder.
    pub(crate) fn of(sources: &Sources, src: &str) -> Self {
        let has_library = sources.has(&format!("{src}/lib.rs"));
        let mut files: BTreeMap<Module, &str> = BTreeMap::new();
        for (path, _) in sources.below(src) {
            if let Some(module) = module_of(path, src, has_library) {
                files.insert(module, path);
            }
        }
        let mut readings: BTreeMap<&str, Reading> = BTreeMap::new();
        let (mut names, mut tests) = (BTreeMap::new(), BTreeSet::new());
        let contents: BTreeMap<&str, &str> = sources.below(src).collect();
        for (module, path) in &files {
            let mut reading = Reading { context: module.clone(), ..Reading::default() };
            reading.visit_file(&parse(path, contents[path]));
            names.append(&mut reading.names);
            tests.append(&mut reading.tests);
            readings.insert(path, reading);
        }
        files.retain(|module, _| !(1..=module.len()).any(|length| tests.contains(&module[..length])));
        let mut imports: BTreeMap<(String, String), String> = BTreeMap::new();
        for from in files.values() {
            for (context, path) in &readings[from].paths {
                let Some(target) = resolve(&names, context, path, 0) else { continue };
                let to = (0..=target.len()).rev().find_map(|length| files.get(&target[..length]));
                if let Some(to) = to.filter(|to| *to != from) {
                    imports.entry(((*from).to_owned(), (*to).to_owned())).or_insert_with(|| path.join("::"));
                }
            }
        }
        Self {
            imports: imports.into_iter().map(|((from, to), path)| Import { from, to, path }).collect(),
            files: files.into_values().map(str::to_owned).collect(),
        }
    }

    /// The folder that a file belongs to: `x/` for `x.rs` if there is one, else the folder it lies in.
    pub(crate) fn folder(&self, file: &str) -> String {
        let stem = file.trim_end_matches(".rs");
        let own = format!("{stem}/");
        let (parent, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let is_parent_file = !matches!(name, "lib" | "main" | "mod") && self.files.iter().any(|other| other.starts_with(&own));
        if is_parent_file { stem.to_owned() } else { parent.to_owned() }
    }
}

/// The module that a file is, or nothing for the programs beside a library.
fn module_of(path: &str, src: &str, has_library: bool) -> Option<Module> {
    let mut module: Module = path.strip_prefix(src)?.trim_start_matches('/').strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    match module.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["bin", ..] => return None,
        ["main"] if has_library => return None,
        ["lib" | "main"] => module.clear(),
        [.., "mod"] => drop(module.pop()),
        _ => (),
    }
    Some(module)
}

/// The path from the root of the crate, or nothing for what lies outside of it.
fn resolve(names: &BTreeMap<Module, Names>, context: &[String], path: &[String], depth: usize) -> Option<Module> {
    let (head, rest) = path.split_first()?;
    match head.as_str() {
        "crate" => return Some(rest.to_vec()),
        "self" | "super" => {
            let rest = if head == "self" { rest } else { path };
            let up = rest.iter().take_while(|segment| *segment == "super").count();
            let base = context.get(..context.len().checked_sub(up)?)?;
            return Some([base, &rest[up..]].concat());
        }
        _ => (),
    }
    let known = names.get(context)?;
    if known.children.contains(head) {
        return Some([context, path].concat());
    }
    let mut targets = known.imported.get(head)?.iter().filter(|target| depth < 8 && target.as_slice() != path);
    let base = targets.find_map(|target| resolve(names, context, target, depth + 1))?;
    Some([base, rest.to_vec()].concat())
}

impl Reading {
    fn here(&mut self) -> &mut Names {
        self.names.entry(self.context.clone()).or_default()
    }

    fn path(&mut self, path: Module) {
        self.paths.push((self.context.clone(), path));
    }

    fn tree(&mut self, before: &Module, tree: &UseTree) {
        let with = |name: String| [before.as_slice(), &[name]].concat();
        match tree {
            UseTree::Path(path) => self.tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
            UseTree::Glob(_) => self.path(before.clone()),
            UseTree::Name(name) if name.ident == "self" => self.import(before.clone(), before.last().cloned().unwrap_or_default()),
            UseTree::Name(name) => self.import(with(name.ident.to_string()), name.ident.to_string()),
            UseTree::Rename(name) if name.ident == "self" => self.import(before.clone(), name.rename.to_string()),
            UseTree::Rename(name) => self.import(with(name.ident.to_string()), name.rename.to_string()),
        }
    }

    fn import(&mut self, path: Module, name: String) {
        self.here().imported.entry(name).or_default().push(path.clone());
        self.path(path);
    }
}

impl<'ast> Visit<'ast> for Reading {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        } else if let Item::Mod(ItemMod { ident, content: None, .. }) = item {
            self.tests.insert([self.context.as_slice(), &[ident.to_string()]].concat());
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !is_test(impl_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.here().children.insert(module.ident.to_string());
        if let Some((_, items)) = &module.content {
            self.context.push(module.ident.to_string());
            items.iter().for_each(|item| self.visit_item(item));
            self.context.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            self.tree(&Module::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        for word in words(call) {
            if word.path.len() > 1 && !word.is_member {
                self.path(word.path);
            }
        }
    }

    /// `pub(in some::module)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
