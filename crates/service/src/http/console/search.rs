//! `POST /search`: finds anything by its identifier, and orders by the shopper's e-mail address.
//!
//! An identifier is in the address of its result. An e-mail address never is: the form carries it in its body, it is looked up by its
//! fingerprint, and the address of the result holds that fingerprint sealed, so that it says nothing and works only here.

use askama::Template;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::MerchantId;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use store::merchants::search::Hit;
use store::orders::snapshots::Fingerprint;
use uuid::Uuid;

use super::by::{By, Permission, Support, Viewer};
use super::error::ConsoleError;
use super::form::{Form, Path, Query};
use super::frame::{Frame, Section};
use super::messages::subject_at;
use super::page::render;
use super::return_found::{asn_at, order_at, return_at, shipment_at};
use super::stamp::Stamp;
use crate::app::App;
use crate::http::pages::see;
use crate::platform::keys::sealing::{Context, Sealed};
use crate::show::merchants::search::{self as by_word, Kind};

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    q: String,
}

struct Row {
    /// The page of what was found.
    link: String,
    /// The page of the other identifier, if it has one.
    other_link: Option<String>,
    hit: Hit,
    at: Stamp,
}

/// What was found of one kind.
struct Found {
    name: &'static str,
    /// How the other identifier relates to the thing.
    relation: &'static str,
    rows: Vec<Row>,
}

#[derive(Template)]
#[template(path = "console/search.html")]
struct Page {
    frame: Frame,
    found: Vec<Found>,
    looked_at: &'static str,
}

/// Leads to the result.
pub(super) async fn ask(by: By<Viewer>, Form(Asked { q }): Form<Asked>) -> Result<Response, ConsoleError> {
    let word = q.trim();
    if word.contains('@') {
        let fingerprints = by.app.fingerprints.emails(word).concat();
        return Ok(see(&format!("/search/by-email/{}", seal(&by.app, &fingerprints)?)));
    }
    if let Ok(message) = word.parse::<Uuid>()
        && let Some(handle) = by_word::merchant_of_message(&by.app, message).await?
    {
        return Ok(see(&format!("/merchants/{handle}/messages/{message}")));
    }
    let query = serde_urlencoded::to_string([("q", word)]).unwrap_or_default();
    Ok(see(&format!("/search?{query}")))
}

/// Shows what has an identifier.
pub(super) async fn show(by: By<Viewer>, Query(Asked { q }): Query<Asked>) -> Result<Response, ConsoleError> {
    let word = q.trim();
    let looked_at = "Looked at returns, tracking numbers, orders, ASNs, units and messages of all merchants.";
    if !by_word::is_identifier(word) {
        let frame = by.frame(Section::Today, "Search");
        let looked_at = "Type an identifier above.";
        return render(&Page { frame, found: Vec::new(), looked_at });
    }
    let found = by_word::by_identifier(&by.app, word).await?;
    let found = found.into_iter().map(|(kind, hits)| found_of(&by, kind, hits)).collect();
    render(&Page { frame: by.frame(Section::Today, word), found, looked_at })
}

/// Shows the orders of a shopper, whose e-mail address was searched for.
pub(super) async fn by_email(by: By<Support>, Path(sealed): Path<String>) -> Result<Response, ConsoleError> {
    let fingerprints = open(&by.app, &sealed).ok_or(ConsoleError::NotFound)?;
    let fingerprints: Vec<Vec<u8>> = fingerprints.chunks(size_of::<Fingerprint>()).map(<[u8]>::to_vec).collect();
    let found = by_word::by_email(&by.app, &fingerprints).await?;
    let found = found.into_iter().map(|(kind, hits)| found_of(&by, kind, hits)).collect();
    let looked_at = "Looked at the orders of all merchants by the fingerprint of the e-mail address; at most 20 of each are shown.";
    render(&Page { frame: by.frame(Section::Today, "Returns and orders of this shopper"), found, looked_at })
}

fn found_of<P: Permission>(by: &By<P>, kind: Kind, hits: Vec<Hit>) -> Found {
    let (name, relation) = match kind {
        Kind::Returns => ("Returns", "Order"),
        Kind::Orders => ("Orders", ""),
        Kind::Asns => ("ASNs", ""),
        Kind::Units => ("Units", "Received for"),
    };
    let link = |hit: &Hit| match kind {
        Kind::Returns => return_at(&hit.handle, &hit.identifier),
        Kind::Orders => order_at(&hit.handle, &hit.identifier),
        Kind::Asns if hit.other.as_deref() == Some("outbound") => shipment_at(&hit.handle, &hit.identifier),
        Kind::Asns => asn_at(&hit.handle, &hit.identifier),
        Kind::Units => subject_at(&hit.handle, &hit.identifier),
    };
    let other_link = |hit: &Hit| match (kind, &hit.other) {
        (Kind::Returns, Some(order)) => Some(order_at(&hit.handle, order)),
        (Kind::Returns | Kind::Orders | Kind::Asns | Kind::Units, _) => None,
    };
    let row = |hit: Hit| Row { link: link(&hit), other_link: other_link(&hit), at: by.time(hit.at), hit };
    Found { name, relation, rows: hits.into_iter().map(row).collect() }
}

const CONTEXT: Context<'static> = Context { merchant: MerchantId(Uuid::nil()), row: Uuid::nil(), column: "console.search" };

fn seal(app: &App, fingerprints: &[u8]) -> Result<String, ConsoleError> {
    let sealed = app.keyring.seal(&CONTEXT, fingerprints, &app.entropy).map_err(|error| ConsoleError::Internal(error.to_string()))?;
    Ok(format!("{}.{}", sealed.key_id, URL_SAFE_NO_PAD.encode(sealed.bytes)))
}

fn open(app: &App, sealed: &str) -> Option<Vec<u8>> {
    let (key_id, bytes) = sealed.split_once('.')?;
    let sealed = Sealed { key_id: key_id.to_owned(), bytes: URL_SAFE_NO_PAD.decode(bytes).ok()? };
    app.keyring.open(&CONTEXT, &sealed).ok().map(|plain| plain.expose_secret().to_vec())
}
