//! An order with everything that belongs to it, without the shopper: for the console and the command line.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::orders::order::Status;
use domain::returns::rma::sale::SoldLine;
use store::Failed;
use store::orders::refunds::{self, Recorded};
use store::orders::snapshots::Stored;
use store::returns::rma_pages::{self, Filter, Listed, MOST_LISTED};
use store::returns::unit_claims::{self, Claim};
use wire::fault::Warning;
use wire::orders::order::{OrderIn, read_stored};
use wire::shape::Amount;

use crate::node::Node;

/// An order.
pub(crate) struct Order {
    pub(crate) identifier: String,
    /// The number of snapshots stored so far.
    pub(crate) revision: i64,
    /// The time the snapshot arrived.
    pub(crate) received_at: DateTime<Utc>,
    pub(crate) warnings: Vec<Warning>,
    /// `None` if the snapshot cannot be read.
    pub(crate) content: Option<Content>,
    pub(crate) refunds: Vec<Recorded>,
    /// The newest returns.
    pub(crate) returns: Vec<Listed>,
}

/// The content of a snapshot.
pub(crate) struct Content {
    pub(crate) status: Status,
    pub(crate) currency: String,
    pub(crate) placed_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
    pub(crate) lines: Vec<Line>,
    pub(crate) sums: Sums,
    pub(crate) total: Cents,
    /// The order that this one was exchanged for.
    pub(crate) original: Option<String>,
}

/// The parts of an order's total.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    pub(crate) product: Cents,
    pub(crate) discount: Cents,
    pub(crate) tax: Cents,
    pub(crate) shipping: Cents,
    pub(crate) shipping_tax: Cents,
}

impl Sums {
    /// The sum of the parts in cents; it may be below zero.
    pub(crate) fn adds_up_to(self) -> i128 {
        let whole = |amount: Cents| i128::from(amount.get());
        whole(self.product) - whole(self.discount) + whole(self.tax) + whole(self.shipping) + whole(self.shipping_tax)
    }
}

/// A line of an order.
pub(crate) struct Line {
    pub(crate) identifier: String,
    pub(crate) sku: String,
    pub(crate) title: String,
    pub(crate) unit_price: Cents,
    pub(crate) ordered: u32,
    pub(crate) shipped: u32,
    pub(crate) cancelled: u32,
    /// Units in returns.
    pub(crate) returned: usize,
    pub(crate) refunded: u64,
    pub(crate) tracking_number: Option<String>,
}

/// Everything about a stored order.
pub(crate) async fn show(node: &Node, merchant: MerchantId, stored: Stored) -> Result<Order, Failed> {
    let store = node.store(merchant);
    let refunds = refunds::list(store, merchant, &stored.identifier).await?;
    let claims = unit_claims::list(store, merchant, &stored.identifier).await?;
    let filter = Filter { order: Some(stored.identifier.clone()), ..Filter::default() };
    let returns = rma_pages::list(store, merchant, &filter, None, MOST_LISTED).await?.returns;
    let content = read_stored(&stored.snapshot).map(|order| content(&order, &claims, &refunds));
    Ok(Order {
        identifier: stored.identifier,
        revision: stored.revision,
        received_at: stored.received_at,
        warnings: stored.warnings.as_deref().map(Warning::read_stored).unwrap_or_default(),
        content,
        refunds,
        returns,
    })
}

fn content(order: &OrderIn<'_>, claims: &[Claim], refunds: &[Recorded]) -> Content {
    let (sale, facts) = (order.sale(), order.facts());
    let Amount(total) = order.total_amount_cents;
    Content {
        status: order.status.0,
        currency: order.currency.0.clone(),
        placed_at: order.created_at.0,
        updated_at: order.updated_at.0,
        lines: sale.lines.iter().map(|line| line_of(line, order, claims, refunds)).collect(),
        sums: Sums {
            product: facts.product.unwrap_or_else(|| sum(sale.lines.iter().filter_map(|line| line.product))),
            discount: facts.discount,
            tax: facts.tax.unwrap_or_else(|| sum(sale.lines.iter().map(|line| line.tax))),
            shipping: facts.shipping,
            shipping_tax: facts.shipping_tax,
        },
        total,
        original: order.original_order().map(ToOwned::to_owned),
    }
}

/// The sum of some amounts.
fn sum(amounts: impl Iterator<Item = Cents>) -> Cents {
    amounts.fold(Cents::default(), Cents::plus)
}

fn line_of(line: &SoldLine, order: &OrderIn<'_>, claims: &[Claim], refunds: &[Recorded]) -> Line {
    let sent = order.items.0.iter().find(|sent| sent.identifier.0 == line.identifier.as_str());
    let covered = refunds.iter().flat_map(|refund| &refund.refund.lines).filter(|covered| covered.order_line == line.identifier);
    Line {
        identifier: line.identifier.clone(),
        sku: line.sku.clone(),
        title: line.title.clone().unwrap_or_else(|| line.sku.clone()),
        unit_price: line.unit_price,
        ordered: line.quantity,
        shipped: line.shipped,
        cancelled: line.cancelled,
        returned: claims.iter().filter(|claim| claim.line == line.identifier).count(),
        refunded: covered.map(|covered| u64::from(covered.quantity)).sum(),
        tracking_number: sent.and_then(|sent| sent.tracking_number.as_ref()).map(|number| number.0.to_string()),
    }
}
