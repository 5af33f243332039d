//! Orders that were placed for an exchange: each is recorded in the transaction that stores it.

use store::{Failed, Tx};
use wire::orders::order as wire_order;

use super::findings::{Findings, Placed};
use crate::app::App;
use crate::flow::returns::record_exchange::{Recorded, record_named};

/// Records the orders of a round that name the order which they were exchanged for. Costs nothing for other orders.
pub(in crate::flow::orders) async fn record_exchanges(
    app: &App,
    tx: &mut Tx,
    round: &[Placed<'_>],
    findings: &mut Findings,
) -> Result<(), Failed> {
    for (_, received) in round {
        let Some(original) = received.order.exchanged_for() else { continue };
        match record_named(app, tx, original, &received.order.identifier.0).await?.map(|(_, recorded)| recorded) {
            Some(Recorded::Other(known)) => findings.warnings.push(wire_order::exchanged_otherwise(&received.path(), &known)),
            Some(Recorded::Converted) => findings.warnings.push(wire_order::exchange_was_converted(&received.path())),
            Some(Recorded::Now | Recorded::Before) | None => {}
        }
    }
    Ok(())
}
