//! The records of a run without faults.

use std::time::Instant;

use uuid::Uuid;

use super::client::{Client, Refunding, sku};
use super::findings::History;
use super::record::Receipt;
use super::stored::{Stored, StoredMessage, StoredRefund, StoredReturn, StoredUnit};

/// The changes of a return: started, labelled, scanned, refunded.
const CHANGES: [(&str, &str); 4] =
    [("rma.created", "CREATED"), ("rma.tracking_updated", "CREATED"), ("rma.tracking_updated", "CREATED"), ("rma.refunded", "REFUNDED")];

/// The records of this many returns.
pub(super) fn history(returns: u64) -> History {
    let mut history = History { clients: Vec::new(), receipts: Vec::new(), stored: Stored::default() };
    for number in 0..returns {
        let rma = format!("R-{number}");
        let client = Client {
            order_acknowledged: true,
            rma: Some(rma.clone()),
            labelled: true,
            least: 4,
            most: 4,
            refunding: Refunding::Acknowledged,
            ..Client::new(number)
        };
        history.stored.orders.insert((client.shop, client.order.clone()));
        for ((event, status), sequence) in CHANGES.iter().zip(1_i64..) {
            let id = Uuid::from_u128(u128::from(number) * 10 + u128::from(sequence.unsigned_abs()));
            let digest = [u8::try_from(number).unwrap() + u8::try_from(sequence).unwrap(); 32];
            history.stored.messages.push(StoredMessage {
                shop: client.shop,
                id,
                rma: rma.clone(),
                sequence,
                event: (*event).to_owned(),
                digest,
            });
            history.receipts.push(Receipt {
                number: 1 + history.receipts.len() as u64,
                at: Instant::now(),
                shop: client.shop,
                id,
                sequence,
                digest,
                accepted: true,
                rma: rma.clone(),
                status: (*status).to_owned(),
                skus: vec![sku(client.shop)],
            });
        }
        let unit =
            |unit: i32| StoredUnit { unit, tracking_number: Some(client.tracking_number.clone()), refund: Some(client.refund.clone()) };
        history.stored.returns.push(StoredReturn {
            shop: client.shop,
            rma,
            order: client.order.clone(),
            status: "REFUNDED".to_owned(),
            sequence: 4,
            units: if client.units == 1 { vec![unit(1)] } else { vec![unit(2), unit(3)] },
        });
        history.stored.refunds.push(StoredRefund {
            shop: client.shop,
            refund: client.refund.clone(),
            order: client.order.clone(),
            quantity: Some(i64::try_from(client.units).unwrap()),
        });
        history.clients.push(client);
    }
    history
}
