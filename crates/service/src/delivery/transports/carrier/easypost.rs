//! EasyPost, version 2 of its API, and whoever speaks the same.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::returns::easypost::{BOUGHT_ALREADY, ErrorAnswer, NewShipment, Purchase, Shipment};
use wire::returns::label::{BoughtLabel, LabelWork};

use super::{Calls, Carrier, Doing, MOST_READ, done, odd};
use crate::delivery::client::{CallResult, Request};

/// How a PDF begins.
const PDF: &[u8] = b"%PDF-";

/// An account there.
pub(super) struct EasyPost {
    /// Without a slash at its end.
    url: String,
    key: SecretString,
}

/// A call that went well, or the exchange with which it all ends.
type Went<T> = Result<T, CallResult>;

impl EasyPost {
    pub(super) fn new(url: &str, key: SecretString) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), key }
    }

    /// The shipment under this reference, if there is one.
    async fn find(&self, calls: &Calls<'_>, reference: &str) -> Went<Option<Shipment>> {
        let result = self.call(calls, Method::GET, &format!("/v2/shipments/{reference}"), Bytes::new()).await?;
        match result.outcome {
            Outcome::Answered { status: 404, .. } => Ok(None),
            _ => read(result).map(Some),
        }
    }

    async fn create(&self, calls: &Calls<'_>, work: &LabelWork) -> Went<Shipment> {
        read(self.call(calls, Method::POST, "/v2/shipments", json(&NewShipment::of(work))).await?)
    }

    /// Buys the cheapest label for a shipment. One that was bought meanwhile is as good.
    async fn purchase(&self, calls: &Calls<'_>, reference: &str, shipment: &Shipment) -> Went<Shipment> {
        let rate = shipment.cheapest().ok_or_else(|| odd("there is no rate"))?;
        let path = format!("/v2/shipments/{reference}/buy");
        let result = self.call(calls, Method::POST, &path, json(&Purchase::of(&rate.id))).await?;
        if is_error(&result, BOUGHT_ALREADY) {
            return self.find(calls, reference).await?.ok_or_else(|| odd("a shipment is gone"));
        }
        read(result)
    }

    async fn buy_all(&self, calls: &Calls<'_>, work: &LabelWork) -> Went<BoughtLabel> {
        let shipment = match self.find(calls, &work.reference).await? {
            Some(shipment) => shipment,
            None => self.create(calls, work).await?,
        };
        let shipment = if shipment.postage_label.is_some() { shipment } else { self.purchase(calls, &work.reference, &shipment).await? };
        let (Some(label), Some(number)) = (shipment.postage_label, shipment.tracking_code) else {
            return Err(odd("a shipment was bought and has no label"));
        };
        let document = self.document(calls, &label.label_url).await?;
        let carrier = shipment.selected_rate.map_or_else(String::new, |rate| rate.carrier);
        Ok(BoughtLabel::new(work.reference.clone(), shipment.id, number, carrier, &document))
    }

    /// The label itself. It is kept elsewhere, where nobody must learn the key.
    async fn document(&self, calls: &Calls<'_>, url: &str) -> Went<Bytes> {
        let result = go(calls, calls.client.request(Method::GET, url)).await?;
        if !result.outcome.is_success() {
            return Err(result);
        }
        if result.truncated || !result.answer.starts_with(PDF) {
            return Err(odd("a label is no PDF"));
        }
        Ok(result.answer)
    }

    async fn void_all(&self, calls: &Calls<'_>, work: &LabelWork) -> Went<()> {
        let Some(shipment) = self.find(calls, &work.reference).await? else { return Ok(()) };
        if shipment.postage_label.is_none() || shipment.refund_status.is_some() {
            return Ok(());
        }
        let result = self.call(calls, Method::POST, &format!("/v2/shipments/{}/refund", work.reference), Bytes::new()).await?;
        if result.outcome.is_success() { Ok(()) } else { Err(result) }
    }

    /// Calls the API.
    async fn call(&self, calls: &Calls<'_>, method: Method, path: &str, body: Bytes) -> Went<CallResult> {
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{}:", self.key.expose_secret())));
        let mut basic = HeaderValue::from_str(&basic).map_err(|_| odd("the API key is no header"))?;
        basic.set_sensitive(true);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, basic), (CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let usual = calls.client.request(method, &format!("{}{path}", self.url));
        go(calls, Request { headers, body, ..usual }).await
    }
}

/// Makes one call, if it may still be made.
async fn go(calls: &Calls<'_>, request: Request) -> Went<CallResult> {
    if !(calls.may_go_on)() {
        return Err(CallResult::refused(Outcome::Unreachable("the lease ran out".to_owned())));
    }
    let result = calls.client.call(Request { most_read: MOST_READ, most_kept: MOST_READ, ..request }).await;
    match result.outcome {
        Outcome::Answered { .. } | Outcome::Unusable { .. } => Ok(result),
        Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => Err(result),
    }
}

fn json(body: &impl Serialize) -> Bytes {
    serde_json::to_vec(body).unwrap_or_default().into()
}

/// Reads a good answer; another one ends it all.
fn read<T: DeserializeOwned>(result: CallResult) -> Went<T> {
    if !result.outcome.is_success() {
        return Err(result);
    }
    serde_json::from_slice(&result.answer).map_err(|_| odd("it is no shipment"))
}

fn is_error(result: &CallResult, code: &str) -> bool {
    !result.outcome.is_success() && serde_json::from_slice(&result.answer).is_ok_and(|answer: ErrorAnswer| answer.error.code == code)
}

impl Carrier for EasyPost {
    fn buy<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> Doing<'a> {
        Box::pin(async move {
            match self.buy_all(calls, work).await {
                Ok(bought) => done(bought.write()),
                Err(result) => result,
            }
        })
    }

    fn void<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> Doing<'a> {
        Box::pin(async move {
            match self.void_all(calls, work).await {
                Ok(()) => done(Vec::new()),
                Err(result) => result,
            }
        })
    }
}
