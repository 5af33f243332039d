//! The two demo merchants, each with its own policy, brand, carrier, warehouse, endpoints and orders.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::id::{Handle, MerchantId};
use domain::merchants::access::{Scope, Scopes};
use domain::merchants::brand::{Radius, Wording};
use domain::messages::message::Interface;
use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Offer};
use sandbox::carrier::Carrier;
use sandbox::merchant::Merchant as Receiver;
use sandbox::shop::{self, Shop};
use sandbox::warehouse::Warehouse;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use store::merchants::accounts;
use store::returns::carrier_accounts;
use wire::returns::label::PostalAddress;
use wire::warehouse::drop_ship::DropShipOrderIn;

use super::places::{self, ACTOR};
use crate::app::App;
use crate::flow::merchants::add_merchant::add_merchant;
use crate::flow::merchants::configure_brand::{BrandChange, LogoChange, TextChange, set_brand};
use crate::flow::merchants::configure_merchant;
use crate::flow::merchants::configure_merchant::{IssuedCredential, Terms};
use crate::flow::merchants::configure_portal::{PortalChange, set_portal};
use crate::flow::messages::configure_endpoint;
use crate::flow::orders::accept_orders::accept_orders;
use crate::flow::returns::configure_carrier;
use crate::flow::returns::set_policy::{PolicyChange as Policy, set_policy};
use crate::flow::warehouse::take_drop_ship_orders::take_drop_ship_orders;

/// The merchants' technical contact.
const CONTACT: &str = "engineers@example.com";
/// The address that shoppers can turn to.
const HELP: &str = "help@example.com";
/// The address that the simulated carriers and warehouses name as theirs, one of those for documentation (RFC 5737). The rate limiter
/// counts their requests apart from those of whoever tries the sandbox.
const SIMULATORS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// The interfaces that the merchants' systems serve.
const INTERFACES: [Interface; 8] = [
    Interface::Rma,
    Interface::ExchangeVariants,
    Interface::ExchangeOrder,
    Interface::OutboundAsn,
    Interface::InventoryReceipt,
    Interface::DropShipmentConfirmation,
    Interface::DropShipmentCancellation,
    Interface::DropShipmentPartialCancellation,
];

/// A demo merchant.
pub(super) struct Demo {
    pub(super) id: MerchantId,
    pub(super) handle: &'static str,
    pub(super) shop: Shop,
    pub(super) credential: IssuedCredential,
    /// The simulated carrier that sells its labels.
    pub(super) carrier: Carrier,
    webhook_secret: SecretString,
    /// The credential of its simulated warehouse.
    warehouse: IssuedCredential,
}

/// The differences between the two merchants.
struct Plan {
    handle: &'static str,
    shop: Shop,
    orders: usize,
    /// The prefix of its drop-ship orders' identifiers.
    drop_ship: &'static str,
    window_days: u16,
    offers: &'static [&'static str],
    managed_receiving: bool,
    /// The bonus on a gift card, in cents.
    bonus: i64,
    look: Look,
}

/// A demo merchant's brand.
struct Look {
    accent: &'static str,
    radius: Option<Radius>,
    pill_buttons: bool,
    /// The logo, and the one for dark pages.
    logo: &'static [u8],
    dark_logo: &'static [u8],
    phone: &'static str,
    site: &'static str,
}

