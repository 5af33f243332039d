//! `backhaul orders show`: an order as its merchant last sent it, with its warnings, refunds and returns; without the shopper.

use anyhow::Context as _;
use clap::Args;
use domain::money::decimal;
use serde::Serialize;
use store::orders::refunds::Recorded;
use store::orders::snapshots;
use store::returns::rma_pages::Listed;
use wire::fault::Warning;
use wire::time;

use crate::app::App;
use crate::cli::context::OfMerchant;
use crate::cli::output::{self, Format};
use crate::show::orders::order::{self, Content, Line, Order};

#[derive(Args)]
pub(in crate::cli) struct Show {
    /// The order's identifier, as the merchant sent it.
    order: String,
    #[command(flatten)]
    merchant: OfMerchant,
}

#[derive(Serialize)]
struct OrderOut {
    merchant: String,
    identifier: String,
    revision: i64,
    received_at: String,
    /// `None` if the snapshot cannot be read.
    content: Option<ContentOut>,
    warnings: Vec<Warning>,
    refunds: Vec<RefundOut>,
    returns: Vec<ReturnOut>,
}

#[derive(Serialize)]
struct ContentOut {
    status: &'static str,
    placed_at: String,
    updated_at: String,
    original_order: Option<String>,
    currency: String,
    product_amount_cents: i64,
    discount_amount_cents: i64,
    tax_amount_cents: i64,
    shipping_amount_cents: i64,
    shipping_tax_amount_cents: i64,
    /// The sum of these parts.
    adds_up_to_cents: i64,
    total_amount_cents: i64,
    lines: Vec<LineOut>,
}

#[derive(Serialize)]
struct LineOut {
    identifier: String,
    sku: String,
    title: String,
    unit_price_amount_cents: i64,
    ordered: u32,
    shipped: u32,
    cancelled: u32,
    returned: usize,
    refunded: u64,
    tracking_number: Option<String>,
}

#[derive(Serialize)]
struct RefundOut {
    identifier: String,
    total_amount_cents: i64,
    refunded_at: String,
    units: u64,
    rma_identifier: Option<String>,
}

#[derive(Serialize)]
struct ReturnOut {
    rma_identifier: String,
    status: &'static str,
    units: i64,
    created_at: String,
    refund_due_at: Option<String>,
}

impl From<Line> for LineOut {
    fn from(line: Line) -> Self {
        Self {
            identifier: line.identifier,
            sku: line.sku,
            title: line.title,
            unit_price_amount_cents: line.unit_price.get(),
            ordered: line.ordered,
            shipped: line.shipped,
            cancelled: line.cancelled,
            returned: line.returned,
            refunded: line.refunded,
            tracking_number: line.tracking_number,
        }
    }
}

impl From<Content> for ContentOut {
    fn from(content: Content) -> Self {
        Self {
            status: content.status.as_str(),
            placed_at: time::write(content.placed_at),
            updated_at: time::write(content.updated_at),
            original_order: content.original,
            currency: content.currency,
            product_amount_cents: content.sums.product.get(),
            discount_amount_cents: content.sums.discount.get(),
            tax_amount_cents: content.sums.tax.get(),
            shipping_amount_cents: content.sums.shipping.get(),
            shipping_tax_amount_cents: content.sums.shipping_tax.get(),
            adds_up_to_cents: i64::try_from(content.sums.adds_up_to()).unwrap_or(i64::MAX),
            total_amount_cents: content.total.get(),
            lines: content.lines.into_iter().map(LineOut::from).collect(),
        }
    }
}

impl From<&Recorded> for RefundOut {
    fn from(recorded: &Recorded) -> Self {
        Self {
            identifier: recorded.identifier.clone(),
            total_amount_cents: recorded.refund.total.get(),
            refunded_at: time::write(recorded.refund.refunded_at),
            units: recorded.refund.lines.iter().map(|line| u64::from(line.quantity)).sum(),
            rma_identifier: recorded.refund.rma_identifier.clone(),
        }
    }
}

impl From<Listed> for ReturnOut {
    fn from(listed: Listed) -> Self {
        Self {
            rma_identifier: listed.identifier,
            status: listed.status.as_str(),
            units: listed.units,
            created_at: time::write(listed.created_at),
            refund_due_at: listed.refund_due_at.map(time::write),
        }
    }
}

