//! How one message goes out: it is prepared (address, authentication, signature), and then sent by HTTP or by SMTP.

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use store::returns::carrier_accounts;
use wire::returns::label::LabelWork;

use super::carrier::{self, Calls};
use super::mail::Mail;
use super::peer::{Address, Way};
use crate::delivery::client::{CallResult, Request};
use crate::delivery::due_message::DueMessage;
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::{Authentication, Token};
use crate::delivery::secrets::signature::{Secret, sign};
use crate::delivery::secrets::stored::CarrierKeys;

const ID: HeaderName = HeaderName::from_static(wire::messages::headers::ID);
const TIMESTAMP: HeaderName = HeaderName::from_static(wire::messages::headers::TIMESTAMP);
const SIGNATURE: HeaderName = HeaderName::from_static(wire::messages::headers::SIGNATURE);
const EVENT: HeaderName = HeaderName::from_static(wire::messages::headers::EVENT);
const SEQUENCE: HeaderName = HeaderName::from_static(wire::messages::headers::SEQUENCE);
const ATTEMPT: HeaderName = HeaderName::from_static(wire::messages::headers::ATTEMPT);

/// A message that is ready to be sent. It has no `Debug`: it holds secrets and what is personal.
pub(in crate::delivery) enum PreparedMessage {
    /// A call, and the OAuth token that it is made with, if it is.
    Call { target: Result<Target, NotAllowed>, headers: HeaderMap, token: Option<Token> },
    /// A mail.
    Mail(Mail),
    /// Something that a carrier is asked.
    Label(carrier::Ready),
    /// It cannot be sent.
    Refused(Outcome),
}

/// Makes a message ready to be sent at `now`. It is signed with the real time: the receiver holds the timestamp against its
/// own clock, which did not move with the sandbox's.
pub(in crate::delivery) async fn prepare(delivery: &Delivery, way: &Way, message: &DueMessage, now: DateTime<Utc>) -> PreparedMessage {
    match way {
        Way::Endpoint(address) => match authorize(delivery, address, message.endpoint).await {
            Ok((authorization, token)) => {
                let mut headers = headers(&address.live_secrets(now), message, delivery.clock.wall());
                headers.extend(authorization.into_iter().chain(address.version.clone()).map(|(name, value)| (Some(name), value)));
                PreparedMessage::Call { target: address.target.clone(), headers, token }
            }
            Err(outcome) => PreparedMessage::Refused(outcome),
        },
        Way::Mail => match wire::messages::mail::read(&message.body) {
            Some(wire::messages::mail::MailBody { to, subject, text }) => PreparedMessage::Mail(Mail { id: message.id, to, subject, text }),
            None => refused("it is no mail"),
        },
        Way::OperatorHook => match &delivery.operator_hook {
            Some(hook) => {
                let headers = headers(&[&hook.secret], message, delivery.clock.wall());
                PreparedMessage::Call { target: Ok(hook.target.clone()), headers, token: None }
            }
            None => refused("no webhook is set: notices.webhook_url"),
        },
        Way::Carrier => carrier_work(delivery, message).await.map_or_else(PreparedMessage::Refused, PreparedMessage::Label),
    }
}

/// Makes what a carrier is asked ready, with the merchant's account as it is now.
async fn carrier_work(delivery: &Delivery, message: &DueMessage) -> Result<carrier::Ready, Outcome> {
    let refused = |why: &str| Outcome::Refused(why.to_owned());
    let work = LabelWork::read(&message.body).ok_or_else(|| refused("it is no work for a carrier"))?;
    let account = carrier_accounts::current(delivery.store(message.merchant), message.merchant).await;
    let account = account.map_err(|failed| Outcome::Unreachable(failed.to_string()))?;
    let account = account.ok_or_else(|| refused("the merchant has no carrier any more; `backhaul carrier set` gives it one"))?;
    let keys = CarrierKeys::open(delivery, message.merchant, &account).map_err(|unusable| Outcome::Refused(unusable.to_string()))?;
    Ok(carrier::Ready::new(&account, keys.api_key, work))
}

fn refused(why: &str) -> PreparedMessage {
    PreparedMessage::Refused(Outcome::Refused(why.to_owned()))
}

/// Sends a message. Answers the token that it was sent with, if it was an OAuth token.
pub(in crate::delivery) async fn send(
    delivery: &Delivery,
    prepared: PreparedMessage,
    message: &DueMessage,
    most_kept: usize,
    may_go_on: &(dyn Fn() -> bool + Send + Sync),
) -> (CallResult, Option<Token>) {
    match prepared {
        PreparedMessage::Call { target, headers, token } => {
            let usual = delivery.client.request_to(Method::POST, target);
            (delivery.client.call(Request { headers, body: message.body.clone(), most_kept, ..usual }).await, token)
        }
        PreparedMessage::Mail(mail) => (delivery.mailer.send(&mail).await, None),
        PreparedMessage::Label(ready) => {
            let began = delivery.clock.uptime();
            let result = ready.go(&Calls { client: &delivery.client, may_go_on }).await;
            (CallResult { took: delivery.clock.uptime().saturating_sub(began), ..result }, None)
        }
        PreparedMessage::Refused(outcome) => (CallResult::refused(outcome), None),
    }
}

fn headers(secrets: &[&Secret], message: &DueMessage, timestamp: DateTime<Utc>) -> HeaderMap {
    let id = message.id.to_string();
    let signature = sign(secrets, &id, timestamp, &message.body);
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("Backhaul/", env!("CARGO_PKG_VERSION"))));
    for (name, value) in [(ID, &id), (SIGNATURE, &signature), (EVENT, &message.event)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    headers.insert(TIMESTAMP, timestamp.timestamp().into());
    headers.insert(SEQUENCE, message.sequence.into());
    headers.insert(ATTEMPT, message.number().into());
    headers
}

/// What authenticates us.
pub(in crate::delivery) async fn authorize(
    delivery: &Delivery,
    address: &Address,
    endpoint: EndpointId,
) -> Result<(Option<(HeaderName, HeaderValue)>, Option<Token>), Outcome> {
    match &address.authentication {
        Authentication::OAuth(oauth) => {
            let token = delivery.tokens.token(&delivery.client, endpoint.0, oauth).await?;
            Ok((Some(token.header()), Some(token)))
        }
        other => Ok((other.header().map_err(|wrong| Outcome::Refused(wrong.to_string()))?, None)),
    }
}
