//! A page, and the frame around it: the menu, the search, the style sheet.

use std::sync::OnceLock;

use super::guides::Group;
use super::markdown::Section;
use crate::http::pages::assets::{DOCS_SCRIPT, DOCS_STYLE, ICON};
use crate::http::prepared::Prepared;

/// A page as it is served.
pub(super) struct Page {
    pub(super) title: String,
    /// One sentence on what it is about.
    pub(super) lede: String,
    pub(super) group: Group,
    /// Its text, for the search.
    pub(super) sections: Vec<Section>,
    html: String,
    /// Compressed when it is first asked for.
    prepared: OnceLock<Prepared>,
}

impl Page {
    pub(super) const fn new(group: Group, title: String, lede: String, sections: Vec<Section>, html: String) -> Self {
        Self { title, lede, group, sections, html, prepared: OnceLock::new() }
    }

    pub(super) fn prepared(&self) -> &Prepared {
        self.prepared.get_or_init(|| Prepared::new("text/html; charset=utf-8", self.html.clone()))
    }
}

/// An entry of the menu.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) name: String,
}

/// The menu: each group with its entries.
pub(super) struct Menu(pub(super) Vec<(Group, Vec<Place>)>);

/// The frame of a page.
pub(super) struct Frame<'a> {
    pub(super) title: String,
    pub(super) lede: String,
    /// The entry of the menu that is marked.
    here: &'a str,
    menu: &'a Menu,
    /// The text in the search field.
    pub(super) query: String,
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

impl<'a> Frame<'a> {
    pub(super) fn new(menu: &'a Menu, here: &'a str, title: &str, lede: &str) -> Self {
        // Assets are served below `/docs` as well, because the portal, whose they are otherwise, may have a listener of its own.
        let asset = |path: &str| format!("/docs{path}");
        Self {
            title: title.to_owned(),
            lede: lede.to_owned(),
            here,
            menu,
            query: String::new(),
            style: asset(&DOCS_STYLE.path),
            script: asset(&DOCS_SCRIPT.path),
            icon: asset(&ICON.path),
        }
    }

    /// The same with a text in the search field.
    pub(super) fn searching(self, query: &str) -> Self {
        Self { query: query.to_owned(), ..self }
    }

    pub(super) fn menu(&self) -> &[(Group, Vec<Place>)] {
        &self.menu.0
    }

    pub(super) fn is_here(&self, place: &Place) -> bool {
        place.path == self.here
    }
}
