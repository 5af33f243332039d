//! A return as support reads it: where it and each unit stand, how the amounts are made, and what the merchant was told.

use domain::id::MerchantId;
use serde::Serialize;
use store::message_pages::{self, Filter, MOST_LISTED};
use wire::returns::{ReturnItemOut, ReturnOut, UnitMoneyOut};
use wire::time;

use crate::app::App;
use crate::cli::output::{self, Format};

/// A message on the return.
#[derive(Serialize)]
pub(super) struct Told {
    created_at: String,
    event: String,
    sequence: i64,
    state: &'static str,
    message_id: String,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    shown: ReturnOut,
    messages: Vec<Told>,
}

/// What people see above the units.
#[derive(Serialize)]
struct Head<'a> {
    rma_identifier: &'a str,
    order_identifier: &'a str,
    status: &'a str,
    cancel_reason: Option<&'a str>,
    return_method: &'a str,
    return_shipping_cost_cents: i64,
    gift_refund_only: bool,
    created_at: &'a str,
    updated_at: &'a str,
    expires_at: Option<&'a str>,
    exchange: Option<&'a str>,
    exchange_order_identifier: Option<&'a str>,
    can_cancel: bool,
}

/// The messages on a return that are still kept, oldest first.
pub(super) async fn messages(app: &App, merchant: MerchantId, rma_identifier: &str) -> Result<Vec<Told>, store::Failed> {
    let filter = Filter { subject: Some(rma_identifier.to_owned()), ..Filter::default() };
    let (mut told, mut before) = (Vec::new(), None);
    loop {
        let page = message_pages::list(app.store(merchant), merchant, &filter, before, MOST_LISTED).await?;
        told.extend(page.messages.into_iter().map(|message| Told {
            created_at: time::write(message.written_at()),
            sequence: message.sequence,
            state: message.state.as_str(),
            message_id: message.id.to_string(),
            event: message.event,
        }));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    told.sort_by_key(|told: &Told| told.sequence);
    Ok(told)
}

pub(super) fn show(shown: ReturnOut, messages: Vec<Told>, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::one(format, &Shown { shown, messages });
    }
    output::one(
        format,
        &Head {
            rma_identifier: &shown.rma_identifier,
            order_identifier: &shown.order_identifier,
            status: &shown.status,
            cancel_reason: shown.cancel_reason.as_deref(),
            return_method: &shown.return_method,
            return_shipping_cost_cents: shown.return_shipping_cost_cents,
            gift_refund_only: shown.gift_refund_only,
            created_at: &shown.created_at,
            updated_at: &shown.updated_at,
            expires_at: shown.expires_at.as_deref(),
            exchange: shown.exchange.as_ref().map(|exchange| exchange.state.as_str()),
            exchange_order_identifier: shown.exchange.as_ref().and_then(|exchange| exchange.exchange_order_identifier.as_deref()),
            can_cancel: shown.can_cancel,
        },
    )?;
    output::line("");
    units(&shown.items, format)?;
    output::line("\nIn cents: product − discount + tax = estimated; what the shopper gets is that less the fee.");
    money(&shown.items, format)?;
    output::line("");
    let headers = ["TOLD", "EVENT", "SEQUENCE", "STATE", "MESSAGE"];
    output::list(format, &messages, "No message on it is kept any more; they are for 30 days.", &headers, |told| {
        let Told { created_at, event, sequence, state, message_id } = told;
        vec![created_at.clone(), event.clone(), sequence.to_string(), (*state).to_owned(), message_id.clone()]
    })
}

fn units(items: &[ReturnItemOut], format: Format) -> anyhow::Result<()> {
    let headers = ["LINE", "UNIT", "SKU", "REASON", "TYPE", "TRACKING NUMBER", "PARCEL", "RECEIVING", "REFUND"];
    output::list(format, items, "", &headers, |item| {
        let said = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            item.order_line_item_identifier.clone(),
            item.unit.to_string(),
            item.sku.clone(),
            item.return_reason.clone(),
            item.refund_type.clone(),
            said(&item.tracking_number),
            said(&item.package_tracking_status),
            said(&item.receiving_status),
            said(&item.refund_identifier),
        ]
    })
}

/// How each unit's amount is made, and what they come to.
fn money(items: &[ReturnItemOut], format: Format) -> anyhow::Result<()> {
    let amounts = |money: &UnitMoneyOut| {
        [
            money.product_cents,
            money.discount_cents,
            money.tax_cents,
            money.estimated_refund_amount_cents,
            money.fee_cents,
            money.service_refund_amount_cents,
            money.shopper_refund_amount_cents,
        ]
    };
    let mut rows: Vec<(String, String, [i64; 7])> =
        items.iter().map(|item| (item.order_line_item_identifier.clone(), item.unit.to_string(), amounts(&item.money))).collect();
    let sum = rows.iter().fold([0_i64; 7], |sum, (.., amounts)| {
        let mut amounts = amounts.iter();
        sum.map(|sum| sum.saturating_add(amounts.next().copied().unwrap_or_default()))
    });
    rows.push(("all".to_owned(), String::new(), sum));
    let headers = ["LINE", "UNIT", "PRODUCT", "DISCOUNT", "TAX", "ESTIMATED", "FEE", "SERVICE", "SHOPPER"];
    output::list(format, &rows, "", &headers, |(line, unit, amounts)| {
        [line.clone(), unit.clone()].into_iter().chain(amounts.iter().map(ToString::to_string)).collect()
    })
}
