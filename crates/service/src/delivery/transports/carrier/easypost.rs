//! EasyPost, version 2 of its API, and compatible services.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use domain::messages::delivery::Outcome;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::returns::easypost::{BOUGHT_ALREADY, ErrorAnswer, NewForm, NewShipment, Purchase, Shipment};
use wire::returns::label::{BoughtLabel, LabelCode, LabelWork};

use super::api::{Calls, Carrier, CarrierFuture, MOST_READ, done, refused, unexpected};
use super::picture::is_code;
use crate::delivery::client::{CallResult, Request};

/// A file that is stored at another host.
struct Document {
    name: &'static str,
    format: &'static str,
    fits: fn(&[u8]) -> bool,
}

const LABEL: Document = Document { name: "label", format: "PDF", fits: |file| file.starts_with(b"%PDF-") };
const CODE: Document = Document { name: "QR code", format: "PNG", fits: is_code };

/// An account at EasyPost.
pub(super) struct EasyPost {
    /// Without a slash at its end.
    url: String,
    key: SecretString,
}

/// The value of a successful call, or the failed result that ends the work.
type StepResult<T> = Result<T, CallResult>;

impl EasyPost {
    pub(super) fn new(url: &str, key: SecretString) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), key }
    }

    /// Finds the shipment with this reference.
    async fn find(&self, calls: &Calls<'_>, reference: &str) -> StepResult<Option<Shipment>> {
        let result = self.call(calls, Method::GET, &format!("/v2/shipments/{reference}"), Bytes::new()).await?;
        match result.outcome {
            Outcome::Answered { status: 404, .. } => Ok(None),
            _ => read(result).map(Some),
        }
    }

    async fn create(&self, calls: &Calls<'_>, work: &LabelWork) -> StepResult<Shipment> {
        read(self.call(calls, Method::POST, "/v2/shipments", json(&NewShipment::of(work))).await?)
    }

    /// Buys the cheapest label for a shipment. If one has been bought in the meantime, returns that.
    async fn purchase(&self, calls: &Calls<'_>, reference: &str, shipment: &Shipment) -> StepResult<Shipment> {
        let rate = shipment.cheapest().ok_or_else(|| refused(shipment.no_rates()))?;
        let path = format!("/v2/shipments/{reference}/buy");
        let result = self.call(calls, Method::POST, &path, json(&Purchase::of(&rate.id))).await?;
        if is_error(&result, BOUGHT_ALREADY) {
            return self.find(calls, reference).await?.ok_or_else(|| unexpected("a bought shipment was not found"));
        }
        read(result)
    }

    async fn buy_all(&self, calls: &Calls<'_>, work: &LabelWork) -> StepResult<BoughtLabel> {
        let reference = work.shipment();
        let shipment = match self.find(calls, &reference).await? {
            Some(shipment) => shipment,
            None => self.create(calls, work).await?,
        };
        let shipment = if shipment.postage_label.is_some() { shipment } else { self.purchase(calls, &reference, &shipment).await? };
        let sold = shipment.sold();
        let (Some(label), Some(number)) = (shipment.postage_label, shipment.tracking_code) else {
            return Err(unexpected("a bought shipment has no label or no tracking code"));
        };
        let document = download(calls, &LABEL, &label.label_url).await?;
        Ok(BoughtLabel::new(work, shipment.id, number, sold, &document))
    }

    async fn fetch_code(&self, calls: &Calls<'_>, work: &LabelWork) -> StepResult<LabelCode> {
        let reference = work.shipment();
        let found = self.find(calls, &reference).await?.ok_or_else(|| unexpected("a bought shipment was not found"))?;
        let shipment = if found.qr_code().is_some() { found } else { self.ask_for_code(calls, &reference, &found).await? };
        let url = shipment.qr_code().ok_or_else(|| unexpected("a shipment has no QR code after it was asked for one"))?;
        let picture = download(calls, &CODE, url).await?;
        Ok(LabelCode::new(work, shipment.id, &picture))
    }

    async fn ask_for_code(&self, calls: &Calls<'_>, reference: &str, shipment: &Shipment) -> StepResult<Shipment> {
        let form = NewForm::qr_code(shipment.carrier());
        read(self.call(calls, Method::POST, &format!("/v2/shipments/{reference}/forms"), json(&form)).await?)
    }

    async fn void_all(&self, calls: &Calls<'_>, work: &LabelWork) -> StepResult<()> {
        let reference = work.shipment();
        let Some(shipment) = self.find(calls, &reference).await? else { return Ok(()) };
        if shipment.postage_label.is_none() || shipment.refund_status.is_some() {
            return Ok(());
        }
        let result = self.call(calls, Method::POST, &format!("/v2/shipments/{reference}/refund"), Bytes::new()).await?;
        if result.outcome.is_success() { Ok(()) } else { Err(result) }
    }

    /// Calls the API with the account's key.
    async fn call(&self, calls: &Calls<'_>, method: Method, path: &str, body: Bytes) -> StepResult<CallResult> {
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{}:", self.key.expose_secret())));
        let mut basic = HeaderValue::from_str(&basic).map_err(|_| {
            CallResult::refused(Outcome::Unreachable(
                "the API key of the carrier account contains characters that a header cannot carry".to_owned(),
            ))
        })?;
        basic.set_sensitive(true);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, basic), (CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let request = calls.client.request(method, &format!("{}{path}", self.url));
        send(calls, Request { headers, body, ..request }).await
    }
}

