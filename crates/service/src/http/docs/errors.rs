//! The page on errors: every error of the API by its status, with what happened, why, and what to do next.

use std::collections::BTreeMap;

use askama::Template;

use super::guides::Group;
use super::markdown::{Section, short};
use super::page::{Frame, Menu, Page};
use crate::http::error_samples;

/// The path of the page.
pub(super) const PATH: &str = "/docs/errors";

const TITLE: &str = "Errors";
const LEDE: &str = "Every error of the API: what happened, why, and what to do next.";

/// The codes that an error body can have besides its status.
const CODES: [(&str, &str, &str, &str); 9] = [
    ("code", "no_such_route", "404: the path does not exist.", "Compare the path with the reference."),
    ("code", "not_found", "404: the merchant has no such record.", "Check the identifier, and for which merchant the token is."),
    ("errors[].code", "missing_field", "422: a required field is absent, null or empty.", "Send the field."),
    (
        "errors[].code",
        "invalid_type",
        "422: the value has the wrong JSON type, such as text for a number.",
        "Send the type that the field has.",
    ),
    ("errors[].code", "invalid", "422: the value breaks a rule, which `message` states.", "Read `message`, and correct the value."),
    (
        "error",
        "invalid_request",
        "400 at the token endpoint: the request is incomplete, unreadable, or names two credentials.",
        "Send each field once.",
    ),
    ("error", "invalid_client", "401 at the token endpoint: the client id or the secret is wrong, or may not be used.", "Check both."),
    ("error", "invalid_scope", "400 at the token endpoint: the scope is unknown or not granted.", "Leave out `scope`."),
    ("error", "unsupported_grant_type", "400 at the token endpoint: only client credentials are supported.", "Send `client_credentials`."),
];

/// A status with its errors.
struct Status {
    code: u16,
    name: String,
    /// The text for the caller, its cause and the next step, as HTML.
    errors: Vec<(String, String, String)>,
}

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct ErrorsPage<'a> {
    frame: Frame<'a>,
    codes: Vec<(&'static str, &'static str, String, String)>,
    statuses: Vec<Status>,
}

/// The page.
pub(super) fn page(menu: &Menu) -> Page {
    let mut statuses: BTreeMap<u16, Status> = BTreeMap::new();
    let mut sections = vec![Section { anchor: String::new(), heading: TITLE.to_owned(), text: LEDE.to_owned() }];
    for sample in error_samples::all() {
        let status = sample.error.status();
        let name = status.canonical_reason().unwrap_or_default().to_owned();
        let known = statuses.entry(status.as_u16()).or_insert_with(|| Status { code: status.as_u16(), name, errors: Vec::new() });
        let message = sample.error.message();
        sections.push(Section {
            anchor: format!("status-{}", status.as_u16()),
            heading: format!("{} {}", known.code, known.name),
            text: format!("{message} {} {}", sample.why, sample.next),
        });
        known.errors.push((message, short(sample.why), short(sample.next)));
    }
    let told = CODES.iter().map(|(_, code, what, next)| format!("{code} {what} {next}")).collect::<Vec<_>>().join(" ");
    sections.push(Section { anchor: "codes".to_owned(), heading: "Codes".to_owned(), text: told });
    let codes = CODES.iter().map(|(place, code, what, next)| (*place, *code, short(what), short(next))).collect();
    let shown = ErrorsPage { frame: Frame::new(menu, PATH, TITLE, LEDE), codes, statuses: statuses.into_values().collect() };
    let html = shown.render().unwrap_or_default();
    Page::new(Group::Reference, TITLE.to_owned(), LEDE.to_owned(), sections, html)
}
