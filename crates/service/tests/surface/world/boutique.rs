//! Merchants whose shoppers choose an exchange or a gift card instead of a refund.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::messages::message::Interface;
use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Policy};
use reqwest::Method;
use sandbox::merchant::{ExchangeOrders, OnShelf, Received};
use serde_json::{Value, json};

use super::{Reply, Shop, World, mail_back, message, sold};

/// The path of the endpoint for exchange orders.
pub const EXCHANGE_ORDERS: &str = "/exchange_orders";

/// A merchant with the shoe in other sizes, gift cards with a bonus of 5.00, and an endpoint for exchange orders. Failed calls are
/// retried after a second.
pub struct Boutique<'w> {
    pub shop: Shop<'w>,
    pub orders: ExchangeOrders,
}

/// The return policy of a merchant with gift cards.
pub fn with_gift_cards() -> Policy {
    let bonus = Cents::new(500).unwrap();
    let gift_card = Some(GiftCardTerms { sku: "GIFT-CARD".to_owned(), bonus });
    Policy { gift_card, concept: Some("Example Brand".to_owned()), ..Policy::default() }
}

/// A request to exchange `units` units of the line `L1` for the shoe in this size.
pub fn exchange(order: &str, units: u32, sku: &str) -> Value {
    let mut wanted = mail_back(order, units);
    wanted["items"][0]["exchange_sku"] = sku.into();
    wanted
}

/// A request to return `units` units of the line `L1` for a gift card.
pub fn for_a_gift_card(order: &str, units: u32) -> Value {
    let mut wanted = mail_back(order, units);
    wanted["items"][0]["gift_card"] = true.into();
    wanted
}

impl World {
    pub async fn boutique(&self, handle: &str) -> Boutique<'_> {
        let shop = self.shop(handle).await;
        let sized = |size: &str| OnShelf::new(&format!("SHOE-{size}"), size, 5_000).stock(1_000);
        shop.systems.has_variants("V-SHOE", [sized("41"), sized("43")]);
        for interface in [Interface::ExchangeVariants, Interface::ExchangeOrder] {
            let waits = (interface == Interface::ExchangeOrder).then(|| vec![1; 5]);
            let change = EndpointChange {
                url: Some(shop.systems.url(interface.path())),
                per_second: Some(10_000),
                waits,
                ..EndpointChange::default()
            };
            set_endpoint(&self.app, "test", shop.merchant.id, interface, change).await.unwrap();
        }
        shop.merchant.has_policy(&with_gift_cards()).await;
        let orders = shop.systems.places_exchange_orders(EXCHANGE_ORDERS);
        Boutique { shop, orders }
    }
}

