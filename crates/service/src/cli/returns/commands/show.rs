//! A return as support sees it: its state and its units', how the amounts add up, and the messages to the merchant.

use domain::id::MerchantId;
use serde::Serialize;
use store::messages::message_pages::{self, Filter, MOST_LISTED};
use wire::returns::api::{ReturnItemOut, ReturnOut, UnitMoneyOut};
use wire::time;

use crate::app::App;
use crate::cli::output::{self, Format};

/// A message about the return.
#[derive(Serialize)]
pub(super) struct SentMessage {
    created_at: String,
    event: String,
    sequence: i64,
    state: &'static str,
    message_id: String,
}

#[derive(Serialize)]
struct ReturnAndMessages {
    #[serde(flatten)]
    shown: ReturnOut,
    messages: Vec<SentMessage>,
}

/// The fields printed above the units.
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
    label: Option<&'a str>,
    label_reason: Option<&'a str>,
    label_code: bool,
    exchange: Option<&'a str>,
    exchange_order_identifier: Option<&'a str>,
    can_cancel: bool,
}

/// The messages about a return that have not been deleted yet, oldest first.
pub(super) async fn messages(app: &App, merchant: MerchantId, rma_identifier: &str) -> Result<Vec<SentMessage>, store::Failed> {
    let filter = Filter { subject: Some(rma_identifier.to_owned()), ..Filter::default() };
    let (mut sent, mut before) = (Vec::new(), None);
    loop {
        let page = message_pages::list(app.store(merchant), merchant, &filter, before, MOST_LISTED).await?;
        sent.extend(page.messages.into_iter().map(|message| SentMessage {
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
    sent.sort_by_key(|sent: &SentMessage| sent.sequence);
    Ok(sent)
}

pub(super) fn show(shown: ReturnOut, messages: Vec<SentMessage>, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::one(format, &ReturnAndMessages { shown, messages });
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
            label: shown.label.as_ref().map(|label| label.state.as_str()),
            label_reason: shown.label.as_ref().and_then(|label| label.reason.as_deref()),
            label_code: shown.label.as_ref().is_some_and(|label| label.code),
            exchange: shown.exchange.as_ref().map(|exchange| exchange.state.as_str()),
            exchange_order_identifier: shown.exchange.as_ref().and_then(|exchange| exchange.exchange_order_identifier.as_deref()),
            can_cancel: shown.can_cancel,
        },
    )?;
    output::line("");
    units(&shown.items, format)?;
    output::sentence("\nAmounts in cents: product − discount + tax = estimated; the shopper gets the estimated amount less the fee.");
    money(&shown.items, format)?;
    output::line("");
    let headers = ["CREATED", "EVENT", "SEQUENCE", "STATE", "MESSAGE"];
    output::list(format, &messages, "There are no messages about this return any more: messages are kept for 30 days.", &headers, |sent| {
        let SentMessage { created_at, event, sequence, state, message_id } = sent;
        vec![created_at.clone(), event.clone(), sequence.to_string(), (*state).to_owned(), message_id.clone()]
    })
}

fn units(items: &[ReturnItemOut], format: Format) -> anyhow::Result<()> {
    let headers = ["LINE", "UNIT", "SKU", "REASON", "TYPE", "TRACKING NUMBER", "PARCEL", "RECEIVING", "REFUND"];
    output::list(format, items, "", &headers, |item| {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            item.order_line_item_identifier.clone(),
            item.unit.to_string(),
            item.sku.clone(),
            item.return_reason.clone(),
            item.refund_type.clone(),
            or_dash(&item.tracking_number),
            or_dash(&item.package_tracking_status),
            or_dash(&item.receiving_status),
            or_dash(&item.refund_identifier),
        ]
    })
}

/// The parts of each unit's amount, and their sums.
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
