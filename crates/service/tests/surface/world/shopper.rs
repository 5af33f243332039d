//! A shopper with a browser in a merchant's portal.

use std::collections::BTreeMap;
use std::sync::Mutex;

use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Client, Method, StatusCode, redirect};

use super::World;

/// A shopper with a browser. It keeps cookies, as browsers do, and follows no redirects by itself.
pub struct Shopper {
    client: Client,
    base: String,
    root: String,
    /// By name.
    cookies: Mutex<BTreeMap<String, String>>,
}

/// A page as the shopper's browser got it.
#[derive(Debug)]
pub struct Page {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub html: String,
}

impl World {
    /// A shopper in the portal of the merchant `handle`.
    pub fn shopper(&self, handle: &str) -> Shopper {
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        Shopper { client, base: self.portal.clone(), root: format!("/r/{handle}"), cookies: Mutex::default() }
    }
}

impl Shopper {
    /// The same shopper, whose next requests another node answers.
    pub fn moves_to(&mut self, node: &World) {
        self.base.clone_from(&node.portal);
    }

    /// The cookies that the browser sends.
    pub fn cookie(&self) -> Option<String> {
        let cookies: Vec<String> = self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!cookies.is_empty()).then(|| cookies.join("; "))
    }

    /// The browser has this cookie and no other.
    pub fn has_cookie(&self, cookie: Option<&str>) {
        self.cookies.lock().unwrap().clear();
        cookie.into_iter().for_each(|cookie| self.keeps(cookie));
    }

    fn keeps(&self, cookie: &str) {
        let (name, value) = cookie.split_once('=').unwrap();
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// Requests a page of the portal.
    pub async fn asks(&self, method: Method, path: &str, shape: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder) -> Page {
        let request = self.client.request(method, format!("{}{path}", self.base));
        let request = match self.cookie() {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        };
        let answer = shape(request).send().await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        for set in headers.get_all(SET_COOKIE) {
            let set = set.to_str().unwrap();
            for attribute in ["HttpOnly", "Secure", "SameSite=Lax", &format!("Path={}", self.root)] {
                assert!(set.split("; ").any(|found| found == attribute), "{set}");
            }
            self.keeps(set.split(';').next().unwrap());
        }
        Page { status, headers, html: answer.text().await.unwrap() }
    }

    /// Opens a page, and follows redirects.
    pub async fn opens(&self, page: &str) -> Page {
        let got = self.asks(Method::GET, &self.path(page), |request| request).await;
        self.follows(got).await
    }

    /// Sends a form from one of our pages, and follows redirects.
    pub async fn sends(&self, page: &str, fields: &[(&str, &str)]) -> Page {
        let got = self.sends_once(page, fields).await;
        self.follows(got).await
    }

    /// Sends a form from one of our pages.
    pub async fn sends_once(&self, page: &str, fields: &[(&str, &str)]) -> Page {
        self.asks(Method::POST, &self.path(page), |request| request.header("Sec-Fetch-Site", "same-origin").form(fields)).await
    }

    async fn follows(&self, mut got: Page) -> Page {
        for _ in 0..5 {
            let Some(location) = got.headers.get(LOCATION) else { return got };
            assert_eq!(got.status, 303);
            let location = location.to_str().unwrap().to_owned();
            got = self.asks(Method::GET, &location, |request| request).await;
        }
        panic!("too many redirects")
    }

    fn path(&self, page: &str) -> String {
        if page.starts_with('/') {
            page.to_owned()
        } else if page.is_empty() {
            self.root.clone()
        } else {
            format!("{}/{page}", self.root)
        }
    }

    /// Finds an order with its number and the e-mail address or postal code.
    pub async fn finds(&self, order: &str, key: &str) -> Page {
        self.sends("", &[("order", order), ("key", key)]).await
    }

    /// Confirms the draft that the page shows.
    pub async fn confirms(&self, check: &Page) -> Page {
        self.sends("check", &[("draft", &check.field("draft")), ("revision", &check.field("revision"))]).await
    }
}

impl Page {
    /// The heading of the page.
    pub fn heading(&self) -> String {
        text(between(&self.html, "<h1>", "</h1>").unwrap_or_else(|| panic!("{} has no heading: {}", self.status, self.html)))
    }

    /// Everything that can be read on the page.
    pub fn reads(&self) -> String {
        text(&self.html)
    }

    pub fn says(&self, words: &str) -> bool {
        self.reads().contains(words)
    }

    /// The value of a hidden field.
    pub fn field(&self, name: &str) -> String {
        let field = between(&self.html, &format!(r#"name="{name}" value=""#), "\"");
        field.unwrap_or_else(|| panic!("no field {name}: {}", self.html)).to_owned()
    }

    /// The RMA identifier on the page.
    pub fn rma(&self) -> String {
        let code = between(&self.html, r#"<bdi class="code" dir="ltr">"#, "</bdi>");
        code.unwrap_or_else(|| panic!("no code: {}", self.html)).to_owned()
    }
}

fn between<'a>(html: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = html.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

/// The text of HTML, with single spaces.
fn text(html: &str) -> String {
    let mut plain = String::new();
    let mut inside = true;
    for letter in html.chars() {
        match letter {
            '<' => {
                inside = false;
                plain.push(' ');
            }
            '>' => inside = true,
            letter if inside => plain.push(letter),
            _ => {}
        }
    }
    let decoded = plain
        .replace("&#38;", "&")
        .replace("&amp;", "&")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#39;", "'")
        .replace("&#34;", "\"");
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}
