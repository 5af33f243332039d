//! The carrier's callers, and the receivers of its webhooks.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, RequestBuilder, Response};
use sandbox::carrier::Carrier;
use sandbox::merchant::{Merchant, Received};
use serde_json::{Value, json};
use sha2::Sha256;

/// The timeout for everything; only a failing test waits that long.
pub const LONG: Duration = Duration::from_secs(20);
pub const SECRET: &str = "a secret of the webhooks";

/// A carrier and a caller with its key.
pub struct World {
    pub carrier: Carrier,
    pub client: Client,
}

impl World {
    pub async fn new() -> Self {
        Self { carrier: Carrier::start().await.unwrap(), client: Client::builder().timeout(LONG).build().unwrap() }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.carrier.url())
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.url(path)).basic_auth(self.carrier.api_key(), None::<&str>).json(body)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path)).basic_auth(self.carrier.api_key(), None::<&str>)
    }

    /// Creates a shipment with this reference.
    pub async fn ship(&self, reference: &str) -> Value {
        let (status, shipment) = read(self.post("v2/shipments", &shipment(reference, "Ada Lovelace"))).await;
        assert_eq!(status, 201, "{shipment}");
        shipment
    }

    /// Buys the first rate of a shipment.
    pub async fn buy(&self, shipment: &Value) -> (u16, Value) {
        let path = format!("v2/shipments/{}/buy", shipment["id"].as_str().unwrap());
        read(self.post(&path, &json!({"rate": {"id": shipment["rates"][0]["id"]}}))).await
    }

    /// Buys a label for a parcel from this person. Returns the tracking number.
    pub async fn parcel_of(&self, shopper: &str) -> String {
        let (_, shipment) = read(self.post("v2/shipments", &shipment(shopper, shopper))).await;
        let (status, shipment) = self.buy(&shipment).await;
        assert_eq!(status, 200, "{shipment}");
        shipment["tracking_code"].as_str().unwrap().to_owned()
    }

    /// Starts a receiver for the carrier's webhooks.
    pub async fn listener(&self) -> Merchant {
        let listener = Merchant::start().await.unwrap();
        self.carrier.sends_webhooks_to(&listener.url("/hook?merchant=1"), SECRET).unwrap();
        listener
    }
}

/// A shipment from a shopper to a shop.
pub fn shipment(reference: &str, shopper: &str) -> Value {
    json!({"shipment": {
        "reference": reference,
        "is_return": false,
        "from_address": {"name": shopper, "street1": "12 (b) Rue de l'Été", "city": "Reno", "state": "NV", "zip": "89501", "country": "US"},
        "to_address": {"company": "Shop", "street1": "1 Dock Rd", "city": "Reno", "state": "NV", "zip": "89502", "country": "US"},
        "parcel": {"weight": 17.5},
        "options": {"label_format": "PDF"},
    }})
}

/// The status and the body of the response.
pub async fn read(request: RequestBuilder) -> (u16, Value) {
    let answer: Response = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// The status and the code of the error.
pub async fn error(request: RequestBuilder) -> (u16, String) {
    let (status, body) = read(request).await;
    let error = &body["error"];
    assert!(error["message"].is_string() && error["errors"].is_array(), "{body}");
    (status, error["code"].as_str().unwrap().to_owned())
}

/// Checks a webhook's signature and returns its event.
pub fn event(received: &Received) -> Value {
    let signature = received.header("x-hmac-signature").unwrap().strip_prefix("hmac-sha256-hex=").unwrap();
    assert_eq!((signature.len(), signature.to_lowercase()), (64, signature.to_owned()));
    let bytes: Vec<u8> = (0..64).step_by(2).map(|at| u8::from_str_radix(&signature[at..at + 2], 16).unwrap()).collect();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(received.body());
    mac.verify_slice(&bytes).expect("the signature is right");
    received.json()
}

/// The tracking statuses in the webhooks, in order.
pub fn statuses(received: &[Received]) -> Vec<String> {
    received.iter().map(|received| event(received)["result"]["status"].as_str().unwrap().to_owned()).collect()
}