/// The two plans make 47 orders; with the 3 of the tour, there are 50.
const SHOES: Plan = Plan {
    handle: "demo-shoes",
    shop: shop::SHOES,
    orders: 28,
    drop_ship: "DS",
    window_days: 30,
    offers: &["mail-back", "express-returns"],
    managed_receiving: false,
    bonus: 500,
    look: Look {
        accent: "#6a1b9a",
        radius: None,
        pill_buttons: true,
        logo: include_bytes!("../../../assets/demo/shoes.png"),
        dark_logo: include_bytes!("../../../assets/demo/shoes-dark.png"),
        phone: "+353 1 555 0100",
        site: "https://shoes.example.com",
    },
};
const OUTDOOR: Plan = Plan {
    handle: "demo-outdoor",
    shop: shop::OUTDOOR,
    orders: 19,
    drop_ship: "DO",
    window_days: 60,
    offers: &["mail-back:499:deducted", "customer-keep"],
    managed_receiving: true,
    bonus: 0,
    look: Look {
        // Too light for text on white, so that its darker shades show.
        accent: "#f08a24",
        radius: Radius::new(4),
        pill_buttons: false,
        logo: include_bytes!("../../../assets/demo/outdoor.png"),
        dark_logo: include_bytes!("../../../assets/demo/outdoor-dark.png"),
        phone: "+353 1 555 0142",
        site: "https://outdoor.example.com",
    },
};

/// Creates both merchants. Their messages go to `receiver`.
pub(super) async fn create(app: &App, receiver: &Receiver) -> anyhow::Result<(Demo, Demo)> {
    Ok((create_one(app, &SHOES, receiver).await?, create_one(app, &OUTDOOR, receiver).await?))
}

/// Creates a merchant. One from an earlier run keeps its policy and its orders.
async fn create_one(app: &App, plan: &Plan, receiver: &Receiver) -> anyhow::Result<Demo> {
    let handle: Handle = plan.handle.parse()?;
    let known = accounts::find(app.cell(), &handle).await?;
    let id = match &known {
        Some(known) => known.id,
        None => add_merchant(app, ACTOR, &handle, plan.shop.name, Some(CONTACT)).await?,
    };
    if known.is_none() {
        set_policy(app, ACTOR, id, policy(plan)?).await?;
        push(app, id, &plan.shop.orders(plan.orders, app.now())).await?;
        push_drop_ship(app, id, &plan.shop.drop_ship_orders(plan.drop_ship)).await?;
        places::create(app, id, plan.shop).await?;
        set_brand(app, ACTOR, id, brand(&plan.look)).await?;
        let help = PortalChange { help_email: Some(HELP.to_owned()), ..Default::default() };
        set_portal(app, ACTOR, id, help).await?;
    }
    let credential = configure_merchant::issue_credential(app, ACTOR, id, &Terms::open(Scopes::all(), "backhaul dev")).await?;
    let narrow = Scopes::from_iter([Scope::Warehouse]);
    let warehouse = configure_merchant::issue_credential(app, ACTOR, id, &Terms::open(narrow, "the warehouse of backhaul dev")).await?;
    plan.shop.stock(receiver);
    let _ = receiver.places_exchange_orders(&format!("/{}{}", plan.handle, Interface::ExchangeOrder.path()));
    for interface in INTERFACES {
        let url = receiver.url(&format!("{}{}", plan.handle, interface.path()));
        let endpoint = configure_endpoint::EndpointChange { url: Some(url), ..Default::default() };
        configure_endpoint::set_endpoint(app, ACTOR, id, interface, endpoint).await?;
    }
    let carrier = Carrier::start().await?;
    let webhook_secret = set_carrier(app, id, &carrier, plan.shop.name).await?;
    Ok(Demo { id, handle: plan.handle, shop: plan.shop, credential, carrier, webhook_secret, warehouse })
}

fn policy(plan: &Plan) -> anyhow::Result<Policy> {
    let offers = plan.offers.iter().map(|offer| offer.parse()).collect::<Result<Vec<Offer>, _>>()?;
    Ok(Policy {
        window_days: Some(plan.window_days),
        offers: Some(offers),
        managed_receiving: Some(plan.managed_receiving),
        gift_card: Some(Some(GiftCardTerms { sku: "GIFT-CARD".to_owned(), bonus: Cents::new(plan.bonus).unwrap_or_default() })),
        ..Default::default()
    })
}

