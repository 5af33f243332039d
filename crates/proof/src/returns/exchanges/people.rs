//! People who settle what the merchants' answers left open: they name orders, retry requests and convert exchanges, several times
//! at once.

use std::time::Duration;

use anyhow::ensure;
use serde_json::json;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::caller::Caller;
use super::confirm::sold;
use super::history::{Key, StoredExchange};
use super::temper::number;

/// The number of times that each action is taken at once.
const TIMES: usize = 3;
/// The time after which the service is killed.
pub(super) const KILLED_AFTER: Duration = Duration::from_millis(40);

/// An action on an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The merchant publishes the order that it has placed.
    Publish,
    /// The merchant names the order by the API.
    Name,
    Retry(Uuid),
    Convert,
}

/// The actions on an exchange that was placed without a name.
pub(super) fn name(order: &str) -> Action {
    if number(order).is_multiple_of(2) { Action::Publish } else { Action::Name }
}

/// The actions on an exchange in the failure queue. Some that were never placed are retried and converted at once.
pub(super) fn resolve(order: &str, exchange: &StoredExchange) -> Vec<Action> {
    let retry = Action::Retry(exchange.message);
    match number(order) % 4 {
        0 => vec![retry],
        1 => vec![Action::Publish],
        2 => vec![Action::Name],
        _ if number(order) % 8 == 7 => vec![Action::Convert, retry],
        _ => vec![Action::Convert],
    }
}

/// Starts an action on the exchange `rma` of the order `key`, several times at once.
pub(super) fn act(at_work: &mut JoinSet<anyhow::Result<()>>, caller: &Caller, key: &Key, rma: &str, action: Action) {
    for _ in 0..TIMES {
        let (caller, order, rma) = (caller.clone(), key.1.clone(), rma.to_owned());
        at_work.spawn(async move { once(&caller, &order, &rma, action).await });
    }
}

async fn once(caller: &Caller, order: &str, rma: &str, action: Action) -> anyhow::Result<()> {
    let identifier = format!("X-{order}");
    let status = match action {
        Action::Publish => {
            let mut placed = sold(&identifier, backhaul::platform::clock::Clock::system().now());
            if let Some(fields) = placed.as_object_mut() {
                fields.insert("original_order_identifier".to_owned(), json!(order));
            }
            caller.publish(&placed).await
        }
        Action::Name => caller.send(&format!("PUT /v1/exchange_orders/{order}"), "-", &json!({"order_identifier": identifier})).await.0,
        Action::Retry(message) => caller.send(&format!("POST /v1/messages/{message}/retry"), "-", &json!({})).await.0,
        Action::Convert => caller.send(&format!("POST /v1/returns/{rma}/convert_exchange"), "-", &json!({"confirm": true})).await.0,
    };
    let expected: &[u16] = match action {
        Action::Publish | Action::Name => &[200],
        // The others may have gone first.
        Action::Retry(_) => &[202, 409],
        Action::Convert => &[200, 409],
    };
    ensure!(expected.contains(&status), "{action:?} of {order}: {status}");
    Ok(())
}
