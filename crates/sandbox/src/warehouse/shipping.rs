//! Pallets: the warehouse makes those that it is to send, fills them, and reports how each moves on.

mod plan;

use serde_json::json;

pub use self::plan::Pallet;
use self::plan::{Shown, Step};
use super::Tally;
use super::service::{Service, Trouble};

const SHIPMENTS: &str = "/v1/outbound_shipments";

/// Takes every pallet on until the merchant may be told of it; the next round does what comes after that.
pub(super) async fn work(service: &Service, pallets: &[Pallet]) -> Result<Tally, Trouble> {
    let mut tally = Tally::default();
    for pallet in pallets {
        while let Some(step) = pallet.next(find(service, pallet).await?.as_ref()) {
            match take(service, pallet, &step).await {
                Ok(()) => tally += step.tally(),
                // Somebody else was faster, and the next round sees what is left.
                Err(Trouble::Refused { status: 409, .. }) => break,
                Err(trouble) => return Err(trouble),
            }
            if step.is_reported() {
                break;
            }
        }
    }
    Ok(tally)
}

/// The pallet as the service knows it, if it does.
async fn find(service: &Service, pallet: &Pallet) -> Result<Option<Shown>, Trouble> {
    match service.get(&format!("{SHIPMENTS}/{}", pallet.number)).await {
        Ok(shown) => Shown::read(&shown).map(Some).ok_or(Trouble::Unreachable),
        Err(Trouble::Refused { status: 404, .. }) => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

async fn take(service: &Service, pallet: &Pallet, step: &Step) -> Result<(), Trouble> {
    let at = |word: &str| format!("{SHIPMENTS}/{}/{word}", pallet.number);
    let (path, body) = match step {
        Step::Make => (SHIPMENTS.to_owned(), pallet.made()),
        Step::Fill(units) => (at("units"), pallet.filled(units.clone())),
        Step::Announce => (at("announce"), json!({})),
        Step::Ship => (at("ship"), json!({})),
        Step::Deliver => (at("deliver"), json!({})),
        Step::Cancel => (at("cancel"), json!({})),
    };
    service.post(&path, &body).await.map(drop)
}

impl Step {
    fn tally(&self) -> Tally {
        match self {
            Self::Make | Self::Fill(_) => Tally::default(),
            Self::Announce => Tally { pallets_announced: 1, ..Tally::default() },
            Self::Ship => Tally { pallets_shipped: 1, ..Tally::default() },
            Self::Deliver => Tally { pallets_delivered: 1, ..Tally::default() },
            Self::Cancel => Tally { pallets_cancelled: 1, ..Tally::default() },
        }
    }
}
