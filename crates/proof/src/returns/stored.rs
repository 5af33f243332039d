//! The stored orders, returns, refunds and messages.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::history::Digest;

/// A stored return.
#[derive(Clone, Debug)]
pub(super) struct StoredReturn {
    pub(super) shop: usize,
    pub(super) rma: String,
    pub(super) order: String,
    pub(super) status: String,
    pub(super) sequence: i64,
    pub(super) units: Vec<StoredUnit>,
}

/// A unit of a return.
#[derive(Clone, Debug)]
pub(super) struct StoredUnit {
    /// Its number among the units of the order's line.
    pub(super) unit: i32,
    pub(super) tracking_number: Option<String>,
    pub(super) refund: Option<String>,
}

/// A message about a return.
#[derive(Clone, Debug)]
pub(super) struct StoredMessage {
    pub(super) shop: usize,
    pub(super) id: Uuid,
    pub(super) rma: String,
    pub(super) sequence: i64,
    pub(super) event: String,
    pub(super) digest: Digest,
}

/// The units of an order that a refund covers.
#[derive(Clone, Debug)]
pub(super) struct StoredRefund {
    pub(super) shop: usize,
    pub(super) refund: String,
    pub(super) order: String,
    /// The units that it states; none if it is a refund by amount.
    pub(super) quantity: Option<i64>,
}

/// The stored state in the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    pub(super) orders: HashSet<(usize, String)>,
    pub(super) returns: Vec<StoredReturn>,
    pub(super) messages: Vec<StoredMessage>,
    pub(super) refunds: Vec<StoredRefund>,
    /// Messages still owed.
    pub(super) waiting: HashSet<Uuid>,
    /// Messages in the failure queue.
    pub(super) failed: HashSet<Uuid>,
}

impl Stored {
    /// Reads the database. A merchant's shop number is its position in `merchants`.
    pub(super) async fn read(connection: &mut PgConnection, merchants: &[Uuid]) -> anyhow::Result<Self> {
        let shop = |merchant: &Uuid| merchants.iter().position(|known| known == merchant).unwrap_or(usize::MAX);
        let orders: Vec<(Uuid, String)> =
            sqlx::query_as("select merchant_id, identifier from customer_order").fetch_all(&mut *connection).await?;
        let returns: Vec<(Uuid, Uuid, String, String, String, i64)> =
            sqlx::query_as("select merchant_id, rma_id, identifier, order_identifier, status, sequence from rma")
                .fetch_all(&mut *connection)
                .await?;
        let units: Vec<(Uuid, i32, Option<String>, Option<String>)> =
            sqlx::query_as("select rma_id, unit, tracking_number, refund_identifier from rma_item order by rma_id, position")
                .fetch_all(&mut *connection)
                .await?;
        let messages: Vec<(Uuid, Uuid, String, i64, String, String)> =
            sqlx::query_as("select merchant_id, message_id, subject, sequence, event, body from message where kind = 'rma'")
                .fetch_all(&mut *connection)
                .await?;
        let refunds: Vec<(Uuid, String, String, Option<i64>)> = sqlx::query_as(
            "select refund.merchant_id, refund.identifier, refund.order_identifier, sum(line.quantity)::bigint
            from refund
            left join refund_line as line on line.merchant_id = refund.merchant_id and line.order_identifier = refund.order_identifier
                and line.refund_identifier = refund.identifier
            group by 1, 2, 3",
        )
        .fetch_all(&mut *connection)
        .await?;
        let waiting: Vec<Uuid> = sqlx::query_scalar("select message_id from delivery").fetch_all(&mut *connection).await?;
        let failed: Vec<Uuid> = sqlx::query_scalar("select message_id from failure").fetch_all(connection).await?;
        let mut units_of: HashMap<Uuid, Vec<StoredUnit>> = HashMap::new();
        for (id, unit, tracking_number, refund) in units {
            units_of.entry(id).or_default().push(StoredUnit { unit, tracking_number, refund });
        }
        let returned = returns.into_iter().map(|(merchant, id, rma, order, status, sequence)| StoredReturn {
            shop: shop(&merchant),
            rma,
            order,
            status,
            sequence,
            units: units_of.remove(&id).unwrap_or_default(),
        });
        let written = messages.into_iter().map(|(merchant, id, rma, sequence, event, body)| StoredMessage {
            shop: shop(&merchant),
            id,
            rma,
            sequence,
            event,
            digest: Sha256::digest(body).into(),
        });
        let refunded =
            refunds.into_iter().map(|(merchant, refund, order, quantity)| StoredRefund { shop: shop(&merchant), refund, order, quantity });
        Ok(Self {
            orders: orders.iter().map(|(merchant, order)| (shop(merchant), order.clone())).collect(),
            returns: returned.collect(),
            messages: written.collect(),
            refunds: refunded.collect(),
            waiting: waiting.into_iter().collect(),
            failed: failed.into_iter().collect(),
        })
    }

    /// Adds the state of another cell.
    pub(super) fn add(&mut self, other: Self) {
        self.orders.extend(other.orders);
        self.returns.extend(other.returns);
        self.messages.extend(other.messages);
        self.refunds.extend(other.refunds);
        self.waiting.extend(other.waiting);
        self.failed.extend(other.failed);
    }
}
