//! The language of a page: the one that its address asks for, else the one that was chosen before, else the browser's.

use axum::extract::Request;
use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderValue, header};

use super::cookie;
use super::frame::Reader;
use crate::app::App;
use crate::platform::texts::{Language, Languages};

const COOKIE: &str = "backhaul_language";
/// Half a year. The mails about a return are read by then.
const REMEMBERED_FOR: u32 = 180 * 24 * 60 * 60;

/// The language of a page.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) language: Language,
    /// The languages to choose from.
    pub(crate) languages: Languages,
    /// The address asks for it: the reader has chosen it in the menu.
    is_new: bool,
}

impl Choice {
    /// The choice of whoever sends this request.
    pub(crate) fn of(app: &App, request: &Request) -> Self {
        let (languages, headers) = (app.settings.portal.languages(), request.headers());
        let fields = request.uri().query().unwrap_or_default().split('&');
        let asked = fields.filter_map(|field| field.strip_prefix("lang=")).find_map(|code| languages.find(code));
        let before = || cookie::find(headers, COOKIE).and_then(|code| languages.find(code));
        let accepted = || headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok().and_then(|header| languages.accepted(header));
        let language = asked.or_else(before).or_else(accepted).unwrap_or_default();
        Self { language, languages, is_new: asked.is_some() }
    }

    /// The header that keeps a new choice for the next pages.
    pub(crate) fn cookie(&self, reader: &Reader) -> Result<Option<HeaderValue>, InvalidHeaderValue> {
        self.is_new.then(|| cookie::write(reader, COOKIE, self.language.code(), Some(REMEMBERED_FOR))).transpose()
    }
}
