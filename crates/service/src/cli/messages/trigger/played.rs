//! What every story needs: the merchant, names, places, and refusals in words.

use anyhow::{Context as _, anyhow};
use domain::id::MerchantId;
use domain::warehouse::place::WarehouseId;
use serde_json::Value;
use store::merchants::accounts::Merchant;
use store::warehouse::places;
use wire::fault::Fault;
use wire::orders::order::Refusal;

use super::bodies::Bodies;
use crate::app::App;

/// Plays a story for a merchant.
pub(super) struct Player<'a> {
    pub(super) app: &'a App,
    pub(super) merchant: &'a Merchant,
    pub(super) bodies: Bodies,
    /// The name of everything that is made, which nothing else has.
    pub(super) name: String,
}

/// The end of a story.
pub(super) struct Played {
    /// The subject of the message.
    pub(super) subject: String,
    /// The order or the ASN behind it, if that is not the subject.
    pub(super) made_for: Option<String>,
}

impl Player<'_> {
    pub(super) fn id(&self) -> MerchantId {
        self.merchant.id
    }

    /// The request with this name, with its changes, as text.
    pub(super) fn send(&self, name: &str, body: Value) -> anyhow::Result<String> {
        Ok(self.bodies.send(name, body)?.to_string())
    }

    /// The merchant's first warehouse.
    pub(super) async fn warehouse(&self) -> anyhow::Result<WarehouseId> {
        let found = places::warehouses(self.app.store(self.id()), self.id()).await?.into_iter().next();
        let handle = &self.merchant.handle;
        let none = || format!("{handle} has no warehouse, and this event takes one: add it with `backhaul warehouse set`");
        found.map(|warehouse| warehouse.id).with_context(none)
    }

    /// The number of the merchant's first vendor.
    pub(super) async fn vendor(&self) -> anyhow::Result<i64> {
        let found = places::vendors(self.app.store(self.id()), self.id()).await?.into_iter().next();
        let handle = &self.merchant.handle;
        let none = || format!("{handle} has no vendor, and this event takes one: add it with `backhaul vendor add`");
        found.map(|vendor| vendor.id.0).with_context(none)
    }
}

/// A request that was refused, with its faults.
pub(super) fn refused(name: &'static str) -> impl Fn(Refusal) -> anyhow::Error {
    move |refusal| match refusal {
        Refusal::Malformed(why) => anyhow!("the request `{name}` was refused: {}", why.0),
        Refusal::Faulty(faults) => faulty(name, &faults.faults),
    }
}

/// The faults of a request, in words.
pub(super) fn faulty(name: &str, faults: &[Fault]) -> anyhow::Error {
    let told: Vec<String> = faults.iter().map(|fault| format!("{} {}", fault.field, fault.message)).collect();
    anyhow!("the request `{name}` was refused: {}", told.join("; "))
}