pub(super) async fn run(app: &App, asked: &Show, format: Format) -> anyhow::Result<()> {
    let merchant = asked.merchant.find(app).await?;
    let stored = match asked.order.as_str() {
        // No identifier has this character, and the database takes none.
        order if order.contains('\0') => None,
        order => snapshots::find(app.store(merchant.id), merchant.id, order).await?,
    };
    let stored = stored.with_context(|| {
        format!("{} has no order {}; `backhaul orders find` looks for it at all merchants", merchant.handle, asked.order)
    })?;
    let Order { identifier, revision, received_at, warnings, content, refunds, returns } = order::show(app, merchant.id, stored).await?;
    let shown = OrderOut {
        merchant: merchant.handle,
        identifier,
        revision,
        received_at: time::write(received_at),
        content: content.map(ContentOut::from),
        warnings,
        refunds: refunds.iter().map(RefundOut::from).collect(),
        returns: returns.into_iter().map(ReturnOut::from).collect(),
    };
    if format == Format::Json { output::one(format, &shown) } else { tables(&shown) }
}

/// Shows the order for people.
fn tables(order: &OrderOut) -> anyhow::Result<()> {
    let mut facts = vec![("merchant", order.merchant.clone()), ("order", order.identifier.clone())];
    match &order.content {
        None => facts.push(("status", "the snapshot cannot be read".to_owned())),
        Some(content) => {
            let money = |cents: i64| format!("{} {}", decimal(cents), content.currency);
            facts.extend([
                ("status", content.status.to_owned()),
                ("placed_at", content.placed_at.clone()),
                ("updated_at", content.updated_at.clone()),
                ("original_order", content.original_order.clone().unwrap_or_else(|| "-".to_owned())),
                ("product", money(content.product_amount_cents)),
                ("discount", money(content.discount_amount_cents)),
                ("tax", money(content.tax_amount_cents)),
                ("shipping", money(content.shipping_amount_cents)),
                ("shipping_tax", money(content.shipping_tax_amount_cents)),
                ("adds_up_to", money(content.adds_up_to_cents)),
                ("total", money(content.total_amount_cents)),
            ]);
        }
    }
    facts.extend([("received_at", order.received_at.clone()), ("revision", order.revision.to_string())]);
    output::facts(&facts);
    let some = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    if let Some(content) = &order.content {
        output::line("\nLines");
        let headers = ["LINE", "SKU", "TITLE", "PRICE", "ORDERED", "SHIPPED", "CANCELLED", "RETURNED", "REFUNDED", "TRACKING"];
        output::list(Format::Table, &content.lines, "The order has no lines.", &headers, |line| {
            let counts = [line.ordered.to_string(), line.shipped.to_string(), line.cancelled.to_string(), line.returned.to_string()];
            let price = decimal(line.unit_price_amount_cents);
            let first = vec![line.identifier.clone(), line.sku.clone(), line.title.clone(), price];
            [first, counts.to_vec(), vec![line.refunded.to_string(), some(&line.tracking_number)]].concat()
        })?;
    }
    output::line("\nWarnings");
    output::list(Format::Table, &order.warnings, "None.", &["FIELD", "WARNING"], |warning| {
        vec![warning.field.clone(), warning.message.clone()]
    })?;
    output::line("\nRefunds");
    output::list(Format::Table, &order.refunds, "None.", &["REFUND", "TOTAL", "UNITS", "RETURN", "REFUNDED"], |refund| {
        let total = decimal(refund.total_amount_cents);
        vec![refund.identifier.clone(), total, refund.units.to_string(), some(&refund.rma_identifier), refund.refunded_at.clone()]
    })?;
    output::line("\nReturns");
    output::list(Format::Table, &order.returns, "None.", &["RETURN", "STATUS", "UNITS", "STARTED", "REFUND DUE"], |listed| {
        let due = some(&listed.refund_due_at);
        vec![listed.rma_identifier.clone(), listed.status.to_owned(), listed.units.to_string(), listed.created_at.clone(), due]
    })
}
