//! Small readings of syntax trees that several checks share.

use syn::buffer::{Cursor, TokenBuffer};
use syn::{Attribute, ImplItem, Item, Macro};

/// Parses a file, or names it in the panic.
pub(crate) fn parse(path: &str, text: &str) -> syn::File {
    syn::parse_file(text).unwrap_or_else(|error| panic!("{path} is not valid Rust: {error}"))
}

/// Looks for `#[cfg(test)]`.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Looks for a doc comment.
pub(crate) fn is_documented(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc"))
}

/// The attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of what stands in an `impl`.
pub(crate) fn impl_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// A word in the tokens of a macro call, which has no syntax tree.
pub(crate) struct Word {
    /// The segments of a path, one for a plain word.
    pub(crate) path: Vec<String>,
    /// A `.` stands before it.
    pub(crate) is_member: bool,
    /// A `(` follows.
    pub(crate) is_called: bool,
}

/// The words in the tokens of a macro call.
pub(crate) fn words(call: &Macro) -> Vec<Word> {
    let (buffer, mut found) = (TokenBuffer::new2(call.tokens.clone()), Vec::new());
    scan(buffer.begin(), &mut found);
    found
}

fn scan(mut cursor: Cursor<'_>, found: &mut Vec<Word>) {
    let mut before = ' ';
    while !cursor.eof() {
        if let Some((_, rest)) = cursor.lifetime() {
            (cursor, before) = (rest, ' ');
        } else if let Some((first, mut rest)) = cursor.ident() {
            let mut path = vec![first.to_string()];
            while let Some((next, after)) = colons(rest).and_then(Cursor::ident) {
                path.push(next.to_string());
                rest = after;
            }
            let is_called = rest.token_tree().is_some_and(|(next, _)| next.to_string().starts_with('('));
            // `$name` stands for something else, and a path cannot begin after `::`.
            if before != ':' && (before != '$' || path.first().is_some_and(|head| head == "crate")) {
                found.push(Word { path, is_member: before == '.', is_called });
            }
            (cursor, before) = (rest, ' ');
        } else if let Some((inside, _, _, rest)) = cursor.any_group() {
            scan(inside, found);
            (cursor, before) = (rest, ' ');
        } else if let Some((punct, rest)) = cursor.punct() {
            (cursor, before) = (rest, punct.as_char());
        } else if let Some((_, rest)) = cursor.token_tree() {
            (cursor, before) = (rest, ' ');
        }
    }
}

/// The tokens after `::`, if that is what comes.
fn colons(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let (first, rest) = cursor.punct()?;
    let (second, rest) = rest.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(rest)
}