/// Makes one call, unless the lease has expired.
async fn send(calls: &Calls<'_>, request: Request) -> StepResult<CallResult> {
    if !(calls.may_continue)() {
        return Err(CallResult::refused(Outcome::Unreachable("the lease expired between two calls".to_owned())));
    }
    let result = calls.client.call(Request { most_read: MOST_READ, most_kept: MOST_READ, ..request }).await;
    match result.outcome {
        Outcome::Answered { .. } => Ok(result),
        Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => Err(result),
    }
}

/// Downloads a document. It is stored at another host, so the request carries no API key.
async fn download(calls: &Calls<'_>, document: &Document, url: &str) -> StepResult<Bytes> {
    let Document { name, format, fits } = document;
    let result = send(calls, calls.client.request(Method::GET, url)).await?;
    if !result.outcome.is_success() {
        // Not the answer itself, because the carrier has not refused the document.
        return Err(unexpected(&format!("the {name} could not be downloaded ({})", result.outcome.word())));
    }
    if result.truncated || !fits(&result.answer) {
        return Err(unexpected(&format!("the {name} is not a {format}, or too large")));
    }
    Ok(result.answer)
}

fn json(body: &impl Serialize) -> Bytes {
    serde_json::to_vec(body).unwrap_or_default().into()
}

/// Parses a successful answer. Any other ends the work. A refusal is kept in the carrier's words.
fn read<T: DeserializeOwned>(result: CallResult) -> StepResult<T> {
    match &result.outcome {
        outcome if outcome.is_success() => serde_json::from_slice(&result.answer).map_err(|_| unexpected("it is not a shipment")),
        Outcome::Answered { status: 400 | 422, .. } => match serde_json::from_slice::<ErrorAnswer>(&result.answer) {
            Ok(answer) => Err(refused(answer.error.words())),
            Err(_) => Err(unexpected("it is a refusal without a reason")),
        },
        _ => Err(result),
    }
}

fn is_error(result: &CallResult, code: &str) -> bool {
    !result.outcome.is_success() && serde_json::from_slice(&result.answer).is_ok_and(|answer: ErrorAnswer| answer.error.code == code)
}

impl Carrier for EasyPost {
    fn buy<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a> {
        Box::pin(async move {
            match self.buy_all(calls, work).await {
                Ok(bought) => done(bought.write()),
                Err(result) => result,
            }
        })
    }

    fn code<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a> {
        Box::pin(async move {
            match self.fetch_code(calls, work).await {
                Ok(code) => done(code.write()),
                Err(result) => result,
            }
        })
    }

    fn void<'a>(&'a self, calls: &'a Calls<'a>, work: &'a LabelWork) -> CarrierFuture<'a> {
        Box::pin(async move {
            match self.void_all(calls, work).await {
                Ok(()) => done(Vec::new()),
                Err(result) => result,
            }
        })
    }
}
