//! Merchants with an endpoint that lists the variants in stock.

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::{Merchant as Systems, OnShelf, Received};
use serde_json::Value;

use super::{Merchant, Reply, World, message, sold};

/// A merchant with an endpoint for variants. Its order `A-1` has a line `L1` at 50.00 with the variant identifier
/// `V-SHOE`, of which two are in stock.
pub struct Catalogue<'w> {
    pub merchant: Merchant<'w>,
    pub systems: Systems,
}

/// The path of the endpoint for variants.
pub const SKUS: &str = "/sku";

impl World {
    pub async fn catalogue(&self, handle: &str) -> Catalogue<'_> {
        self.catalogue_with(handle, EndpointChange::default()).await
    }

    pub async fn catalogue_with(&self, handle: &str, change: EndpointChange) -> Catalogue<'_> {
        let (merchant, systems) = (self.merchant(handle).await, Systems::start().await.unwrap());
        systems.has_variants("V-SHOE", [OnShelf::new("SHOE-41", "41", 5_000), OnShelf::new("SHOE-43", "43", 5_000)]);
        let change_orders = EndpointChange { url: Some(systems.url(Interface::ExchangeOrder.path())), ..EndpointChange::default() };
        set_endpoint(&self.app, "test", merchant.id, Interface::ExchangeOrder, change_orders).await.unwrap();
        let catalogue = Catalogue { merchant, systems };
        catalogue.is_set(change).await;
        catalogue.merchant.sells("A-1", 1).await;
        catalogue
    }
}

impl Catalogue<'_> {
    pub async fn is_set(&self, change: EndpointChange) {
        let url = change.url.clone().unwrap_or_else(|| self.systems.url(Interface::ExchangeVariants.path()));
        let (app, change) = (&self.merchant.world.app, EndpointChange { url: Some(url), ..change });
        set_endpoint(app, "test", self.merchant.id, Interface::ExchangeVariants, change).await.unwrap();
    }

    /// Sells a line `L1` with this variant identifier.
    pub async fn sells_with(&self, order: &str, variant_identifier: Option<&str>) {
        let mut sold = sold(order, 1);
        sold["items"][0]["variant_identifier"] = variant_identifier.into();
        assert_eq!(self.merchant.publishes(&message([sold])).await.results(), ["created"]);
    }

    /// Requests the exchange options for the line `L1` of the order, with the reason that it is too small.
    pub async fn offers_for(&self, order: &str) -> Reply {
        self.offers(&format!("/v1/orders/{order}/lines/L1/exchange_options?reason=TOO_SMALL")).await
    }

    pub async fn offers(&self, path: &str) -> Reply {
        self.merchant.calls(Method::GET, path, |request| request).await
    }

    /// The requests that its systems received.
    pub fn asked(&self) -> Vec<Received> {
        self.systems.received_at(SKUS)
    }

    /// Waits until every call is in the reports, and returns the number of calls for each outcome.
    pub async fn reports(&self) -> Vec<String> {
        self.merchant.world.app.variants.wait_until_idle().await;
        let report = self.merchant.calls(Method::GET, "/v1/reports/deliveries", |request| request).await.body;
        let days = report["days"].as_array().unwrap().iter().filter(|day| day["interface"] == "exchange_variants");
        let outcomes = days.flat_map(|day| day["outcomes"].as_array().unwrap());
        outcomes.map(|outcome| format!("{} {}", outcome["attempts"], outcome["outcome"].as_str().unwrap())).collect()
    }
}

impl Reply {
    /// The offered SKUs.
    pub fn skus(&self) -> Vec<&str> {
        assert_eq!(self.status, 200, "{}", self.text);
        self.body["variants"].as_array().unwrap().iter().map(|variant: &Value| variant["sku"].as_str().unwrap()).collect()
    }
}
