//! The order message: `POST /returns_portal_orders`.
//!
//! [`read`] takes the fast path, straight into the structs of `shape`. Only a message that the fast path refuses is parsed again
//! and explained through the published schema. `explain` puts the findings of the domain's rules into words. [`read_one`] does the
//! same for an order on its own, as on a line of an import. [`digest`] tells contents apart, whatever their spelling.

mod content;
mod erased;
mod excerpt;
mod explain;
mod facts;
mod received;
mod sale;
mod shape;
mod single;
mod slow;

use serde::Deserialize;
use utoipa::IntoParams;

pub use self::content::digest;
pub use self::erased::erased;
pub use self::excerpt::{ExcerptLine, excerpt, read_excerpt};
pub use self::explain::{
    changed_under_returns, exchange_was_converted, exchanged_otherwise, overrefunded, refund_by_amount, refund_of_another_order,
    refunded_again, remark, rma_not_live, units_not_in_rma,
};
pub use self::received::{ReceivedOrder, read_fast};
pub use self::sale::read_stored;
pub use self::shape::{
    AddressIn, CustomerIn, Envelope, LineIn, MOST_ENTRIES, MOST_ORDERS, OrderIn, OrderMessage, Raw, RefundIn, RefundLineIn,
};
pub use self::single::{RefusedOrder, read_one};
pub use self::slow::read_slow;
use crate::fault::Fault;
use crate::json;
pub use crate::request::{Faults, Refusal};

/// Query parameters for publishing orders.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PublishQuery {
    /// Check the message without storing anything; the response says what would have happened.
    #[serde(default)]
    #[param(required = false)]
    pub validate_only: bool,
}

/// A valid order message.
pub struct Received<'a> {
    pub orders: Vec<ReceivedOrder<'a>>,
}

impl Received<'_> {
    /// The order identifiers, in the order of the message.
    #[must_use]
    pub fn identifiers(&self) -> Vec<String> {
        self.orders.iter().map(|received| received.order.identifier.0.to_string()).collect()
    }
}

/// Reads an order message: checks its shape, then its rules.
pub fn read(body: &[u8]) -> Result<Received<'_>, Refusal> {
    let text = json::text(body).map_err(Refusal::Malformed)?;
    let Some(mut orders) = read_fast(text) else { return Err(read_slow(text)) };
    let mut faults: Vec<Fault> = orders.iter_mut().flat_map(ReceivedOrder::hold_to_rules).collect();
    let received = Received { orders };
    if faults.is_empty() {
        return Ok(received);
    }
    faults.truncate(crate::fault::MOST_TOLD);
    Err(Refusal::Faulty(Faults { faults, identifiers: received.identifiers() }))
}
