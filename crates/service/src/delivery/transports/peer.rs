//! A peer: the settings of an endpoint, parsed and with its secrets opened, ready for calls.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::delivery::Schedule;
use domain::messages::message::{Interface, Kind, Transport};
use hyper::header::{HeaderName, HeaderValue};
use store::messages::endpoints::Endpoint;

use crate::delivery::client::Identity;
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::Authentication;
use crate::delivery::secrets::signature::Secret;
use crate::delivery::secrets::stored::Secrets;

/// An endpoint's settings, ready for calls.
pub(crate) struct Peer {
    pub(crate) revision: i64,
    pub(crate) slots: usize,
    pub(crate) per_second: usize,
    pub(crate) schedule: Schedule,
    pub(crate) route: Route,
}

/// The receiver of an endpoint's messages. All but the first are for internal work.
pub(crate) enum Route {
    /// The merchant's own system.
    Endpoint(Box<Address>),
    /// The operator's mail server.
    Mail,
    /// The operator's webhook.
    OperatorHook,
    /// The API of the merchant's carrier.
    Carrier,
}

/// The target of calls to a merchant's endpoint, and their credentials.
pub(crate) struct Address {
    pub(crate) target: Result<Target, NotAllowed>,
    pub(crate) authentication: Authentication,
    /// The client certificate that calls present.
    pub(crate) identity: Option<Arc<Identity>>,
    /// Signing secrets, each with the time at which it ends.
    secrets: Vec<(Secret, Option<DateTime<Utc>>)>,
    /// The header with the version of the interface.
    pub(crate) version: Option<(HeaderName, HeaderValue)>,
    /// The header beside the OAuth token.
    pub(crate) extra: Option<(HeaderName, HeaderValue)>,
}

impl Address {
    /// The secrets that are valid at `now`. There are two while a secret is being replaced.
    pub(crate) fn live_secrets(&self, now: DateTime<Utc>) -> Vec<&Secret> {
        self.secrets.iter().filter(|(_, until)| until.is_none_or(|until| now < until)).map(|(secret, _)| secret).collect()
    }
}

impl Address {
    /// The headers of every call beside the authentication: the version, and the one beside the OAuth token.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        self.version.clone().into_iter().chain(self.extra.clone())
    }
}

/// An error in an endpoint's stored settings, because of which it cannot be called.
#[derive(Debug, thiserror::Error)]
#[error("the endpoint's stored {what} cannot be used; configure the endpoint again")]
pub(crate) struct UnusablePeer {
    what: &'static str,
    /// The schedule by which the message is retried nevertheless.
    pub(crate) schedule: Schedule,
}

const VERSION: HeaderName = HeaderName::from_static(wire::messages::headers::VERSION);

impl Peer {
    /// Parses the settings of an endpoint and opens its secrets.
    pub(crate) fn new(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint) -> Result<Self, UnusablePeer> {
        let kind: Option<Kind> = endpoint.interface.parse().ok();
        let schedule = match &endpoint.waits {
            Some(waits) => Schedule::of_stored(waits).map_err(|_| UnusablePeer { what: "schedule", schedule: Schedule::default() })?,
            None => kind.map_or_else(Schedule::default, Kind::schedule),
        };
        let route = match kind.map_or(Transport::Endpoint, Kind::transport) {
            Transport::Endpoint => Route::Endpoint(Box::new(address(delivery, merchant, endpoint, &schedule)?)),
            Transport::Mail => Route::Mail,
            Transport::OperatorHook => Route::OperatorHook,
            Transport::Carrier => Route::Carrier,
        };
        Ok(Self {
            revision: endpoint.revision,
            slots: usize::try_from(endpoint.slots).unwrap_or(1),
            per_second: usize::try_from(endpoint.per_second).unwrap_or(1),
            schedule,
            route,
        })
    }

    #[cfg(test)]
    pub(crate) fn for_tests(slots: usize, per_second: usize) -> Self {
        Self { revision: 1, slots, per_second, schedule: Schedule::default(), route: Route::Mail }
    }
}

fn address(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint, schedule: &Schedule) -> Result<Address, UnusablePeer> {
    let unusable = |what| UnusablePeer { what, schedule: schedule.clone() };
    let Secrets { authentication, secret, previous, client } =
        Secrets::open(delivery, merchant, endpoint).map_err(|_| unusable("secrets"))?;
    let until = endpoint.previous_secret.as_ref().map(|(_, until)| *until);
    let secrets = [Some((secret, None)), previous.map(|previous| (previous, until))].into_iter().flatten().collect();
    let interface: Option<Interface> = endpoint.interface.parse().ok();
    let version = match (&endpoint.version_header, interface) {
        (Some((name, value)), _) => {
            let header = name.parse().ok().zip(HeaderValue::from_str(value).ok());
            Some(header.ok_or_else(|| unusable("version header"))?)
        }
        (None, Some(interface)) => Some((VERSION, HeaderValue::from_static(interface.version()))),
        (None, None) => None,
    };
    let extra = authentication.extra().map_err(|_| unusable("header beside the token"))?;
    let identity = client.map(|client| client.identity(endpoint.id.0)).transpose().map_err(|_| unusable("client certificate"))?;
    let target = delivery.client.guard().check_url(&endpoint.url);
    Ok(Address { target, authentication, identity: identity.map(Arc::new), secrets, version, extra })
}
