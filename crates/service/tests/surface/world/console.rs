//! A person with a browser in the operator's console.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use backhaul::flow::merchants::operators::people::{self, Authority, PeopleError};
use backhaul::platform::keys::totp::TotpSecret;
use domain::merchants::operator::{Email, Role};
use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Client, RequestBuilder, redirect};
use secrecy::ExposeSecret as _;
use serde::Serialize;

use super::World;

/// The password of everybody in tests.
pub const PASSWORD: &str = "correct horse battery staple";

/// A person with a browser. It keeps cookies, as browsers do, and follows no redirects by itself.
pub struct Console<'w> {
    pub world: &'w World,
    pub email: String,
    /// The authenticator, once it is set up.
    pub authenticator: Option<TotpSecret>,
    /// The recovery codes, once they were shown.
    pub recovery_codes: Vec<String>,
    /// The address that a proxy reports for this person.
    pub address: Option<&'static str>,
    client: Client,
    cookies: Mutex<BTreeMap<String, String>>,
}

/// An answer of the console.
#[derive(Debug)]
pub struct Shown {
    pub status: u16,
    pub text: String,
    /// Where a redirect leads; empty if it is none.
    pub location: String,
    pub headers: HeaderMap,
}

impl Shown {
    /// The text of a page that was shown.
    pub fn page(self) -> String {
        assert_eq!(self.status, 200, "{}", self.text);
        self.text
    }
}

/// The second names of the people of each role.
const NUMBERS: [&str; 4] = ["One", "Two", "Three", "Four"];

fn name(role: Role, number: &str) -> String {
    let (first, rest) = role.as_str().split_at(1);
    format!("{}{rest} {number}", first.to_uppercase())
}

