//! Views of returns: the RMA message to merchants' systems, and the API's answers.

use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::rma::choice::Standing;
use domain::returns::rma::eligibility::{self, LineEligibility, Obstacle};
use domain::returns::rma::identifier::Identifier;
use domain::returns::rma::policy::EXPIRES_AFTER;
use domain::returns::rma::sale::SoldLine;
use domain::returns::rma::{ExchangeState, Receiving, RefundType, Step, TrackingNumber, Unit};
use store::Failed;
use store::returns::exchange_orders::{self, Exchange, Placed};
use store::returns::label_orders::{self, Progress};
use store::returns::rma_pages::Listed;
use store::returns::rmas::{Item, Return};
use wire::returns::api::{
    ExchangeOut, GiftCardOut, HeldOut, LabelOut, MethodOut, ReturnItemOut, ReturnListed, ReturnOut, ReturnableLine, ReturnableOut,
    UnitMoneyOut, explain,
};
use wire::returns::rma::{RefundFinancials, RmaItem, RmaMessage};
use wire::time;

use super::returnable::Exchangeable;
use crate::app::App;

/// Normalises an RMA identifier as it was typed. A text that cannot be one is returned as it is, and finds nothing.
pub(crate) fn identifier(typed: &str) -> String {
    typed.parse::<Identifier>().map_or_else(|_| typed.to_owned(), |identifier| identifier.to_string())
}

/// The message with the current state of a return.
pub(crate) fn message(kept: &Return) -> RmaMessage<'_> {
    RmaMessage {
        rma_identifier: &kept.identifier,
        status: kept.rma.status.as_str(),
        created_at: time::write(kept.created_at),
        updated_at: time::write(kept.updated_at),
        items: kept.units().map(|(unit, item)| message_item(kept, unit, item)).collect(),
        return_method: kept.rma.method.as_str(),
        return_shipping_cost_cents: kept.shipping_cost.get(),
        gift_refund_only: kept.gift,
        giftee_email: kept.giftee_email.as_deref(),
    }
}

fn message_item<'a>(kept: &'a Return, unit: &'a Unit, item: &'a Item) -> RmaItem<'a> {
    RmaItem {
        order_line_item_identifier: &unit.line,
        order_identifier: &kept.order,
        exchange_order_identifier: item.exchange_order.as_deref(),
        original_order_identifier: kept.original_order.as_deref(),
        return_reason: &item.reason,
        is_exchange: unit.refund_type != RefundType::Refund || kept.original_order.is_some(),
        sku: &item.sku,
        tracking_number: unit.parcel.number().map(TrackingNumber::as_str),
        package_tracking_status: unit.parcel.as_str(),
        receiving_status: unit.receiving.map(Receiving::as_str),
        refund_financials: RefundFinancials {
            estimated_refund_amount_cents: item.financials.estimated.get(),
            service_refund_amount_cents: item.financials.service.get(),
            shopper_refund_amount_cents: item.financials.shopper.get(),
        },
        refund_type: unit.refund_type.as_str(),
    }
}

/// A return in a list.
pub(crate) fn listed(listed: Listed) -> ReturnListed {
    ReturnListed {
        rma_identifier: listed.identifier,
        order_identifier: listed.order,
        status: listed.status.as_str(),
        return_method: listed.method.as_str(),
        units: listed.units,
        exchange: listed.exchange.map(ExchangeState::as_str),
        created_at: time::write(listed.created_at),
        updated_at: time::write(listed.updated_at),
    }
}

/// A return with all its details and its exchange.
pub(crate) fn shown(kept: &Return, exchange: Option<&Exchange>) -> ReturnOut {
    ReturnOut {
        rma_identifier: kept.identifier.clone(),
        order_identifier: kept.order.clone(),
        status: kept.rma.status.to_string(),
        cancel_reason: kept.cancel_reason.clone(),
        return_method: kept.rma.method.to_string(),
        return_shipping_cost_cents: kept.shipping_cost.get(),
        gift_refund_only: kept.gift,
        sequence: kept.sequence,
        created_at: time::write(kept.created_at),
        updated_at: time::write(kept.updated_at),
        expires_at: kept.wakes_at.map(|_| time::write(kept.created_at + EXPIRES_AFTER)),
        can_cancel: kept.rma.clone().cancel().is_ok_and(|step| step != Step::Unchanged),
        exchange: exchange.map(shown_exchange),
        label: None,
        items: kept.units().map(|(unit, item)| shown_item(unit, item)).collect(),
    }
}

