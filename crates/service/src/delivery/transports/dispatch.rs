//! Prepares a message (address, authentication, signature) and sends it by HTTP or SMTP.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use domain::messages::delivery::Outcome;
use domain::node::trace::TraceContext;
use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use store::returns::carrier_accounts;
use wire::messages::endpoint_test;
use wire::messages::mail::{self, MailBody, PlainMail};
use wire::returns::label::LabelWork;

use super::carrier::{self, Calls};
use super::mail::Mail;
use super::peer::{Address, Route};
use crate::delivery::client::{CallResult, Identity, Request};
use crate::delivery::due_message::{DueMessage, Envelope};
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::handle::Delivery;
use crate::delivery::mails::{Letterhead, Rendered, render};
use crate::delivery::secrets::authentication::{Authentication, Token};
use crate::delivery::secrets::signature::{Secret, sign};
use crate::delivery::secrets::stored::CarrierKeys;

const ID: HeaderName = HeaderName::from_static(wire::messages::headers::ID);
const TIMESTAMP: HeaderName = HeaderName::from_static(wire::messages::headers::TIMESTAMP);
const TRIAL: HeaderName = HeaderName::from_static(wire::messages::headers::TRIAL);
const SIGNATURE: HeaderName = HeaderName::from_static(wire::messages::headers::SIGNATURE);
const EVENT: HeaderName = HeaderName::from_static(wire::messages::headers::EVENT);
const SEQUENCE: HeaderName = HeaderName::from_static(wire::messages::headers::SEQUENCE);
const TRACE: HeaderName = HeaderName::from_static(wire::messages::headers::TRACE);
const ATTEMPT: HeaderName = HeaderName::from_static(wire::messages::headers::ATTEMPT);

/// A message that is ready to be sent. It has no `Debug` because it holds secrets and personal data.
pub(crate) enum PreparedMessage {
    /// A call, with its OAuth token if it uses one.
    Call {
        target: Result<Target, NotAllowed>,
        headers: HeaderMap,
        /// The client certificate that it presents.
        identity: Option<Arc<Identity>>,
        token: Option<Token>,
    },
    Mail(Mail),
    /// Work on a label.
    Label(carrier::LabelTask),
    /// A message that cannot be sent.
    Refused(Outcome),
}

/// Prepares a message for an attempt that starts at `now`. The signature uses the real time: the receiver compares it with its own
/// clock, which does not follow a sandbox's clock. The receiver is told its place in the `trace`, if there is one.
pub(crate) async fn prepare(
    delivery: &Delivery,
    route: &Route,
    message: &DueMessage,
    now: DateTime<Utc>,
    trace: Option<TraceContext>,
) -> PreparedMessage {
    let place = trace.and_then(|trace| HeaderValue::try_from(trace.to_string()).ok()).map(|place| (TRACE, place));
    match route {
        Route::Endpoint(address) => match authorize(delivery, address, message.endpoint).await {
            Ok((authorization, token)) => {
                let mut headers = headers(&address.live_secrets(now), &message.envelope(), delivery.clock.wall());
                headers.extend(authorization.into_iter().chain(address.fixed()).chain(place).map(|(name, value)| (Some(name), value)));
                PreparedMessage::Call { target: address.target.clone(), headers, identity: address.identity.clone(), token }
            }
            Err(outcome) => PreparedMessage::Refused(outcome),
        },
        Route::Mail => mail(delivery, message).await.map_or_else(PreparedMessage::Refused, PreparedMessage::Mail),
        Route::OperatorHook => match &delivery.operator_hook {
            Some(hook) => {
                let mut headers = headers(&[&hook.secret], &message.envelope(), delivery.clock.wall());
                headers.extend(place.map(|(name, value)| (Some(name), value)));
                PreparedMessage::Call { target: Ok(hook.target.clone()), headers, identity: None, token: None }
            }
            None => refused("no operator webhook is configured; set notices.webhook_url"),
        },
        Route::Carrier => label_task(delivery, message).await.map_or_else(PreparedMessage::Refused, PreparedMessage::Label),
    }
}

