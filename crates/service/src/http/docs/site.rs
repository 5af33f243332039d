//! All pages, made once from the documents of the repository and the OpenAPI document.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use askama::Template;
use domain::messages::message::Interface;

use super::document::Document;
use super::guides::{GUIDES, Group, Guide};
use super::links::{FILES, resolve};
use super::markdown::{Section, render};
use super::page::{Frame, Menu, Page, Place};
use super::search::{Found, Index};
use super::{errors, llms, messages, reference};
use crate::http::prepared::Prepared;

/// The path of the first page.
const FIRST: &str = "/docs";

/// Everything that is served.
pub(super) struct Site {
    menu: Menu,
    /// The pages by path, in the order of the menu.
    pages: Vec<(String, Page)>,
    /// The place of each path among the pages.
    places: BTreeMap<String, usize>,
    files: BTreeMap<&'static str, OnceLock<Prepared>>,
    index: OnceLock<Index>,
    llms: OnceLock<Prepared>,
}

#[derive(Template)]
#[template(path = "docs/guide.html")]
struct GuidePage<'a> {
    frame: Frame<'a>,
    html: String,
    /// The headings below the title, each with its anchor.
    headings: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "docs/first.html")]
struct FirstPage<'a> {
    frame: Frame<'a>,
    /// The pages for each reader: path, name and one sentence.
    readers: Vec<(String, &'static str, String)>,
}

#[derive(Template)]
#[template(path = "docs/search.html")]
struct SearchPage<'a> {
    frame: Frame<'a>,
    found: Vec<Found>,
    /// The name and path of the page with all calls, for whoever finds nothing.
    reference: &'static str,
}

impl Site {
    /// Makes all pages. The OpenAPI document is passed in, because it describes the router that serves the pages.
    pub(super) fn new(document: &str) -> Self {
        let (menu, document) = (menu(), Document::read(document));
        let mut pages = vec![(FIRST.to_owned(), first(&menu))];
        let mut reference = vec![
            (reference::LIST.to_owned(), reference::list(&document, &menu)),
            (messages::LIST.to_owned(), messages::list(&document, &menu)),
            (errors::PATH.to_owned(), errors::page(&menu)),
        ];
        let operations = document.operations().into_iter();
        reference.extend(operations.map(|operation| (reference::path(operation), reference::page(&document, &menu, operation))));
        let sent = Interface::ALL.into_iter();
        reference.extend(sent.filter_map(|interface| Some((messages::path(interface), messages::page(&document, &menu, interface)?))));
        for group in Group::ALL {
            if group == Group::Reference {
                pages.append(&mut reference);
            }
            pages.extend(GUIDES.iter().filter(|guide| guide.group == group).map(|guide| (path(guide), page(&menu, guide))));
        }
        let places = pages.iter().enumerate().map(|(place, (path, _))| (path.clone(), place)).collect();
        let files = FILES.iter().map(|file| (file.name, OnceLock::new())).collect();
        Self { menu, pages, places, files, index: OnceLock::new(), llms: OnceLock::new() }
    }

    /// The page at a path.
    pub(super) fn page(&self, path: &str) -> Option<&Prepared> {
        let (_, page) = self.pages.get(*self.places.get(path)?)?;
        Some(page.prepared())
    }

    /// A file that the pages link to.
    pub(super) fn file(&self, name: &str) -> Option<&Prepared> {
        let file = FILES.iter().find(|file| file.name == name)?;
        Some(self.files.get(name)?.get_or_init(|| Prepared::new(file.media_type, file.bytes)))
    }

    /// The list of pages for programs.
    pub(super) fn llms(&self) -> &Prepared {
        let pages = || self.pages.iter().map(|(path, page)| (path.as_str(), page));
        self.llms.get_or_init(|| Prepared::new("text/plain; charset=utf-8", llms::text(pages())))
    }

    /// The page with what a query finds.
    pub(super) fn search(&self, query: &str) -> Result<String, askama::Error> {
        let found = self.index.get_or_init(|| self.indexed()).find(query);
        let title = if query.is_empty() { "Search".to_owned() } else { format!("Search: {query}") };
        let frame = Frame::new(&self.menu, "", &title, "Search the documentation.").searching(query);
        SearchPage { frame, found, reference: reference::LIST }.render()
    }

    fn indexed(&self) -> Index {
        let mut index = Index::default();
        for (path, page) in &self.pages {
            index.add(path, &page.title, &page.sections);
        }
        index
    }
}

fn path(guide: &Guide) -> String {
    format!("{FIRST}/{}", guide.slug)
}

/// The menu: the pages in Markdown, and above those of the reference the ones that are made from the program itself.
fn menu() -> Menu {
    let place = |path: String, name: &str| Place { path, name: name.to_owned() };
    let groups = Group::ALL.map(|group| {
        let made = match group {
            Group::Start => vec![place(FIRST.to_owned(), "Overview")],
            Group::Reference => vec![
                place(reference::LIST.to_owned(), "Interfaces"),
                place(messages::LIST.to_owned(), "Messages"),
                place(errors::PATH.to_owned(), "Errors"),
            ],
            Group::Guides | Group::Operating => Vec::new(),
        };
        let guides = GUIDES.iter().filter(|guide| guide.group == group).map(|guide| place(path(guide), guide.name));
        (group, made.into_iter().chain(guides).collect())
    });
    Menu(groups.into())
}

/// The page of a guide.
fn page(menu: &Menu, guide: &Guide) -> Page {
    let rendered = render(guide.markdown, &resolve);
    let (title, lede) = (rendered.title().to_owned(), rendered.lede());
    let headings = rendered.sections.iter().skip(1).map(|section| (section.anchor.clone(), section.heading.clone())).collect();
    let here = path(guide);
    let shown = GuidePage { frame: Frame::new(menu, &here, &title, &lede), html: rendered.html, headings };
    let html = shown.render().unwrap_or_default();
    Page::new(guide.group, title, lede, rendered.sections, html)
}

/// The first page: who reads what.
fn first(menu: &Menu) -> Page {
    let (title, lede) =
        ("Documentation", "How to connect to Backhaul, and how to run it: guides by reader, every interface, message and error.");
    let starts = GUIDES.iter().filter(|guide| guide.slug.starts_with("start-"));
    let readers: Vec<_> = starts.map(|guide| (path(guide), guide.name, render(guide.markdown, &|_| None).lede())).collect();
    let text = readers.iter().fold(lede.to_owned(), |text, (_, name, lede)| format!("{text} {name}: {lede}"));
    let sections = vec![Section { anchor: String::new(), heading: title.to_owned(), text }];
    let html = FirstPage { frame: Frame::new(menu, FIRST, title, lede), readers }.render().unwrap_or_default();
    Page::new(Group::Start, title.to_owned(), lede.to_owned(), sections, html)
}