/// Looks up the exchange and the label of the return `kept`, and shows them with it.
pub(crate) async fn look(app: &App, merchant: MerchantId, kept: &Return) -> Result<ReturnOut, Failed> {
    let exchange = exchange_orders::find(app.store(merchant), merchant, &kept.order).await?;
    let label = label_orders::look(app.store(merchant), merchant, kept.id).await?;
    Ok(ReturnOut { label: label.map(shown_label), ..shown(kept, exchange.filter(|exchange| exchange.rma == kept.id).as_ref()) })
}

/// The label that the service buys for a return.
pub(crate) fn shown_label(Progress { state, reason, has_code }: Progress) -> LabelOut {
    LabelOut { state: state.to_string(), reason, code: has_code }
}

fn shown_exchange(exchange: &Exchange) -> ExchangeOut {
    let placed = exchange.placed.as_ref();
    let cents = |of: fn(&Placed) -> Option<Cents>| placed.and_then(of).map(Cents::get);
    ExchangeOut {
        state: exchange.state.to_string(),
        message_id: exchange.message.to_string(),
        exchange_order_identifier: placed.and_then(|placed| placed.order_identifier.clone()),
        gift_card_amount_cents: exchange.gift_card.map(|(value, _)| value.get()),
        bonus_credit_amount_cents: exchange.gift_card.map(|(_, bonus)| bonus.get()),
        total_amount_cents: cents(|placed| placed.total),
        product_amount_cents: cents(|placed| placed.product),
        tax_amount_cents: cents(|placed| placed.tax),
    }
}

fn shown_item(unit: &Unit, item: &Item) -> ReturnItemOut {
    ReturnItemOut {
        order_line_item_identifier: unit.line.clone(),
        unit: unit.number,
        sku: item.sku.clone(),
        title: item.title.clone(),
        return_reason: item.reason.clone(),
        refund_type: unit.refund_type.to_string(),
        tracking_number: unit.parcel.number().map(ToString::to_string),
        package_tracking_status: unit.parcel.as_str().map(ToOwned::to_owned),
        receiving_status: unit.receiving.map(|receiving| receiving.to_string()),
        exchange_sku: item.exchange_sku.clone().filter(|_| unit.refund_type == RefundType::EvenExchange),
        exchange_order_identifier: item.exchange_order.clone(),
        refund_identifier: item.refund.clone(),
        refund_in_question: unit.in_question,
        money: UnitMoneyOut {
            product_cents: item.money.product.get(),
            discount_cents: item.money.discount.get(),
            tax_cents: item.money.tax.get(),
            estimated_refund_amount_cents: item.financials.estimated.get(),
            fee_cents: item.financials.fee.get(),
            service_refund_amount_cents: item.financials.service.get(),
            shopper_refund_amount_cents: item.financials.shopper.get(),
        },
    }
}

/// The lines of an order with the units that can be returned.
pub(crate) fn returnable(Exchangeable { sale, policy, standing }: &Exchangeable, lines: &[LineEligibility]) -> ReturnableOut {
    let gift = eligibility::is_gift(sale, policy);
    let offered = *standing == Standing::Offered;
    let lines: Vec<(&SoldLine, &LineEligibility)> = lines.iter().filter_map(|line| Some((sale.lines.get(line.line)?, line))).collect();
    let all: Vec<(&SoldLine, u32)> = lines.iter().map(|(sold, line)| (*sold, line.units)).filter(|(_, units)| *units > 0).collect();
    ReturnableOut {
        order_identifier: sale.identifier.clone(),
        gift,
        reasons: policy.reasons.clone(),
        exchange_reasons: if offered { policy.exchange_reasons.clone() } else { Vec::new() },
        gift_card: policy
            .gift_card
            .as_ref()
            .filter(|_| offered && !gift)
            .map(|terms| GiftCardOut { bonus_credit_amount_cents: terms.bonus.get() }),
        return_methods: eligibility::offers(policy, &all)
            .into_iter()
            .map(|offer| MethodOut {
                return_method: offer.method.as_str(),
                return_shipping_cost_cents: offer.fee.get(),
                deducted: offer.deducted,
            })
            .collect(),
        items: lines.into_iter().map(|(sold, line)| returnable_line(sold, line, offered)).collect(),
    }
}

fn returnable_line(sold: &SoldLine, line: &LineEligibility, offered: bool) -> ReturnableLine {
    let held =
        |(obstacle, quantity): &(Obstacle, u32)| HeldOut { quantity: *quantity, reason: obstacle.as_str(), message: explain(*obstacle) };
    ReturnableLine {
        order_line_item_identifier: sold.identifier.clone(),
        sku: sold.sku.clone(),
        title: sold.title.clone(),
        quantity: sold.quantity,
        returnable: line.units,
        returnable_until: line.until.map(time::write),
        exchangeable: offered && line.units > 0 && sold.variant_identifier.is_some(),
        held: line.held.iter().map(held).collect(),
    }
}
