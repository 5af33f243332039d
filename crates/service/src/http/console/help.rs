//! `GET /help`: the keys.

use askama::Template;
use axum::response::Response;

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::frame::{Frame, Section};
use super::page::render;

const KEYS: [(&str, &str); 18] = [
    ("/", "Search by any identifier or e-mail"),
    ("g t", "Today"),
    ("g f", "Failure queue"),
    ("g m", "Messages"),
    ("g c", "Merchants"),
    ("u", "Times in UTC, or in your zone again"),
    ("?", "This page"),
    ("j k", "In a list: to the next or the previous row"),
    ("Enter", "In a list: open the row"),
    ("x", "In a list: select the row"),
    ("Esc", "Select nothing; leave a field"),
    ("c", "In a list: copy the row's identifier"),
    ("r", "Retry: shows what would be retried"),
    ("o", "Failure queue: the owner"),
    ("n", "Failure queue: a note"),
    ("m", "Failure queue: the merchant was contacted"),
    ("t", "Endpoint: send a test"),
    ("[ ]", "Message: the one before or after it of the same subject"),
];

#[derive(Template)]
#[template(path = "console/help.html")]
struct Page {
    frame: Frame,
    keys: &'static [(&'static str, &'static str)],
}

pub(super) async fn show(by: By<Viewer>) -> Result<Response, ConsoleError> {
    render(&Page { frame: by.frame(Section::Account, "Keyboard"), keys: &KEYS })
}
