//! Settings in words, the differences between two sets of them, and the preview of a change.

use askama::Template;
use axum::response::Response;

use super::error::ConsoleError;
use super::form::Typed;
use super::frame::Frame;
use super::merchant_head::Head;
use super::page::render;

/// A setting. Its value is a list of words, most often of one.
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) items: Vec<String>,
}

impl Setting {
    pub(super) fn one(name: &str, item: impl Into<String>) -> Self {
        Self { name: name.to_owned(), items: vec![item.into()] }
    }

    /// A list; "none" if it is empty.
    pub(super) fn many(name: &str, items: Vec<String>) -> Self {
        if items.is_empty() { Self::one(name, "none") } else { Self { name: name.to_owned(), items } }
    }
}

/// A setting that differs.
pub(super) struct Difference {
    pub(super) name: String,
    pub(super) removed: Vec<String>,
    pub(super) added: Vec<String>,
}

/// The settings that differ. Both have the same names in the same order.
pub(super) fn compare(before: Vec<Setting>, after: Vec<Setting>) -> Vec<Difference> {
    before.into_iter().zip(after).filter(|(was, is)| was.items != is.items).map(|(was, is)| difference(&was, is)).collect()
}

fn difference(was: &Setting, is: Setting) -> Difference {
    let without = |items: &[String], others: &[String]| items.iter().filter(|item| !others.contains(item)).cloned().collect::<Vec<_>>();
    let (removed, added) = (without(&was.items, &is.items), without(&is.items, &was.items));
    if removed.is_empty() && added.is_empty() {
        // The same words in another order.
        return Difference { name: is.name, removed: vec![was.items.join(", ")], added: vec![is.items.join(", ")] };
    }
    Difference { name: is.name, removed, added }
}

/// The preview of a change: what differs, what follows from it, and the button that makes it.
#[derive(Template)]
#[template(path = "console/change_preview.html")]
pub(super) struct ChangePreview {
    pub(super) frame: Frame,
    pub(super) head: Head,
    /// The question, as the heading.
    pub(super) asks: String,
    pub(super) differences: Vec<Difference>,
    /// What will happen: each with a word before it.
    pub(super) facts: &'static [(&'static str, &'static str)],
    /// The address that the button posts to, with these fields.
    pub(super) action: String,
    pub(super) hidden: Typed,
    /// The button's words.
    pub(super) does: String,
    /// The way back.
    pub(super) back: String,
    /// The same on the command line.
    pub(super) command: String,
}

impl ChangePreview {
    pub(super) fn show(&self) -> Result<Response, ConsoleError> {
        render(self)
    }
}
