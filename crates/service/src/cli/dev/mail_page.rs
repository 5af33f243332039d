//! The pages of the sandbox's mailbox: a list of the mails so far, and one mail as text and HTML. Mails are shown as they came, so
//! nothing in them may run, or load anything but the merchants' logos from this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use sandbox::mailbox::{Mailbox, Received};
use tokio::net::TcpListener;

/// Our own pages: no script, and nothing from elsewhere.
const OF_PAGE: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'";
/// A mail's page: as if it had an origin of its own.
const OF_MAIL: &str =
    "sandbox; default-src 'none'; img-src http://127.0.0.1:*; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

#[derive(Template)]
#[template(path = "dev/mailbox.html")]
struct List {
    mails: Vec<Entry>,
}

#[derive(Template)]
#[template(path = "dev/mail.html")]
struct One {
    mail: Entry,
    text: String,
    /// The addresses that it links to.
    links: Vec<String>,
    has_html: bool,
}

struct Entry {
    number: usize,
    from: String,
    to: String,
    subject: String,
    date: String,
}

impl Entry {
    fn of(number: usize, mail: &Received) -> Self {
        let header = |name: &str| mail.header(name).unwrap_or_default().to_owned();
        Self { number, from: header("from"), to: header("to"), subject: header("subject"), date: header("date") }
    }
}

/// Serves the pages on a free port of this machine, until the process ends. Returns their address.
pub(super) async fn serve(mailbox: Arc<Mailbox>) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("the mailbox's page found no free port")?;
    let address = listener.local_addr()?;
    let pages = router(mailbox).into_make_service();
    tokio::spawn(async move { axum::serve(listener, pages).await });
    Ok(address)
}

fn router(mailbox: Arc<Mailbox>) -> Router {
    Router::new().route("/", get(list)).route("/mails/{number}", get(one)).route("/mails/{number}/html", get(html)).with_state(mailbox)
}

async fn list(State(mailbox): State<Arc<Mailbox>>) -> Response {
    let received = mailbox.received();
    let mails = received.iter().enumerate().map(|(at, mail)| Entry::of(at + 1, mail)).rev();
    page(&List { mails: mails.collect() })
}

async fn one(State(mailbox): State<Arc<Mailbox>>, Path(number): Path<usize>) -> Response {
    let Some(mail) = find(&mailbox, number) else { return StatusCode::NOT_FOUND.into_response() };
    let text = mail.text().unwrap_or_default().to_owned();
    let is_link = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let links = text.split_whitespace().filter(is_link).map(ToOwned::to_owned).collect();
    page(&One { mail: Entry::of(number, &mail), text, links, has_html: mail.html().is_some() })
}

async fn html(State(mailbox): State<Arc<Mailbox>>, Path(number): Path<usize>) -> Response {
    let found = find(&mailbox, number);
    let Some(html) = found.as_ref().and_then(Received::html) else { return StatusCode::NOT_FOUND.into_response() };
    ([(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(OF_MAIL))], Html(html.to_owned())).into_response()
}

/// The mail with this number, counted from 1.
fn find(mailbox: &Mailbox, number: usize) -> Option<Received> {
    mailbox.received().into_iter().nth(number.checked_sub(1)?)
}

fn page(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => ([(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(OF_PAGE))], Html(html)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
