//! Where things may stand: the layers of the service, the areas, and who may signal or commit.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprField, ExprMethodCall, ImplItem, Item, Macro, Member};

use crate::imports::Graph;
use crate::sources::{Sources, is_below};
use crate::syntax::{attributes, impl_attributes, is_test, parse, words};

/// A top module of the service, and the others it may import.
pub(crate) type Layer = (&'static str, &'static [&'static str]);

/// A file or folder that is an exception, and why.
pub(crate) type Exception = (&'static str, &'static str);

/// The imports in a `src` folder that go against the table.
pub(crate) fn against(graph: &Graph, src: &str, table: &[Layer]) -> Vec<String> {
    let top = |file: &str| {
        let rest = file.strip_prefix(src).unwrap_or(file).trim_start_matches('/');
        let name = rest.split_once('/').map_or(rest.trim_end_matches(".rs"), |(folder, _)| folder);
        (!matches!(name, "lib" | "main")).then(|| name.to_owned())
    };
    let mut wrong = BTreeSet::new();
    for module in graph.files.iter().filter_map(|file| top(file)) {
        if !table.iter().any(|(name, _)| *name == module) {
            wrong.insert(format!("{src}/{module} is in no layer; move it into one, or add it to LAYERS"));
        }
    }
    for import in &graph.imports {
        let (Some(from), Some(to)) = (top(&import.from), top(&import.to)) else { continue };
        let Some((_, allowed)) = table.iter().find(|(name, _)| *name == from).filter(|_| from != to) else { continue };
        if !allowed.contains(&to.as_str()) {
            wrong.insert(format!(
                "{} imports {} ({}), but `{from}` may only import {}. Move what is needed down, or pass it in.",
                import.from,
                import.to,
                import.path,
                if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") }
            ));
        }
    }
    wrong.into_iter().collect()
}

/// The folders directly in a layer that are neither areas nor listed, and entries that no longer exist.
pub(crate) fn strange_folders(sources: &Sources, layers: &[&str], areas: &[&str], listed: &[Exception]) -> Vec<String> {
    let mut wrong = BTreeSet::new();
    for layer in layers {
        if !sources.has(layer) {
            wrong.insert(format!("{layer} does not exist; correct AREA_LAYERS"));
        }
        for folder in sources.below(layer).filter_map(|(path, _)| path[layer.len() + 1..].split_once('/')).map(|(folder, _)| folder) {
            let path = format!("{layer}/{folder}");
            if !areas.contains(&folder) && !listed.iter().any(|(known, _)| *known == path) {
                wrong.insert(format!(
                    "{path} is not an area ({}). Move its files into one, or list it in OTHER_FOLDERS with the reason.",
                    areas.join(", ")
                ));
            }
        }
    }
    wrong.extend(stale("OTHER_FOLDERS", listed, |path| sources.below(path).next().is_some()));
    wrong.into_iter().collect()
}

/// The areas that only one layer has and that are not listed, and entries that are out of date.
pub(crate) fn lonely_areas(sources: &Sources, layers: &[&str], areas: &[&str], listed: &[Exception]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for area in areas {
        let has = |layer: &&&str| sources.has(&format!("{layer}/{area}.rs")) || sources.has(&format!("{layer}/{area}"));
        places.insert(area, layers.iter().filter(has).copied().collect());
    }
    let mut wrong = Vec::new();
    for (area, layers) in &places {
        if let ([layer], false) = (&layers[..], listed.iter().any(|(known, _)| known == area)) {
            wrong.push(format!(
                "the area {area} exists only in {layer}. Give it to the other layers that deal with it, or list it in LONELY_AREAS with the reason."
            ));
        }
    }
    wrong.extend(stale("LONELY_AREAS", listed, |area| places.get(area).is_some_and(|layers| layers.len() == 1)));
    wrong
}

/// The calls in one file that belong into the transaction.
#[derive(Default)]
struct Calls {
    signals: bool,
    commits: bool,
}

/// The files of a `src` folder that signal and are not listed, and entries that are out of date.
pub(crate) fn signalling(sources: &Sources, src: &str, listed: &[Exception]) -> Vec<String> {
    let files: Vec<&str> = sources.below(src).filter(|(path, text)| calls(path, text).signals).map(|(path, _)| path).collect();
    let is_in = |file: &str, known: &str| file == known || is_below(file, known);
    let mut wrong: Vec<String> = files
        .iter()
        .filter(|file| !listed.iter().any(|(known, _)| is_in(file, known)))
        .map(|file| {
            format!("{file} signals by itself. Owe the message through the transaction, which signals after its commit, or list it in SIGNALLING.")
        })
        .collect();
    wrong.extend(stale("SIGNALLING", listed, |known| files.iter().any(|file| is_in(file, known))));
    wrong
}

/// The files of a `src` folder that commit, except the one that may.
pub(crate) fn committing(sources: &Sources, src: &str, only: &str) -> Vec<String> {
    let files: Vec<&str> = sources.below(src).filter(|(path, text)| calls(path, text).commits).map(|(path, _)| path).collect();
    let mut wrong: Vec<String> = files
        .iter()
        .filter(|file| **file != only)
        .map(|file| format!("{file} commits by itself. Let {only} commit, so that what is owed is signalled."))
        .collect();
    if !files.contains(&only) {
        wrong.push(format!("{only} commits nothing; correct COMMITTING"));
    }
    wrong
}

fn stale(table: &str, listed: &[Exception], is_needed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for (entry, reason) in listed {
        if !is_needed(entry) {
            wrong.push(format!("{table} lists {entry} without need; delete the entry"));
        }
        if reason.is_empty() {
            wrong.push(format!("{table} gives no reason for {entry}"));
        }
    }
    wrong
}

fn calls(path: &str, text: &str) -> Calls {
    let mut calls = Calls::default();
    calls.visit_file(&parse(path, text));
    calls
}

/// True for the call that has tokio wait for a signal of the operating system.
fn takes_a_kind(call: &ExprCall) -> bool {
    let kind = call.args.first().and_then(|argument| if let Expr::Call(kind) = argument { Some(&*kind.func) } else { None });
    matches!(kind, Some(Expr::Path(kind)) if kind.path.segments.iter().any(|segment| segment.ident == "SignalKind"))
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !is_test(impl_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_expr_field(&mut self, field: &'ast ExprField) {
        self.signals |= matches!(&field.member, Member::Named(name) if name == "signals");
        visit::visit_expr_field(self, field);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.signals |= call.method == "signal";
        self.commits |= call.method == "commit" && call.args.is_empty();
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(function) = &*call.func {
            self.signals |= function.path.segments.last().is_some_and(|segment| segment.ident == "signal") && !takes_a_kind(call);
            self.commits |= function.path.segments.iter().rev().take(2).map(|segment| segment.ident.to_string()).eq(["commit", "Tx"]);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let words = words(call);
        let is_of_the_system = words.iter().any(|word| word.path.iter().any(|segment| segment == "SignalKind"));
        for word in &words {
            let Some(name) = word.path.last() else { continue };
            self.signals |= (word.is_member && name == "signals") || (word.is_called && name == "signal" && !is_of_the_system);
            self.commits |= word.is_member && word.is_called && name == "commit";
        }
    }
}
