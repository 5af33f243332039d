//! Drop-ship orders: the warehouse looks for those that are still to be shipped, and reports what becomes of each.

mod plan;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use self::plan::{Order, Step};
use super::Tally;
use super::service::{Service, Trouble};

const ORDERS: &str = "/v1/drop_ship_orders";
/// How many pages are read in one round; the rest waits for the next.
const MOST_PAGES: usize = 20;

/// Goes through all orders that are still to be shipped, and takes the next step with each.
pub(super) async fn work(service: &Service) -> Result<Tally, Trouble> {
    let mut tally = Tally::default();
    for status in ["partially_shipped", "accepted"] {
        for name in names(service, status).await? {
            let path = format!("{ORDERS}/{}", utf8_percent_encode(&name, NON_ALPHANUMERIC));
            let Some(order) = Order::read(&service.get(&path).await?) else { continue };
            let Some(step) = order.next() else { continue };
            match service.post(&format!("{path}/{}", step.word()), &order.report(&step)).await {
                Ok(_) => tally += step.tally(),
                // Somebody else was faster, and the next round sees what is left.
                Err(Trouble::Refused { status: 409 | 422, .. }) => {}
                Err(trouble) => return Err(trouble),
            }
        }
    }
    Ok(tally)
}

/// The names of the orders in this status.
async fn names(service: &Service, status: &str) -> Result<Vec<String>, Trouble> {
    let mut names = Vec::new();
    let mut before = String::new();
    for _ in 0..MOST_PAGES {
        let page = service.get(&format!("{ORDERS}?status={status}&limit=100{before}")).await?;
        let orders = page.get("drop_ship_orders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        names.extend(orders.iter().filter_map(|order| order.get("client_identifier")?.as_str()).map(ToOwned::to_owned));
        let Some(next) = page.get("next_before").and_then(Value::as_str) else { break };
        before = format!("&before={next}");
    }
    Ok(names)
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