/// Writes a mail: a notice as it is stored, one to a shopper from its facts and its sender.
async fn mail(delivery: &Delivery, message: &DueMessage) -> Result<Mail, Outcome> {
    let refused = |why: &str| Outcome::Refused(why.to_owned());
    match mail::read(&message.body).ok_or_else(|| refused("the stored message is not a mail"))? {
        MailBody::Plain(PlainMail { to, subject, text }) => {
            Ok(Mail { id: message.id, to, subject, text, html: None, sender: None, reply_to: None })
        }
        MailBody::Shopper(facts) => {
            let letterhead = Letterhead::current(delivery, message.merchant).await;
            let letterhead = letterhead.map_err(|failed| Outcome::Unreachable(failed.to_string()))?;
            let Rendered { subject, text, html } =
                render(&facts, &letterhead).ok_or_else(|| refused("this version cannot write the mail"))?;
            let (sender, reply_to) = (Some(letterhead.sender.name), letterhead.sender.reply_to);
            Ok(Mail { id: message.id, to: facts.to, subject, text, html: Some(html), sender, reply_to })
        }
    }
}

/// Prepares work for a carrier, with the merchant's current account.
async fn label_task(delivery: &Delivery, message: &DueMessage) -> Result<carrier::LabelTask, Outcome> {
    let refused = |why: &str| Outcome::Refused(why.to_owned());
    let work = LabelWork::read(&message.body).ok_or_else(|| refused("the stored message is not work for a carrier"))?;
    let account = carrier_accounts::current(delivery.store(message.merchant), message.merchant).await;
    let account = account.map_err(|failed| Outcome::Unreachable(failed.to_string()))?;
    let account = account.ok_or_else(|| refused("the merchant has no carrier account any more; set one with `backhaul carrier set`"))?;
    let keys = CarrierKeys::open(delivery, message.merchant, &account).map_err(|unusable| Outcome::Refused(unusable.to_string()))?;
    Ok(carrier::LabelTask::new(&account, keys.api_key, work))
}

fn refused(why: &str) -> PreparedMessage {
    PreparedMessage::Refused(Outcome::Refused(why.to_owned()))
}

/// Sends a message. Returns the OAuth token that the call used, if any. Carriers take several calls; `may_continue` is asked before
/// each of them.
pub(crate) async fn send(
    delivery: &Delivery,
    prepared: PreparedMessage,
    message: &DueMessage,
    most_kept: usize,
    may_continue: &(dyn Fn() -> bool + Send + Sync),
) -> (CallResult, Option<Token>) {
    match prepared {
        PreparedMessage::Call { target, headers, identity, token } => {
            let request = delivery.client.request_to(Method::POST, target);
            (delivery.client.call(Request { headers, body: message.body.clone(), identity, most_kept, ..request }).await, token)
        }
        PreparedMessage::Mail(mail) => (delivery.mailer.send(&mail).await, None),
        PreparedMessage::Label(task) => {
            let began = delivery.clock.uptime();
            let result = task.run(&Calls { client: &delivery.client, may_continue }).await;
            (CallResult { took: delivery.clock.uptime().saturating_sub(began), ..result }, None)
        }
        PreparedMessage::Refused(outcome) => (CallResult::refused(outcome), None),
    }
}

/// The headers of a message that is signed at `timestamp`.
pub(crate) fn headers(secrets: &[&Secret], message: &Envelope<'_>, timestamp: DateTime<Utc>) -> HeaderMap {
    let id = message.id.to_string();
    let signature = sign(secrets, &id, timestamp, message.body);
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("Backhaul/", env!("CARGO_PKG_VERSION"))));
    for (name, value) in [(ID, id.as_str()), (SIGNATURE, &signature), (EVENT, message.event)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    headers.insert(TIMESTAMP, timestamp.timestamp().into());
    headers.insert(SEQUENCE, message.sequence.into());
    headers.insert(ATTEMPT, message.attempt.into());
    if message.event == endpoint_test::EVENT {
        headers.insert(TRIAL, HeaderValue::from_static(endpoint_test::TRIAL));
    }
    headers
}

/// The authentication header for a call, with the OAuth token behind it if there is one.
pub(crate) async fn authorize(
    delivery: &Delivery,
    address: &Address,
    endpoint: EndpointId,
) -> Result<(Option<(HeaderName, HeaderValue)>, Option<Token>), Outcome> {
    match &address.authentication {
        Authentication::OAuth(oauth) => {
            let token = delivery.tokens.token(&delivery.client, endpoint.0, oauth, address.identity.as_ref()).await?;
            Ok((Some(token.header()), Some(token)))
        }
        other => Ok((other.header().map_err(|wrong| Outcome::Refused(wrong.to_string()))?, None)),
    }
}