impl World {
    /// Somebody at the console who is not signed in.
    pub fn at_the_console(&self) -> Console<'_> {
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        Console {
            world: self,
            email: String::new(),
            authenticator: None,
            recovery_codes: Vec::new(),
            address: None,
            client,
            cookies: Mutex::default(),
        }
    }

    /// A new person of this role, who was invited, has set a password and an authenticator, and is signed in.
    pub async fn console(&self, role: Role) -> Console<'_> {
        for number in NUMBERS {
            let email: Email = format!("{role}.{}@ops.example.com", number.to_lowercase()).parse().unwrap();
            match people::add(&self.app, "test", Authority::Full, &email, &name(role, number), role).await {
                Ok((_, link)) => {
                    let mut person = self.at_the_console();
                    person.email = email.to_string();
                    person.accepts(link.expose_secret()).await;
                    return person;
                }
                Err(PeopleError::EmailTaken(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("there are four people of the role {role} already")
    }
}

impl Console<'_> {
    async fn asks(&self, request: RequestBuilder) -> Shown {
        let cookies: Vec<String> = self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = if cookies.is_empty() { request } else { request.header(COOKIE, cookies.join("; ")) };
        let request = match self.address {
            Some(address) => request.header("X-Forwarded-For", address),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        for set in headers.get_all(SET_COOKIE) {
            let set = set.to_str().unwrap();
            for attribute in ["HttpOnly", "Secure", "SameSite=Lax", "Path=/"] {
                assert!(set.split("; ").any(|found| found == attribute), "{set}");
            }
            assert!(set.starts_with("__Host-") && !set.contains("Domain"), "{set}");
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            let mut cookies = self.cookies.lock().unwrap();
            if set.contains("Max-Age=0") {
                cookies.remove(name)
            } else {
                cookies.insert(name.to_owned(), value.to_owned())
            };
        }
        let location = headers.get(LOCATION).map(|location| location.to_str().unwrap().to_owned()).unwrap_or_default();
        Shown { status, text: answer.text().await.unwrap(), location, headers }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.world.console)
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Shown {
        self.asks(self.client.get(self.url(path))).await
    }

    /// Sends a form from one of our pages.
    pub async fn post<F: Serialize + ?Sized>(&self, path: &str, fields: &F) -> Shown {
        self.asks(self.client.post(self.url(path)).header("Sec-Fetch-Site", "same-origin").form(fields)).await
    }

    /// Sends a form with one file from one of our pages.
    pub async fn sends_file(&self, path: &str, name: &str, file: &[u8]) -> Shown {
        let head = format!("--part\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"file\"\r\n\r\n");
        let body = [head.as_bytes(), file, b"\r\n--part--\r\n"].concat();
        let request = self.client.post(self.url(path)).header("Sec-Fetch-Site", "same-origin");
        self.asks(request.header("Content-Type", "multipart/form-data; boundary=part").body(body)).await
    }

    /// Sends a form, reads its preview, and presses the button there.
    pub async fn confirms<F: Serialize + ?Sized>(&self, path: &str, fields: &F) -> Shown {
        let preview = self.post(path, fields).await.page();
        assert!(preview.contains("Nothing happens until you press the button below."), "{preview}");
        self.post(path, &hidden_fields(&preview)).await
    }

    /// Sends a form from a page of another site.
    pub async fn posts_from_elsewhere(&self, path: &str, fields: &[(&str, &str)]) -> Shown {
        self.asks(self.client.post(self.url(path)).header("Sec-Fetch-Site", "cross-site").form(fields)).await
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// The browser has this cookie from now on, or not any more.
    pub fn has_cookie(&self, name: &str, value: Option<&str>) {
        let mut cookies = self.cookies.lock().unwrap();
        match value {
            Some(value) => _ = cookies.insert(name.to_owned(), value.to_owned()),
            None => _ = cookies.remove(name),
        }
    }

    /// Sets a password and an authenticator with a one-time link.
    pub async fn accepts(&mut self, link: &str) {
        let (_, token) = link.rsplit_once('/').unwrap();
        let fields = [("token", token), ("email", &self.email), ("name", "First One"), ("password", PASSWORD), ("repeated", PASSWORD)];
        let set = self.post("/invitation", &fields).await;
        assert_eq!((set.status, set.location.as_str()), (303, "/sign-in/enrol"), "{}", set.text);
        self.enrols().await;
    }

    /// Sets an authenticator up, and keeps the recovery codes.
    pub async fn enrols(&mut self) {
        let page = self.get("/sign-in/enrol").await.page();
        let secret = between(&page, "<code>", "</code>").replace(' ', "");
        self.authenticator = Some(TotpSecret::parse(&secret).unwrap());
        let codes = self.post("/sign-in/enrol", &[("code", self.code().as_str())]).await.page();
        self.recovery_codes = codes.split("<li><code>").skip(1).map(|code| code.split('<').next().unwrap().to_owned()).collect();
        assert_eq!(self.recovery_codes.len(), 10, "{codes}");
    }

    /// The code that the authenticator shows.
    pub fn code(&self) -> String {
        self.authenticator.as_ref().unwrap().code_at(self.world.app.now()).unwrap()
    }

    /// Enters the e-mail address and a password.
    pub async fn enters(&self, password: &str) -> Shown {
        self.post("/sign-in", &[("email", self.email.as_str()), ("password", password), ("next", "/")]).await
    }

    /// Signs in with the password and the next code of the authenticator.
    pub async fn signs_in(&self) -> Shown {
        self.world.time_passes(Duration::from_secs(30));
        let entered = self.enters(PASSWORD).await;
        assert_eq!((entered.status, entered.location.as_str()), (303, "/sign-in/code"), "{}", entered.text);
        self.post("/sign-in/code", &[("code", self.code().as_str())]).await
    }

    /// True if the person is signed in.
    pub async fn is_in(&self) -> bool {
        let shown = self.get("/account").await;
        match shown.status {
            200 => true,
            303 => {
                assert_eq!(shown.location, "/sign-in?next=%2Faccount");
                false
            }
            status => panic!("{status}: {}", shown.text),
        }
    }
}

/// The hidden fields of a page's last form.
pub fn hidden_fields(page: &str) -> Vec<(String, String)> {
    let form = between(page, "<form class=\"acts\" method=\"post\"", "</form>");
    let fields = form.split("<input type=\"hidden\" name=\"").skip(1);
    let read = |field: &str| {
        let (name, rest) = field.split_once("\" value=\"").unwrap();
        let value = rest.split('"').next().unwrap();
        let escapes = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
        (name.to_owned(), escapes.iter().fold(value.to_owned(), |value, (escaped, plain)| value.replace(escaped, plain)))
    };
    fields.map(read).collect()
}

/// The text between two others.
pub fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap().0
}
