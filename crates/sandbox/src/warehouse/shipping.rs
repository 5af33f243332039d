//! Pallets: creates them, fills them, and reports each of their steps.

mod plan;

use serde_json::json;

pub use self::plan::Pallet;
use self::plan::{PalletState, Step};
use super::service::{Service, Trouble};
use super::tally::Tally;

const SHIPMENTS: &str = "/v1/outbound_shipments";

/// Advances every pallet up to the next step that is reported to the merchant. The next round continues from there.
pub(super) async fn work(service: &Service, pallets: &[Pallet]) -> Result<Tally, Trouble> {
    let mut tally = Tally::default();
    for pallet in pallets {
        while let Some(step) = pallet.next(find(service, pallet).await?.as_ref()) {
            match take(service, pallet, &step).await {
                Ok(()) => tally += step.tally(),
                // Someone else was faster. The next round sees what is left.
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

/// Looks the pallet up in the service.
async fn find(service: &Service, pallet: &Pallet) -> Result<Option<PalletState>, Trouble> {
    match service.get(&format!("{SHIPMENTS}/{}", pallet.number)).await {
        Ok(body) => PalletState::read(&body).map(Some).ok_or(Trouble::Unreachable),
        Err(Trouble::Refused { status: 404, .. }) => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

async fn take(service: &Service, pallet: &Pallet, step: &Step) -> Result<(), Trouble> {
    let at = |word: &str| format!("{SHIPMENTS}/{}/{word}", pallet.number);
    let (path, body) = match step {
        Step::Make => (SHIPMENTS.to_owned(), pallet.creation()),
        Step::Fill(units) => (at("units"), pallet.filling(units.clone())),
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
