//! Doc comments: how they open, and that they are there.

use syn::visit::{self, Visit};
use syn::{ImplItem, ImplItemFn, Item, ItemImpl, ItemMod, Visibility};

use crate::sources::Sources;
use crate::syntax::{attributes, impl_attributes, is_documented, is_test, parse};

/// The openings that say little about what a thing is.
const QUESTIONS: [&str; 5] = ["What", "Whose", "Whether", "Who", "How long"];

/// How many doc comments there are, and which of them open with a question word, as `file:line: text`.
pub(crate) struct Openings {
    pub(crate) blocks: usize,
    pub(crate) questions: Vec<String>,
}

impl Openings {
    /// Reads every doc comment, tests included.
    pub(crate) fn of(sources: &Sources) -> Self {
        let mut openings = Self { blocks: 0, questions: Vec::new() };
        for (path, text) in sources.files() {
            let mut before = None;
            for (number, line) in (1..).zip(text.lines()) {
                let line = line.trim_start();
                let marker = if line.starts_with("///") && !line.starts_with("////") {
                    Some("///")
                } else if line.starts_with("//!") {
                    Some("//!")
                } else {
                    None
                };
                if let Some(marker) = marker.filter(|marker| before != Some(*marker)) {
                    let said = line[marker.len()..].trim_start();
                    openings.blocks += 1;
                    if is_question(said) {
                        openings.questions.push(format!("{path}:{number}: {said}"));
                    }
                }
                before = marker;
            }
        }
        openings
    }

    /// The share of the comments that open with a question word, in per cent.
    pub(crate) fn share(&self) -> f64 {
        let count = |number: usize| f64::from(u32::try_from(number).unwrap());
        100.0 * count(self.questions.len()) / count(self.blocks.max(1))
    }
}

fn is_question(said: &str) -> bool {
    QUESTIONS.iter().any(|word| said.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric())))
}

/// Lists the public items and the modules in the crates' `src` folders that have no doc comment.
pub(crate) fn undocumented(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources.crates().iter().flat_map(|src| sources.below(src)) {
        let file = parse(path, text);
        let mut reading = Undocumented { path, found: &mut found };
        // A module may have its comment inside or where it is declared; only the file itself knows the former.
        if !is_documented(&file.attrs) && !is_declared(sources, path) {
            reading.missing("the module", "itself");
        }
        reading.visit_file(&file);
    }
    found
}

/// True if the module is documented where it is declared, or is for tests only.
fn is_declared(sources: &Sources, path: &str) -> bool {
    let (stem, name) = path.trim_end_matches(".rs").rsplit_once('/').unwrap();
    let parents = [format!("{stem}.rs"), format!("{stem}/lib.rs"), format!("{stem}/main.rs"), format!("{stem}/mod.rs")];
    sources.files().filter(|(parent, _)| parents.iter().any(|known| known == parent)).any(|(parent, text)| {
        parse(parent, text).items.iter().any(|item| match item {
            Item::Mod(module) if module.ident == name => is_documented(&module.attrs) || is_test(&module.attrs),
            _ => false,
        })
    })
}

struct Undocumented<'a> {
    path: &'a str,
    found: &'a mut Vec<String>,
}

impl Undocumented<'_> {
    fn missing(&mut self, kind: &str, name: &str) {
        self.found.push(format!("{}: {kind} {name} has no doc comment", self.path));
    }

    fn check(&mut self, item: &Item) {
        let (vis, kind, name) = match item {
            Item::Const(item) => (&item.vis, "const", &item.ident),
            Item::Enum(item) => (&item.vis, "enum", &item.ident),
            Item::Fn(item) => (&item.vis, "fn", &item.sig.ident),
            Item::Mod(ItemMod { vis, ident, content: Some(_), .. }) => (vis, "mod", ident),
            Item::Static(item) => (&item.vis, "static", &item.ident),
            Item::Struct(item) => (&item.vis, "struct", &item.ident),
            Item::Trait(item) => (&item.vis, "trait", &item.ident),
            Item::Type(item) => (&item.vis, "type", &item.ident),
            _ => return,
        };
        if matches!(vis, Visibility::Public(_)) && !is_documented(attributes(item)) {
            self.missing(kind, &name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Undocumented<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            self.check(item);
            visit::visit_item(self, item);
        }
    }

    /// The methods of a trait are described by the trait.
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let (vis, kind, name) = match item {
            ImplItem::Const(item) => (&item.vis, "const", &item.ident),
            ImplItem::Fn(ImplItemFn { vis, sig, .. }) => (vis, "fn", &sig.ident),
            _ => return,
        };
        let attributes = impl_attributes(item);
        if matches!(vis, Visibility::Public(_)) && !is_documented(attributes) && !is_test(attributes) {
            self.missing(kind, &name.to_string());
        }
    }
}