fn brand(look: &Look) -> BrandChange {
    let page = |name: &str| Some(format!("{}{name}", look.site));
    let hours = [
        ("en", "Monday to Friday, 9 to 17."),
        ("de", "Montag bis Freitag, 9 bis 17 Uhr."),
        ("es", "De lunes a viernes, de 9 a 17 h."),
        ("fr", "Du lundi au vendredi, de 9 h à 17 h."),
    ];
    let hours = hours.map(|(language, wording)| TextChange {
        language: language.to_owned(),
        text: Wording::HelpHours,
        wording: wording.to_owned(),
    });
    BrandChange {
        accent: Some(look.accent.to_owned()),
        radius: look.radius,
        pill_buttons: Some(look.pill_buttons),
        logo: Some(LogoChange::File(look.logo.to_vec())),
        dark_logo: Some(LogoChange::File(look.dark_logo.to_vec())),
        help_phone: Some(look.phone.to_owned()),
        shop_url: page(""),
        privacy_url: page("/privacy"),
        terms_url: page("/terms"),
        texts: hours.into(),
    }
}

/// Pushes orders, as the merchant's order system would.
pub(super) async fn push(app: &App, merchant: MerchantId, orders: &[Value]) -> anyhow::Result<()> {
    let body = Bytes::from(shop::message(orders));
    let message = wire::orders::order::read(&body).map_err(|_| anyhow!("the sample orders were refused"))?;
    accept_orders(app, merchant, message, &body).await?;
    Ok(())
}

/// Submits drop-ship orders, as the merchant's order system would.
async fn push_drop_ship(app: &App, merchant: MerchantId, orders: &Value) -> anyhow::Result<()> {
    let text = orders.to_string();
    let sent = wire::warehouse::drop_ship::read(text.as_bytes()).map_err(|_| anyhow!("the sample drop-ship orders were refused"))?;
    let given: Vec<_> = sent.orders.iter().map(DropShipOrderIn::content).collect();
    take_drop_ship_orders(app, merchant, &given).await?;
    Ok(())
}

/// Sets the merchant's carrier account, replacing one from an earlier run, whose simulated carrier no longer exists.
async fn set_carrier(app: &App, merchant: MerchantId, carrier: &Carrier, name: &str) -> anyhow::Result<SecretString> {
    if carrier_accounts::current(app.store(merchant), merchant).await?.is_some() {
        configure_carrier::remove_carrier(app, ACTOR, merchant).await?;
    }
    let change = configure_carrier::CarrierChange {
        url: Some(carrier.url().to_owned()),
        api_key: Some(carrier.api_key().into()),
        destination: Some(warehouse(name)),
        usual_weight: None,
    };
    configure_carrier::set_carrier(app, ACTOR, merchant, change).await?.context("the new carrier account has no webhook secret")
}

fn warehouse(name: &str) -> PostalAddress {
    let [street1, city, state, zip, country] = ["1 Warehouse Way", "Returnsburg", "OH", "43085", "US"].map(ToOwned::to_owned);
    PostalAddress { name: format!("{name} Returns"), street1, street2: None, city, state, zip, country, phone: None }
}

impl Demo {
    /// Makes the carrier send its webhooks to the service at `address`.
    pub(super) fn connect(&self, address: SocketAddr) -> anyhow::Result<()> {
        let url = format!("http://{address}/v1/carrier_webhooks/{}", self.id);
        Ok(self.carrier.sends_webhooks_from(SIMULATORS, &url, self.webhook_secret.expose_secret())?)
    }

    /// The merchant's simulated warehouse, a client of the service at `address`.
    pub(super) fn warehouse(&self, address: SocketAddr, now: DateTime<Utc>) -> anyhow::Result<Warehouse> {
        let IssuedCredential { client_id, client_secret, .. } = &self.warehouse;
        let warehouse = Warehouse::new(&format!("http://{address}"), client_id, client_secret.expose_secret())?.calls_from(SIMULATORS);
        Ok(warehouse.receives_at(places::WAREHOUSE).sends(self.shop.pallets(places::WAREHOUSE, places::VENDOR, now)))
    }
}
