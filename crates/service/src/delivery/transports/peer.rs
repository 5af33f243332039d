//! How to reach an endpoint: its settings, ready for use.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::delivery::Schedule;
use domain::messages::message::{Interface, Kind, Transport};
use hyper::header::{HeaderName, HeaderValue};
use store::messages::endpoints::Endpoint;

use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::Authentication;
use crate::delivery::secrets::signature::Secret;
use crate::delivery::secrets::stored::Secrets;

/// How to reach an endpoint: its settings, ready for use.
pub(in crate::delivery) struct Peer {
    pub(in crate::delivery) revision: i64,
    pub(in crate::delivery) slots: usize,
    pub(in crate::delivery) per_second: usize,
    pub(in crate::delivery) schedule: Schedule,
    pub(in crate::delivery) way: Way,
}

/// The way to an endpoint.
pub(in crate::delivery) enum Way {
    /// A merchant's endpoint is called.
    Endpoint(Box<Address>),
    /// The operator's mail server is handed a mail.
    Mail,
    /// The operator's webhook is called.
    OperatorHook,
    /// The merchant's carrier is called.
    Carrier,
}

/// What a call of a merchant's endpoint needs.
pub(in crate::delivery) struct Address {
    pub(in crate::delivery) target: Result<Target, NotAllowed>,
    pub(in crate::delivery) authentication: Authentication,
    secrets: Vec<(Secret, Option<DateTime<Utc>>)>,
    pub(in crate::delivery) version: Option<(HeaderName, HeaderValue)>,
}

impl Address {
    /// The secrets that sign at `now`.
    pub(in crate::delivery) fn live_secrets(&self, now: DateTime<Utc>) -> Vec<&Secret> {
        self.secrets.iter().filter(|(_, until)| until.is_none_or(|until| now < until)).map(|(secret, _)| secret).collect()
    }
}

/// Why an endpoint cannot be called: its settings are not fit for it.
#[derive(Debug, thiserror::Error)]
#[error("the endpoint's {what} cannot be used; set the endpoint again")]
pub(in crate::delivery) struct Unfit {
    what: &'static str,
    pub(in crate::delivery) schedule: Schedule,
}

const VERSION: HeaderName = HeaderName::from_static(wire::messages::headers::VERSION);

impl Peer {
    /// Makes the settings of an endpoint ready for use.
    pub(in crate::delivery) fn new(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint) -> Result<Self, Unfit> {
        let kind: Option<Kind> = endpoint.interface.parse().ok();
        let schedule = match &endpoint.waits {
            Some(waits) => Schedule::of_seconds(waits).map_err(|_| Unfit { what: "schedule", schedule: Schedule::default() })?,
            None => kind.map_or_else(Schedule::default, Kind::schedule),
        };
        let way = match kind.map_or(Transport::Endpoint, Kind::transport) {
            Transport::Endpoint => Way::Endpoint(Box::new(address(delivery, merchant, endpoint, &schedule)?)),
            Transport::Mail => Way::Mail,
            Transport::OperatorHook => Way::OperatorHook,
            Transport::Carrier => Way::Carrier,
        };
        Ok(Self {
            revision: endpoint.revision,
            slots: usize::try_from(endpoint.slots).unwrap_or(1),
            per_second: usize::try_from(endpoint.per_second).unwrap_or(1),
            schedule,
            way,
        })
    }

    #[cfg(test)]
    pub(in crate::delivery) fn for_tests(slots: usize, per_second: usize) -> Self {
        Self { revision: 1, slots, per_second, schedule: Schedule::default(), way: Way::Mail }
    }
}

fn address(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint, schedule: &Schedule) -> Result<Address, Unfit> {
    let unfit = |what| Unfit { what, schedule: schedule.clone() };
    let Secrets { authentication, secret, previous } = Secrets::open(delivery, merchant, endpoint).map_err(|_| unfit("secrets"))?;
    let until = endpoint.previous_secret.as_ref().map(|(_, until)| *until);
    let secrets = [Some((secret, None)), previous.map(|previous| (previous, until))].into_iter().flatten().collect();
    let interface: Option<Interface> = endpoint.interface.parse().ok();
    let version = match (&endpoint.version_header, interface) {
        (Some((name, value)), _) => {
            let header = name.parse().ok().zip(HeaderValue::from_str(value).ok());
            Some(header.ok_or_else(|| unfit("version header"))?)
        }
        (None, Some(interface)) => Some((VERSION, HeaderValue::from_static(interface.version()))),
        (None, None) => None,
    };
    Ok(Address { target: delivery.client.guard().check_url(&endpoint.url), authentication, secrets, version })
}
