//! `backhaul trigger`: makes a message of a sandbox's merchant by living through what leads to it.
//!
//! - The events, and the stories that lead to them (`returns.rs`, `goods.rs`, `drop_ship.rs`): sample requests go through the flows that
//!   the API calls, so that the state machines write the message.
//! - The changes of these requests (`bodies.rs`).
//! - The reading of requests and the texts of refusals (`played.rs`).

mod bodies;
mod drop_ship;
mod goods;
mod played;
mod returns;

use std::str::FromStr;

use anyhow::{Context as _, bail};
use clap::Args;
use domain::node::mode::Mode;
use domain::returns::rma::Event as OfReturn;
use domain::warehouse::drop_ship::Event as OfDropShip;
use domain::warehouse::shipment::Event as OfShipment;
use serde::Serialize;
use store::merchants::accounts::Merchant;
use store::messages::message_pages::{self, Filter};

use self::bodies::{Bodies, Change};
use self::played::{Played, Player};
use crate::app::App;
use crate::cli::context::OfMerchant;
use crate::cli::output::{self, Format};

#[derive(Args)]
pub(in crate::cli) struct Trigger {
    /// The event to make, such as `rma.created`, `rma.tracking_updated`, `rma.refunded`, `exchange_order.requested`,
    /// `outbound_asn.shipped`, `inventory_receipt.received` or `drop_shipment.confirmed`.
    event: Goal,
    #[command(flatten)]
    merchant: OfMerchant,
    /// Change a request on the way, such as `items.0.return_reason=TOO_SMALL`. An earlier request is named first:
    /// `order:currency=EUR`. Can be given several times.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<Change>,
}

/// An event that can be triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Return(OfReturn),
    ExchangeOrder,
    Shipment(OfShipment),
    Receipt,
    DropShip(OfDropShip),
}

const RECEIVED: &str = "inventory_receipt.received";

impl Goal {
    fn as_str(self) -> &'static str {
        match self {
            Self::Return(event) => event.as_str(),
            Self::ExchangeOrder => wire::returns::exchange_order::EVENT,
            Self::Shipment(event) => event.as_str(),
            Self::Receipt => RECEIVED,
            Self::DropShip(event) => event.as_str(),
        }
    }

    /// Every event.
    fn all() -> impl Iterator<Item = Self> {
        let of_returns = OfReturn::ALL.iter().copied().map(Self::Return);
        let of_shipments = OfShipment::ALL.iter().copied().map(Self::Shipment);
        let of_drop_ship = OfDropShip::ALL.iter().copied().map(Self::DropShip);
        of_returns.chain([Self::ExchangeOrder]).chain(of_shipments).chain([Self::Receipt]).chain(of_drop_ship)
    }

    /// The names of the requests that lead to it, its own last; none if it cannot be triggered.
    fn requests(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Return(event) => returns::requests(event),
            Self::ExchangeOrder => Some(&["order", "return"]),
            Self::Shipment(event) => Some(goods::requests(event)),
            Self::Receipt => Some(&["asn", "receipt"]),
            Self::DropShip(_) => Some(&["order", "report"]),
        }
    }
}

/// The text is not an event that can be triggered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event must be one of {0}")]
struct NoEvent(String);

impl FromStr for Goal {
    type Err = NoEvent;

    fn from_str(text: &str) -> Result<Self, NoEvent> {
        let mut known = Self::all().filter(|event| event.requests().is_some());
        let names = || Self::all().filter(|event| event.requests().is_some()).map(Self::as_str).collect::<Vec<_>>().join(", ");
        known.find(|event| event.as_str() == text).ok_or_else(|| NoEvent(names()))
    }
}

/// The message that was made, and where it can be seen.
#[derive(Serialize)]
struct Triggered {
    event: &'static str,
    /// The subject: a return, an order, an ASN number or a unit.
    subject: String,
    /// The order or the ASN that the subject belongs to, if that is another.
    made_for: Option<String>,
    message_id: String,
    sequence: i64,
    see_it: String,
}

pub(in crate::cli) async fn run(trigger: Trigger, app: &App, format: Format) -> anyhow::Result<()> {
    let Trigger { event, merchant, changes } = trigger;
    match app.cell().mode().await? {
        Some(Mode::Sandbox) => {}
        Some(Mode::Production) => bail!("this is a production installation: events can be triggered in a sandbox only"),
        None => bail!("the database is empty; run `backhaul migrate`"),
    }
    let requests = event.requests().context("this event cannot be triggered")?;
    let bodies = Bodies::new(changes, requests)?;
    let merchant = merchant.find(app).await?;
    let player = Player { app, merchant: &merchant, bodies, name: format!("TRY-{}", app.clock.wall().timestamp_millis()) };
    let outcome = match event {
        Goal::Return(event) => Box::pin(returns::play(&player, event)).await?,
        Goal::ExchangeOrder => Box::pin(returns::exchange(&player)).await?,
        Goal::Shipment(event) => Box::pin(goods::ship(&player, event)).await?,
        Goal::Receipt => Box::pin(goods::receive(&player)).await?,
        Goal::DropShip(event) => Box::pin(drop_ship::play(&player, event)).await?,
    };
    app.forward_signals_now().await;
    show(app, &merchant, event.as_str(), outcome, format).await
}

/// Shows the message that the story has led to. Changes may have led it elsewhere.
async fn show(app: &App, merchant: &Merchant, event: &'static str, played: Played, format: Format) -> anyhow::Result<()> {
    /// More messages than any story makes about one subject.
    const MOST: usize = 20;
    let Played { subject, made_for } = played;
    let filter = Filter { subject: Some(subject.clone()), ..Filter::default() };
    let page = message_pages::list(app.store(merchant.id), merchant.id, &filter, None, MOST).await?;
    let Some(message) = page.messages.iter().find(|message| message.event == event) else {
        let made: Vec<&str> = page.messages.iter().rev().map(|message| message.event.as_str()).collect();
        bail!("everything was done, but {subject} has no {event} yet; its messages are: {}", made.join(", "));
    };
    let see_it = format!("backhaul messages show {} --merchant {}", message.id, merchant.handle);
    let (message_id, sequence) = (message.id.to_string(), message.sequence);
    output::one(format, &Triggered { event, subject, made_for, message_id, sequence, see_it })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_back_or_cannot_be_triggered() {
        let mut untriggered = Vec::new();
        for event in Goal::all() {
            match event.as_str().parse::<Goal>() {
                Ok(read) => assert_eq!(read, event),
                Err(_) => untriggered.push(event.as_str()),
            }
        }
        assert_eq!(untriggered, ["rma.exchange_identified", "rma.exchange_converted"]);
        assert!("rma.lost".parse::<Goal>().unwrap_err().to_string().contains("rma.created, rma.tracking_updated"));
    }
}
