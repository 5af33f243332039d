//! A call to a merchant's endpoint as people are shown it: with every header, and without its secrets.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use hyper::header;
use store::messages::endpoints::Endpoint;
use uuid::Uuid;
use wire::messages::{endpoint_test, headers};

use super::peer::{Address, Peer, Route};
use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::Authentication;

/// A header of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownHeader {
    pub name: String,
    /// The value, or the part of it that is no secret.
    pub value: String,
    /// The words in place of the secret part.
    pub masked: Option<&'static str>,
}

/// The message of a call.
#[derive(Clone, Copy, Debug)]
pub struct ShownMessage<'a> {
    pub id: Uuid,
    pub event: &'a str,
    pub sequence: i64,
    pub attempt: i16,
    pub at: DateTime<Utc>,
}

/// The headers of a call that delivers a message to `endpoint`. The error says why its settings cannot be used.
pub fn headers_of(
    delivery: &Delivery,
    merchant: MerchantId,
    endpoint: &Endpoint,
    message: ShownMessage<'_>,
) -> Result<Vec<ShownHeader>, String> {
    let peer = Peer::new(delivery, merchant, endpoint).map_err(|unusable| unusable.to_string())?;
    let Route::Endpoint(address) = peer.route else { return Ok(Vec::new()) };
    let signatures = if address.live_secrets(message.at).len() > 1 { "two signatures" } else { "signature" };
    let mut shown = vec![
        plain(header::CONTENT_TYPE.as_str(), "application/json"),
        plain(header::USER_AGENT.as_str(), concat!("Backhaul/", env!("CARGO_PKG_VERSION"))),
        plain(headers::ID, message.id.to_string()),
        masked(headers::SIGNATURE, "v1,", signatures),
        plain(headers::EVENT, message.event),
        plain(headers::TIMESTAMP, message.at.timestamp().to_string()),
        plain(headers::SEQUENCE, message.sequence.to_string()),
        plain(headers::ATTEMPT, message.attempt.to_string()),
    ];
    if message.event == endpoint_test::EVENT {
        shown.push(plain(headers::TRIAL, endpoint_test::TRIAL));
    }
    shown.extend(authorization(&address));
    shown.extend(extra(&address));
    shown.extend(version(&address));
    Ok(shown)
}

/// The headers of a call that queries `endpoint`. The error says why its settings cannot be used.
pub fn headers_of_query(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint) -> Result<Vec<ShownHeader>, String> {
    let peer = Peer::new(delivery, merchant, endpoint).map_err(|unusable| unusable.to_string())?;
    let Route::Endpoint(address) = peer.route else { return Ok(Vec::new()) };
    let accept = plain(header::ACCEPT.as_str(), "application/json");
    Ok([accept].into_iter().chain(authorization(&address)).chain(extra(&address)).chain(version(&address)).collect())
}

fn version(address: &Address) -> Option<ShownHeader> {
    address.version.as_ref().map(|(name, value)| plain(name.as_str(), value.to_str().unwrap_or_default()))
}

fn extra(address: &Address) -> Option<ShownHeader> {
    address.extra.as_ref().map(|(name, _)| masked(name.as_str(), "", "key"))
}

fn authorization(address: &Address) -> Option<ShownHeader> {
    let authorization = header::AUTHORIZATION;
    match &address.authentication {
        Authentication::None => None,
        Authentication::Bearer(_) => Some(masked(authorization.as_str(), "Bearer ", "token")),
        Authentication::Basic { user, .. } => {
            Some(masked(authorization.as_str(), "Basic ", "user and password")).filter(|_| !user.is_empty())
        }
        Authentication::ApiKey { header, .. } => Some(masked(&header.to_ascii_lowercase(), "", "key")),
        Authentication::OAuth(_) => Some(masked(authorization.as_str(), "Bearer ", "OAuth token")),
    }
}

fn plain(name: &str, value: impl Into<String>) -> ShownHeader {
    ShownHeader { name: name.to_owned(), value: value.into(), masked: None }
}

fn masked(name: &str, start: &str, secret: &'static str) -> ShownHeader {
    ShownHeader { name: name.to_owned(), value: start.to_owned(), masked: Some(secret) }
}