impl Boutique<'_> {
    /// Starts a return and returns its identifier.
    pub async fn starts(&self, wanted: &Value) -> String {
        let reply = self.shop.merchant.starts(wanted).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.body["rma_identifier"].as_str().unwrap().to_owned()
    }

    /// Sells the shoe, and starts a return that exchanges it for another size.
    pub async fn exchanges(&self, order: &str) -> String {
        self.shop.merchant.sells(order, 1).await;
        self.starts(&exchange(order, 1, "SHOE-43")).await
    }

    /// Delivers and retries until nothing is owed any more.
    pub async fn everything_is_tried(&self) {
        let world = self.shop.merchant.world;
        for _ in 0..7 {
            world.deliver_all_due().await;
            world.time_passes(Duration::from_secs(2));
        }
        world.deliver_all_due().await;
        assert_eq!(world.owed().await, 0);
    }

    /// The requests for exchange orders since its systems were last cleared.
    pub fn asked(&self) -> Vec<Received> {
        self.shop.systems.received_at(EXCHANGE_ORDERS)
    }

    /// The state of a return's exchange, and the merchant's identifier for it.
    pub async fn exchange_of(&self, rma: &str) -> (String, Option<String>) {
        let shown = self.shop.merchant.looks_at(rma).await;
        let text = |name: &str| shown["exchange"][name].as_str().map(ToOwned::to_owned);
        (text("state").unwrap_or_else(|| "none".to_owned()), text("exchange_order_identifier"))
    }

    /// The refund type of each unit of a return, and the amount for the shopper.
    pub async fn refunds_of(&self, rma: &str) -> Vec<(String, i64)> {
        let shown = self.shop.merchant.looks_at(rma).await;
        let of = |item: &Value| {
            let kind = item["refund_type"].as_str().unwrap().to_owned();
            (kind, item["money"]["shopper_refund_amount_cents"].as_i64().unwrap())
        };
        shown["items"].as_array().unwrap().iter().map(of).collect()
    }

    /// Converts an exchange into refunds, as the operator, without a confirmation.
    pub async fn is_converted(&self, rma: &str) -> Result<(), backhaul::flow::returns::convert_exchange::ConvertExchangeError> {
        let merchant = &self.shop.merchant;
        backhaul::flow::returns::convert_exchange::convert_exchange(&merchant.world.app, "test", merchant.id, rma, false).await
    }

    /// Asks to convert an exchange into refunds, as the merchant, with this body.
    pub async fn converts(&self, rma: &str, body: &str) -> Reply {
        let path = format!("/v1/returns/{rma}/convert_exchange");
        self.shop.merchant.calls(Method::POST, &path, |request| request.body(body.to_owned())).await
    }

    /// Names the order that was placed for the exchange of `original`, as the merchant.
    pub async fn names(&self, original: &str, identifier: &str) -> Reply {
        let path = format!("/v1/exchange_orders/{original}");
        self.shop.merchant.calls(Method::PUT, &path, |request| request.json(&json!({ "order_identifier": identifier }))).await
    }

    /// Publishes the order that was placed for the exchange of `original`.
    pub async fn sells_in_exchange(&self, identifier: &str, original: &str) -> Reply {
        self.shop.merchant.publishes(&message([exchanged_for(original, identifier)])).await
    }

    /// The open cases as `kind subject`, newest first.
    pub async fn cases(&self) -> Vec<String> {
        let listed = self.shop.merchant.calls(Method::GET, "/v1/work_items", |request| request).await;
        let items = listed.body["items"].as_array().unwrap_or_else(|| panic!("{}", listed.text)).iter();
        items.map(|item| format!("{} {}", item["kind"].as_str().unwrap(), item["subject"].as_str().unwrap())).collect()
    }

    /// Asks to retry the exchange order.
    pub async fn is_tried_again(&self, rma: &str) -> Reply {
        let shown = self.shop.merchant.looks_at(rma).await;
        let path = format!("/v1/messages/{}/retry", shown["exchange"]["message_id"].as_str().unwrap());
        self.shop.merchant.calls(Method::POST, &path, |request| request).await
    }
}

/// An order of a shoe that names the order which it was placed for.
pub fn exchanged_for(original: &str, identifier: &str) -> Value {
    let mut sold = sold(identifier, 1);
    sold["original_order_identifier"] = original.into();
    sold
}

/// A line for each exchange order: the original order, the new one, and how often it was requested.
pub fn exchange_summary(orders: &ExchangeOrders) -> Vec<String> {
    let line = |(original, order): (String, sandbox::merchant::ExchangeOrder)| {
        assert_eq!(order.bodies.len(), 1, "one body for each order");
        let became = order.identifier.as_deref().unwrap_or("nothing");
        format!("{original} became {became} after {}", order.asked)
    };
    orders.orders().into_iter().map(line).collect()
}

/// Adds a second line of `quantity` units, shipped like the first.
pub fn and_socks(mut order: Value, quantity: u32) -> Value {
    let mut socks = super::line("L2", quantity);
    socks["sku"] = "SOCK-1".into();
    socks["title"] = "Socks".into();
    socks["shipped_date"] = "2026-02-19T09:00:00Z".into();
    socks["variant_identifier"] = json!(null);
    order["items"].as_array_mut().unwrap().push(socks);
    order
}
