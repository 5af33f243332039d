//! Merchants whose shoppers return items.

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::messages::message::Interface;
use domain::returns::rma::policy::Policy;
use reqwest::Method;
use sandbox::merchant::Merchant as Systems;
use serde_json::{Value, json};

use super::receiver::PATH;
use super::{Merchant, Reply, World, line, message, order, plain_refund};

/// An order of `quantity` units on the line `L1`, shipped ten days before the test begins, with correct sums.
pub fn sold(identifier: &str, quantity: u32) -> Value {
    let mut sold = order(identifier);
    sold["items"] = json!([line("L1", quantity)]);
    sold["items"][0]["shipped_date"] = "2026-02-19T09:00:00Z".into();
    for (field, each) in [("total_amount_cents", 5_400), ("product_amount_cents", 5_000), ("tax_amount_cents", 400)] {
        sold[field] = (each * quantity).into();
    }
    sold
}

/// A request to return `units` units of the line `L1` by mail.
pub fn mail_back(order: &str, units: u32) -> Value {
    json!({
        "order_identifier": order,
        "return_method": "mail-back",
        "items": [{ "order_line_item_identifier": "L1", "quantity": units, "return_reason": "TOO_SMALL" }],
    })
}

/// The order with these refunds, as the merchant sends it later.
pub fn refunded(mut order: Value, refunds: impl IntoIterator<Item = Value>) -> Value {
    order["updated_at"] = "2026-03-01T12:00:00Z".into();
    order["refunds"] = refunds.into_iter().collect();
    order
}

/// A refund of `units` units of the line `L1` that names its return.
pub fn refund_for(rma: &str, identifier: &str, units: u32) -> Value {
    let mut refund = plain_refund(identifier, units);
    refund["rma_identifier"] = rma.into();
    refund
}

/// A carrier's report on a return, by the return's identifier alone.
pub fn reported(rma: &str, event: &str) -> Value {
    json!({ "event": event, "rma_identifier": rma, "occurred_at": "2026-03-01T12:00:00Z" })
}

impl Merchant<'_> {
    /// Saves its return policy.
    pub async fn has_policy(&self, policy: &Policy) {
        let app = &self.world.app;
        let mut tx = app.begin(self.id).await.unwrap();
        store::returns::return_policies::save(&mut tx, policy, "test", app.now()).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// Publishes an order of `quantity` returnable units.
    pub async fn sells(&self, identifier: &str, quantity: u32) {
        assert_eq!(self.publishes(&message([sold(identifier, quantity)])).await.results(), ["created"]);
    }

    /// Requests a return.
    pub async fn starts(&self, wanted: &Value) -> Reply {
        self.calls(Method::POST, "/v1/returns", |request| request.json(wanted)).await
    }

    /// Starts a return of `units` units of the order's line `L1`, and returns its identifier.
    pub async fn starts_a_return(&self, order: &str, units: u32) -> String {
        let reply = self.starts(&mail_back(order, units)).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.body["rma_identifier"].as_str().unwrap().to_owned()
    }

    /// The current state of a return.
    pub async fn looks_at(&self, rma: &str) -> Value {
        let reply = self.calls(Method::GET, &format!("/v1/returns/{rma}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    /// The returnable units of an order.
    pub async fn asks_what_can_come_back(&self, order: &str) -> Value {
        let reply = self.calls(Method::GET, &format!("/v1/orders/{order}/returnable"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    pub async fn cancels(&self, rma: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/returns/{rma}/cancel"), |request| request).await
    }

    pub async fn asks_again_for(&self, rma: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/returns/{rma}/resend"), |request| request).await
    }

    /// Sends a carrier's report.
    pub async fn carrier_reports(&self, event: &Value) -> Reply {
        self.calls(Method::POST, "/v1/carrier_events", |request| request.json(event)).await
    }

    /// Reports `event` for the return with the tracking number `T-<return>`, and expects it to be accepted.
    pub async fn carrier_says(&self, rma: &str, event: &str) -> Reply {
        let reported = json!({
            "event": event, "rma_identifier": rma, "tracking_number": format!("T-{rma}"), "occurred_at": "2026-03-01T12:00:00Z",
        });
        let reply = self.carrier_reports(&reported).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply
    }
}

/// A merchant with an endpoint for RMA messages.
pub struct Shop<'w> {
    pub merchant: Merchant<'w>,
    pub systems: Systems,
}

impl World {
    pub async fn shop(&self, handle: &str) -> Shop<'_> {
        let merchant = self.merchant(handle).await;
        let systems = Systems::start().await.unwrap();
        let change = EndpointChange { url: Some(systems.url(PATH)), per_second: Some(10_000), ..EndpointChange::default() };
        set_endpoint(&self.app, "test", merchant.id, Interface::Rma, change).await.unwrap();
        Shop { merchant, systems }
    }
}

impl Shop<'_> {
    /// Delivers everything due, and returns the event and body of each message since the last call.
    pub async fn receives(&self) -> Vec<(String, Value)> {
        self.merchant.world.deliver_all_due().await;
        let received = self.systems.received_at(PATH);
        self.systems.clear();
        received.iter().map(|received| (received.header("x-service-event").unwrap().to_owned(), received.json())).collect()
    }

    /// The events of the same.
    pub async fn receives_events(&self) -> Vec<String> {
        self.receives().await.into_iter().map(|(event, _)| event).collect()
    }
}
