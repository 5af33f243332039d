//! The texts of all errors, for somebody to read: each says what happened, why, and what to do next.
//!
//! They are kept in `error_texts.txt`. A new or changed text fails the test until it has been read and written down there.

use syn::parse::ParseStream;
use syn::{Attribute, Item, LitStr};

use super::sources::Sources;
use super::syntax::{attributes, is_test, parse};

/// The text of every error of the crates that are shipped, one on a line: the file, the error and its text.
pub(crate) fn error_texts(sources: &Sources) -> String {
    let mut found = Vec::new();
    for (path, text) in sources.files().filter(|(path, _)| is_shipped(path)) {
        collect(path, &parse(path, text).items, &mut found);
    }
    found.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn is_shipped(path: &str) -> bool {
    path.contains("/src/") && !path.starts_with("crates/proof/")
}

fn collect(path: &str, items: &[Item], found: &mut Vec<String>) {
    let file = path.trim_start_matches("crates/").replacen("/src/", ": ", 1);
    for item in items.iter().filter(|item| !is_test(attributes(item))) {
        match item {
            Item::Enum(errors) => {
                let of = |variant: &syn::Variant| Some(format!("{file} {}::{}: {}", errors.ident, variant.ident, text(&variant.attrs)?));
                found.extend(errors.variants.iter().filter_map(of));
            }
            Item::Struct(error) => found.extend(text(&error.attrs).map(|text| format!("{file} {}: {text}", error.ident))),
            Item::Mod(module) => collect(path, module.content.as_ref().map_or(&[], |(_, items)| items), found),
            _ => {}
        }
    }
}

/// The text in `#[error("…")]`. An error that passes on the text of another has none.
fn text(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("error"))?;
    let first = |input: ParseStream<'_>| {
        let text: LitStr = input.parse()?;
        input.step(|cursor| {
            let mut rest = *cursor;
            while let Some((_, next)) = rest.token_tree() {
                rest = next;
            }
            Ok(((), rest))
        })?;
        Ok(text.value())
    };
    attribute.parse_args_with(first).ok().map(|text| text.replace('\n', "\\n"))
}
