//! Somebody on the way in: they may not be signed in yet.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::cookie;
use super::error::ConsoleError;
use super::frame::Frame;
use super::person::Person;
use super::view::View;
use crate::app::App;
use crate::flow::merchants::operators::visitor::Visitor;
use crate::http::address::Client;
use crate::http::pages::cookie::find;

/// Somebody on the way in, and their browser.
pub(super) struct Entry {
    pub(super) app: App,
    pub(super) view: View,
    /// The person, if they are signed in.
    pub(super) person: Option<Person>,
    pub(super) visitor: Visitor,
    headers: HeaderMap,
}

impl Entry {
    /// The frame of a page outside of the menu.
    pub(super) fn frame(&self, heading: &str) -> Frame {
        Frame::new(&self.app, self.view.clone(), None, None, heading)
    }

    /// The value of a cookie.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }
}

impl FromRequestParts<App> for Entry {
    type Rejection = ConsoleError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ConsoleError> {
        let extensions = &parts.extensions;
        let view = extensions.get::<View>().cloned().ok_or_else(|| ConsoleError::Internal("a page without a view".to_owned()))?;
        let address = extensions.get::<Client>().map(|client| client.counted.to_string()).unwrap_or_default();
        let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        let visitor = Visitor { address, agent: name_of(agent), device: cookie::device_hash(&parts.headers) };
        let person = extensions.get::<Person>().cloned();
        Ok(Self { app: app.clone(), view, person, visitor, headers: parts.headers.clone() })
    }
}

/// A browser in a few words, such as `Firefox on Linux`.
fn name_of(agent: &str) -> String {
    let known = |names: &[(&str, &'static str)]| names.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name);
    // The order matters: browsers claim to be others.
    let browser = known(&[("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome")])
        .or_else(|| known(&[("Chrome", "Chrome"), ("Safari", "Safari"), ("curl", "curl")]));
    let system = known(&[("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows")])
        .or_else(|| known(&[("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")]));
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "Unknown browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_named_in_a_few_words() {
        for (agent, name) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
                "Chrome on macOS",
            ),
            ("curl/8.14.1", "curl"),
            ("<script>", "Unknown browser"),
            ("", "Unknown browser"),
        ] {
            assert_eq!(name_of(agent), name);
        }
    }
}
