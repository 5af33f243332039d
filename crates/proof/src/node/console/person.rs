//! A person with a browser in the console: signs in on the real pages, with a password and an authenticator.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use backhaul::app::App;
use backhaul::flow::merchants::operators::people::{self, Authority};
use backhaul::platform::keys::totp::TotpSecret;
use domain::merchants::operator::Role;
use secrecy::ExposeSecret as _;

use crate::orders::load::Connection;

const PASSWORD: &str = "correct horse battery staple";

/// A person with a browser, which keeps cookies and follows no redirects by itself.
pub(super) struct Person {
    address: SocketAddr,
    cookies: BTreeMap<String, String>,
}

/// An answer of the console.
pub(super) struct Shown {
    pub(super) status: u16,
    /// Where a redirect leads; empty if it is none.
    pub(super) location: String,
    pub(super) html: String,
}

impl Person {
    /// Adds an administrator, who accepts the invitation and sets an authenticator up.
    pub(super) async fn enter(app: &App, address: SocketAddr) -> anyhow::Result<Self> {
        let email = "proof@example.com";
        let (_, link) = people::add(app, "proof", Authority::Full, &email.parse()?, "Pat", Role::Admin).await?;
        let (_, token) = link.expose_secret().rsplit_once('/').context("the link has no token")?;
        let mut person = Self { address, cookies: BTreeMap::new() };
        let fields = [("token", token), ("email", email), ("name", "Pat"), ("password", PASSWORD), ("repeated", PASSWORD)];
        person.is_sent("/invitation", &fields, "/sign-in/enrol").await?;
        let page = person.get("/sign-in/enrol").await?.html;
        let secret = page.split_once("<code>").and_then(|(_, rest)| rest.split_once("</code>")).context("there is no secret")?.0;
        let authenticator = TotpSecret::parse(&secret.replace(' ', "")).context("the secret cannot be read")?;
        let code = authenticator.code_at(app.now()).context("there is no code")?;
        ensure!(person.post("/sign-in/enrol", &[("code", &code)]).await?.status == 200, "the authenticator was not accepted");
        ensure!(person.get("/account").await?.status == 200, "the person is not signed in");
        Ok(person)
    }

    /// The next requests go to this address.
    pub(super) fn moves_to(&mut self, address: SocketAddr) {
        self.address = address;
    }

    /// Opens a page.
    pub(super) async fn get(&mut self, path: &str) -> anyhow::Result<Shown> {
        self.asks(&self.request(path)).await
    }

    /// The request for a page.
    pub(super) fn request(&self, path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers())
    }

    /// Sends a form.
    pub(super) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Shown> {
        let form = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&");
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            self.headers(),
            form.len()
        );
        self.asks(&request).await
    }

    /// Sends a form, which leads to another page.
    pub(super) async fn is_sent(&mut self, path: &str, fields: &[(&str, &str)], to: &str) -> anyhow::Result<String> {
        let Shown { status, location, html } = self.post(path, fields).await?;
        ensure!(status == 303 && location.starts_with(to), "the form at {path} was answered with {status} {location:?}: {html}");
        Ok(location)
    }

    fn headers(&self) -> String {
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let cookies = if cookies.is_empty() { cookies } else { format!("Cookie: {cookies}\r\n") };
        format!("Host: localhost\r\nAccept: text/html\r\n{cookies}")
    }

    async fn asks(&mut self, request: &str) -> anyhow::Result<Shown> {
        let mut connection = Connection::open(self.address).await.context("the console cannot be reached")?;
        let status = connection.exchange(request.as_bytes()).await.context("the console did not answer")?;
        let head = String::from_utf8_lossy(connection.head()).into_owned();
        for (name, value) in head.lines().filter_map(|line| line.split_once(": ")).filter(|(name, _)| *name == "set-cookie") {
            let cookie = value.split(';').next().and_then(|cookie| cookie.split_once('='));
            let (cookie, kept) = cookie.with_context(|| format!("{name} has no value"))?;
            if value.contains("Max-Age=0") {
                self.cookies.remove(cookie);
            } else {
                self.cookies.insert(cookie.to_owned(), kept.to_owned());
            }
        }
        let location = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_default().to_owned();
        Ok(Shown { status, location, html: String::from_utf8_lossy(connection.body()).into_owned() })
    }
}

/// A value of a form or an address.
pub(super) fn encoded(value: &str) -> String {
    let letter = |byte: u8| {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    value.bytes().map(letter).collect()
}
