//! Drop-ship orders: finds the ones still to be shipped, and reports the next step of each.

mod plan;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use self::plan::{Order, Step};
use super::service::{Service, Trouble, names};
use super::tally::Tally;

const ORDERS: &str = "/v1/drop_ship_orders";

/// Takes the next step with every order still to be shipped.
pub(super) async fn work(service: &Service) -> Result<Tally, Trouble> {
    let mut tally = Tally::default();
    for status in ["partially_shipped", "accepted"] {
        for name in names(service, ORDERS, &format!("&status={status}"), "client_identifier", |_| true).await? {
            let path = format!("{ORDERS}/{}", utf8_percent_encode(&name, NON_ALPHANUMERIC));
            let Some(order) = Order::read(&service.get(&path).await?) else { continue };
            let Some(step) = order.next() else { continue };
            match service.post(&format!("{path}/{}", step.word()), &order.report(&step)).await {
                Ok(_) => tally += step.tally(),
                // Someone else was faster. The next round sees what is left.
                Err(Trouble::Refused { status: 409 | 422, .. }) => {}
                Err(trouble) => return Err(trouble),
            }
        }
    }
    Ok(tally)
}

impl Step {
    fn tally(&self) -> Tally {
        match self {
            Self::Ship(_) => Tally { shipments: 1, ..Tally::default() },
            Self::CancelItems(_) => Tally { items_cancelled: 1, ..Tally::default() },
            Self::Cancel => Tally { cancelled: 1, ..Tally::default() },
            Self::Reject => Tally { rejected: 1, ..Tally::default() },
        }
    }
}
