//! Merchants whose labels are bought from a carrier.

use std::fmt::Write as _;
use std::time::Duration;

use backhaul::flow::returns::configure_carrier::{CarrierChange, set_carrier};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use sandbox::carrier::{Carrier, Shipment};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sha2::Sha256;
use wire::returns::label::PostalAddress;

use super::{Merchant, Reply, Shop, World, mail_back, message, sold};

/// A shop that buys its labels from a carrier, which reports scans by webhook.
pub struct Carried<'w> {
    pub shop: Shop<'w>,
    pub carrier: Carrier,
    /// The secret that the carrier signs its webhooks with.
    pub secret: String,
}

/// The destination of a shop's return parcels.
pub fn warehouse() -> PostalAddress {
    PostalAddress {
        name: "Acme Returns".to_owned(),
        street1: "7 Dock Rd".to_owned(),
        city: "Reno".to_owned(),
        state: "NV".to_owned(),
        zip: "89501".to_owned(),
        country: "US".to_owned(),
        ..PostalAddress::default()
    }
}

/// A new account with this carrier.
pub fn account_with(carrier: &Carrier) -> CarrierChange {
    let (url, api_key) = (Some(carrier.url().to_owned()), Some(carrier.api_key().into()));
    CarrierChange { url, api_key, destination: Some(warehouse()), usual_weight: None }
}

/// A signature as EasyPost makes it.
pub fn signed(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let mut text = "hmac-sha256-hex=".to_owned();
    mac.finalize().into_bytes().iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
    text
}

/// An EasyPost event about a parcel.
pub fn tracker_event(id: &str, number: &str, status: &str) -> Value {
    json!({
        "id": id, "object": "Event", "description": "tracker.updated", "created_at": "2026-03-01T12:00:00Z",
        "result": { "object": "Tracker", "tracking_code": number, "status": status },
    })
}

impl World {
    /// A shop with its own carrier.
    pub async fn shop_with_a_carrier(&self, handle: &str) -> Carried<'_> {
        let (shop, carrier) = (self.shop(handle).await, Carrier::start().await.unwrap());
        let secret = set_carrier(&self.app, "test", shop.merchant.id, account_with(&carrier)).await.unwrap().unwrap();
        let secret = secret.expose_secret().to_owned();
        carrier.sends_webhooks_to(&format!("{}{}", self.base, shop.merchant.webhooks()), &secret).unwrap();
        Carried { shop, carrier, secret }
    }

    /// Calls a merchant's webhook address.
    pub async fn receives_webhook(&self, path: &str, signature: Option<&str>, body: &str) -> Reply {
        let body = body.to_owned();
        self.ask(Method::POST, path, |request| {
            let request = request.header("Content-Type", "application/json").body(body);
            match signature {
                Some(signature) => request.header("X-Hmac-Signature", signature),
                None => request,
            }
        })
        .await
    }
}

impl Merchant<'_> {
    /// The path that its carrier sends webhooks to.
    pub fn webhooks(&self) -> String {
        format!("/v1/carrier_webhooks/{}", self.id)
    }

    /// Requests the QR code of a return's label.
    pub async fn asks_for_the_code(&self, rma: &str) -> Reply {
        self.calls(Method::GET, &format!("/v1/returns/{rma}/label/code"), |request| request).await
    }

    /// Requests the label of a return.
    pub async fn asks_for_the_label(&self, rma: &str) -> Reply {
        self.calls(Method::GET, &format!("/v1/returns/{rma}/label"), |request| request).await
    }
}

impl Carried<'_> {
    /// Starts a return of `units` units; nothing is delivered yet.
    pub async fn has_a_return(&self, order: &str, units: u32) -> String {
        self.shop.merchant.sells(order, units).await;
        self.shop.merchant.starts_a_return(order, units).await
    }

    /// Starts a return for a shopper in this street.
    pub async fn has_a_return_from(&self, order: &str, street: &str) -> String {
        self.sells_to(order, street).await;
        self.shop.merchant.starts_a_return(order, 1).await
    }

    /// Starts a return by `express-returns` for a shopper in this street; nothing is delivered yet.
    pub async fn has_an_express_return_from(&self, order: &str, street: &str) -> String {
        self.sells_to(order, street).await;
        let mut wanted = mail_back(order, 1);
        wanted["return_method"] = "express-returns".into();
        let reply = self.shop.merchant.starts(&wanted).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.body["rma_identifier"].as_str().unwrap().to_owned()
    }

    /// Publishes an order of one unit to a shopper in this street.
    async fn sells_to(&self, order: &str, street: &str) {
        let mut lives = sold(order, 1);
        lives["shipping_address"]["street1"] = street.into();
        assert_eq!(self.shop.merchant.publishes(&message([lives])).await.results(), ["created"]);
    }

    /// Starts a return whose label has been delivered to its systems, and returns its tracking number too.
    pub async fn has_a_label(&self, order: &str) -> (String, String) {
        let rma = self.has_a_return(order, 1).await;
        assert_eq!(self.receives_events().await, ["created", "PRE_TRANSIT"]);
        let number = self.shipment(&rma).tracking_code.unwrap();
        (rma, number)
    }

    /// Starts a return whose label has been delivered to its systems and has a QR code, and returns its tracking number too.
    pub async fn has_a_code(&self, order: &str) -> (String, String) {
        let rma = self.has_an_express_return_from(order, "1 Main St").await;
        assert_eq!(self.receives_events().await, ["created", "PRE_TRANSIT"]);
        assert_eq!(self.shop.merchant.looks_at(&rma).await["label"]["code"], true);
        let number = self.shipment(&rma).tracking_code.unwrap();
        (rma, number)
    }

    /// The events that its systems received; for a tracking update, the new parcel status instead.
    pub async fn receives_events(&self) -> Vec<String> {
        let summary = |(event, body): (String, Value)| match event.strip_prefix("rma.").unwrap() {
            "tracking_updated" => body["items"][0]["package_tracking_status"].as_str().unwrap().to_owned(),
            event => event.to_owned(),
        };
        self.shop.receives().await.into_iter().map(summary).collect()
    }

    /// The only shipment of a return.
    pub fn shipment(&self, rma: &str) -> Shipment {
        let mut shipments = self.carrier.shipments();
        shipments.retain(|shipment| shipment.reference.as_deref() == Some(rma));
        assert_eq!(shipments.len(), 1, "{shipments:?}");
        shipments.remove(0)
    }

    /// The numbers of labels bought and refunded for the return.
    pub fn bought_and_given_back(&self, rma: &str) -> (u32, u32) {
        let shipment = self.shipment(rma);
        (shipment.bought, shipment.refunded)
    }

    /// Waits until every webhook of the carrier has been answered.
    pub async fn webhooks_are_answered(&self) {
        let tally = self.carrier.webhooks_settled(Duration::from_secs(20)).await.unwrap();
        assert_eq!(tally.given_up, 0, "{tally:?}");
    }

    /// Sends this event from the carrier, correctly signed.
    pub async fn carrier_sends(&self, event: &Value) -> Reply {
        let body = event.to_string();
        let path = self.shop.merchant.webhooks();
        self.shop.merchant.world.receives_webhook(&path, Some(&signed(&self.secret, &body)), &body).await
    }
}
