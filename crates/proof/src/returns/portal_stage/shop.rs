//! A merchant on the portal's stage, with its simulated systems and carrier.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use backhaul::app::App;
use backhaul::flow::merchants::add_merchant::add_merchant;
use backhaul::flow::merchants::configure_merchant::{Terms, issue_credential};
use backhaul::flow::merchants::configure_portal::{PortalChange, set_portal};
use backhaul::flow::messages::configure_endpoint::{EndpointChange, pause_endpoint, resume_endpoint, set_endpoint};
use backhaul::flow::returns::configure_carrier::{CarrierChange, set_carrier};
use backhaul::flow::returns::set_policy::{PolicyChange, set_policy};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;
use domain::messages::message::Interface;
use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Offer};
use sandbox::carrier::{Carrier, Faults, Status};
use sandbox::merchant::{Answer, ExchangeOrders, Merchant as Systems, Mood, OnShelf};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Value, json};

/// The actor in the audit log.
const ACTOR: &str = "proof";
/// The longest wait for the service to take a scan.
const SCANNED_WITHIN: Duration = Duration::from_secs(10);

/// The merchant to add.
#[derive(Deserialize)]
pub(super) struct Opening {
    name: String,
    /// The ways back, as `backhaul policy set --method` takes them.
    offers: Vec<String>,
    /// The bonus on a gift card; without it there are no gift cards.
    #[serde(default)]
    bonus_cents: Option<i64>,
    /// The warehouse receives returns for the merchant.
    #[serde(default)]
    managed_receiving: bool,
    /// The address that shoppers can turn to.
    #[serde(default)]
    help_email: Option<String>,
}

/// A variant on the merchant's shelf.
#[derive(Deserialize)]
pub(super) struct Shelved {
    sku: String,
    size: String,
    #[serde(default)]
    colour: Option<String>,
    cents: i64,
    stock: i64,
}

impl Shelved {
    fn on_shelf(&self) -> OnShelf {
        let variant = OnShelf::new(&self.sku, &self.size, self.cents).stock(self.stock);
        self.colour.iter().fold(variant, |variant, colour| variant.colour(colour))
    }
}

/// A merchant. Its systems and its carrier stop when it is dropped.
pub(super) struct Shop {
    id: MerchantId,
    systems: Systems,
    exchanges: ExchangeOrders,
    carrier: Carrier,
}

impl Shop {
    /// Adds a merchant, whose carrier reports to the service at `service`. Returns the merchant's credential as well.
    pub(super) async fn open(app: &App, handle: &str, opening: Opening, service: SocketAddr) -> anyhow::Result<(Self, Value)> {
        let id = add_merchant(app, ACTOR, &handle.parse()?, &opening.name, None).await?;
        let offers = opening.offers.iter().map(|offer| offer.parse()).collect::<Result<Vec<Offer>, _>>()?;
        let bonus = opening.bonus_cents.map(|cents| Cents::new(cents).context("the bonus is too large")).transpose()?;
        let gift_card = bonus.map(|bonus| GiftCardTerms { sku: "GIFT-CARD".to_owned(), bonus });
        let policy = PolicyChange {
            offers: Some(offers),
            gift_card: Some(gift_card),
            managed_receiving: Some(opening.managed_receiving),
            refusals_are_final: Some(true),
            ..PolicyChange::default()
        };
        set_policy(app, ACTOR, id, policy).await?;
        if let Some(help_email) = opening.help_email {
            set_portal(app, ACTOR, id, PortalChange { help_email: Some(help_email), ..PortalChange::default() }).await?;
        }
        let systems = Systems::start().await?;
        let exchanges = systems.places_exchange_orders(Interface::ExchangeOrder.path());
        let shop = Self { id, systems, exchanges, carrier: Carrier::start().await? };
        for interface in [Interface::Rma, Interface::ExchangeOrder, Interface::ExchangeVariants] {
            shop.set_endpoint(app, interface).await?;
        }
        shop.set_carrier(app, service).await?;
        let credential = issue_credential(app, ACTOR, id, &Terms::open(Scopes::all(), "")).await?;
        let secret = credential.client_secret.expose_secret();
        Ok((shop, json!({ "merchant": handle, "client_id": credential.client_id, "client_secret": secret })))
    }

    async fn set_endpoint(&self, app: &App, interface: Interface) -> anyhow::Result<()> {
        let change = EndpointChange { url: Some(self.systems.url(interface.path())), ..EndpointChange::default() };
        set_endpoint(app, ACTOR, self.id, interface, change).await?;
        Ok(())
    }

    async fn set_carrier(&self, app: &App, service: SocketAddr) -> anyhow::Result<()> {
        let destination =
            json!({"name": "Returns", "street1": "7 Dock Rd", "city": "Reno", "state": "NV", "zip": "89501", "country": "US"});
        let change = CarrierChange {
            url: Some(self.carrier.url().to_owned()),
            api_key: Some(self.carrier.api_key().into()),
            destination: Some(serde_json::from_value(destination)?),
            usual_weight: None,
        };
        let secret = set_carrier(app, ACTOR, self.id, change).await?.context("the carrier is not new")?;
        self.carrier.sends_webhooks_to(&format!("http://{service}/v1/carrier_webhooks/{}", self.id), secret.expose_secret())?;
        Ok(())
    }

    /// Replaces the variants of `identifier`. The endpoint is changed and changed back, so that the service does not answer from its
    /// cache.
    pub(super) async fn shelve(&self, app: &App, identifier: &str, variants: &[Shelved]) -> anyhow::Result<Value> {
        self.systems.has_variants(identifier, variants.iter().map(Shelved::on_shelf));
        pause_endpoint(app, ACTOR, self.id, Interface::ExchangeVariants).await?;
        resume_endpoint(app, ACTOR, self.id, Interface::ExchangeVariants).await?;
        Ok(json!({}))
    }

    /// Delays the answers about variants.
    pub(super) fn answer_after(&self, delay: Duration) -> Value {
        self.systems.answer("/sku", Answer::usual().delay(delay));
        json!({})
    }

    /// Refuses exchange orders as out of stock.
    pub(super) fn refuse_exchanges(&self) -> Value {
        self.exchanges.mood(Mood::Refusing(409));
        json!({})
    }

    /// Delays the carrier's answers.
    pub(super) async fn label_after(&self, delay: Duration) -> anyhow::Result<Value> {
        self.carrier.faults(Faults { delay, ..Faults::default() }).await?;
        Ok(json!({}))
    }

    /// Scans the parcel of a return, and waits until the service has taken it.
    pub(super) async fn scan(&self, rma: &str, status: &str) -> anyhow::Result<Value> {
        let shipments = self.carrier.shipments();
        let shipment = shipments.iter().rfind(|shipment| shipment.reference.as_deref() == Some(rma));
        let code = shipment.and_then(|shipment| shipment.tracking_code.as_deref()).with_context(|| format!("{rma} has no label"))?;
        self.carrier.scan(code, status.parse::<Status>()?)?;
        let settled = self.carrier.webhooks_settled(SCANNED_WITHIN).await;
        settled.map_err(|tally| anyhow!("the service did not take the scan: {tally:?}"))?;
        Ok(json!({}))
    }
}
