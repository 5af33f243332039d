//! Views of drop-ship orders: the messages to merchants' systems, and the API's answers.

use domain::messages::message::Interface;
use domain::warehouse::drop_ship::{Event, Item};
use store::Failed;
use store::warehouse::drop_ship_orders::{DropShipOrder, Listed};
use store::warehouse::drop_shipments::DropShipment as KeptShipment;
use uuid::Uuid;
use wire::time;
use wire::warehouse::drop_ship::{Address, Content, DropShipOrderListed, DropShipOrderOut, DropShipUnits, ItemContent, ShipmentContent};
use wire::warehouse::drop_shipment::{
    DropShipment, DropShipmentAddress, DropShipmentItem, DropShipmentOrder, DropShipmentOrderItem, DropShipmentPart, DropShipmentPartItem,
};

/// The interface of the message for an event.
pub(crate) const fn interface(event: Event) -> Interface {
    match event {
        Event::Confirmed => Interface::DropShipmentConfirmation,
        Event::Cancelled | Event::Rejected => Interface::DropShipmentCancellation,
        Event::PartiallyCancelled => Interface::DropShipmentPartialCancellation,
    }
}

/// Reads the stored content of an order, as the merchant sent it.
pub(crate) fn content(kept: &DropShipOrder) -> Result<Content, Failed> {
    serde_json::from_str(&kept.content).map_err(|_| Failed::Internal("a stored drop-ship order cannot be read"))
}

/// Reads the stored content of a shipment, as the warehouse reported it.
pub(crate) fn shipment_content(kept: &KeptShipment) -> Result<ShipmentContent, Failed> {
    serde_json::from_str(&kept.content).map_err(|_| Failed::Internal("a stored shipment cannot be read"))
}

/// The items of an order with their content and their ids.
fn items<'a>(kept: &'a DropShipOrder, content: &'a Content) -> impl Iterator<Item = (&'a Item, &'a ItemContent, Uuid)> {
    let items = kept.order.items.iter().zip(&content.order_items).zip(&kept.item_ids);
    items.map(|((item, content), id)| (item, content, *id))
}

/// The order in a cancellation.
pub(crate) fn order<'a>(kept: &'a DropShipOrder, content: &'a Content) -> DropShipmentOrder<'a> {
    let billing = content.billing_address.as_ref();
    DropShipmentOrder {
        id: kept.id.to_string(),
        client_identifier: &kept.client_identifier,
        billing_address: billing.map(|billing| address(kept, kept.billing_address_id, billing)),
        shipping_address: address(kept, kept.shipping_address_id, &content.shipping_address),
        brand: content.brand.as_deref(),
        shipping_method: content.shipping_method.as_deref(),
        status: kept.order.status().as_str(),
        price_cents: content.price_cents,
        tax_cents: content.tax_cents,
        processing_fee_cents: content.processing_fee_cents,
        shipping_cost_cents: content.shipping_cost_cents,
        shipping_tax_cents: content.shipping_tax_cents,
        comments: kept.comments.as_deref().or(content.comments.as_deref()),
        expected_delivery_date: content.expected_delivery_date.as_deref(),
        signature_required: content.signature_required,
        packing_slip_identifier: content.packing_slip_identifier.as_deref(),
        reject_reason: kept.reject_reason.as_deref(),
        order_items: items(kept, content).map(|(item, content, id)| order_item(kept, item, content, id)).collect(),
        created_at: time::write(kept.created_at),
        updated_at: time::write(kept.updated_at),
    }
}

fn address<'a>(kept: &DropShipOrder, id: Uuid, address: &'a Address) -> DropShipmentAddress<'a> {
    DropShipmentAddress {
        id: id.to_string(),
        name: &address.name,
        company: address.company.as_deref(),
        telephone_number: address.telephone_number.as_deref(),
        street: &address.street,
        street2: address.street2.as_deref(),
        city: &address.city,
        state: address.state.as_deref(),
        zip_code: address.zip_code.as_deref(),
        country: &address.country,
        created_at: time::write(kept.created_at),
        // An address never changes.
        updated_at: time::write(kept.created_at),
    }
}

fn order_item<'a>(kept: &DropShipOrder, item: &Item, content: &'a ItemContent, id: Uuid) -> DropShipmentOrderItem<'a> {
    DropShipmentOrderItem {
        id: id.to_string(),
        client_identifier: &content.client_identifier,
        sku: &content.sku,
        brand: content.brand.as_deref(),
        condition: content.condition.as_deref(),
        quantity: item.ordered,
        price_cents: content.price_cents,
        tax_cents: content.tax_cents,
        shipping_cost_cents: content.shipping_cost_cents,
        shipping_tax_cents: content.shipping_tax_cents,
        status: kept.order.item_status(item).as_str(),
        comments: content.comments.as_deref(),
    }
}

/// The order in a partial cancellation.
pub(crate) fn part<'a>(kept: &'a DropShipOrder, content: &'a Content) -> DropShipmentPart<'a> {
    DropShipmentPart {
        id: kept.id.to_string(),
        client_identifier: &kept.client_identifier,
        status: kept.order.status().as_str(),
        order_items: items(kept, content).map(|(item, content, id)| part_item(kept, item, content, id)).collect(),
    }
}

fn part_item<'a>(kept: &DropShipOrder, item: &Item, content: &'a ItemContent, id: Uuid) -> DropShipmentPartItem<'a> {
    DropShipmentPartItem {
        id: id.to_string(),
        client_identifier: &content.client_identifier,
        status: kept.order.item_status(item).as_str(),
        quantity: item.ordered,
        cancelled_quantity: item.cancelled,
    }
}

/// A shipment in its confirmation.
pub(crate) fn shipment<'a>(content: &'a Content, kept: &KeptShipment, reported: &'a ShipmentContent) -> DropShipment<'a> {
    let at = time::write(kept.created_at);
    let items = kept.items.iter().zip(&reported.shipment_items).map(|(item, reported)| DropShipmentItem {
        id: item.id.to_string(),
        client_identifier: &reported.client_identifier,
        quantity: item.quantity,
        created_at: at.clone(),
        updated_at: at.clone(),
    });
    DropShipment {
        id: kept.id.to_string(),
        client_identifier: &content.client_identifier,
        channel: content.channel.as_deref(),
        carrier: reported.carrier.as_deref(),
        shipping_method: reported.shipping_method.as_deref().or(content.shipping_method.as_deref()),
        tracking_number: reported.tracking_number.as_deref(),
        billed_weight: reported.billed_weight,
        shipping_cost_cents: reported.shipping_cost_cents,
        packing_slip_identifier: reported.packing_slip_identifier.as_deref().or(content.packing_slip_identifier.as_deref()),
        shipment_items: items.collect(),
        created_at: at.clone(),
        updated_at: at,
    }
}

/// A drop-ship order with all its details, as JSON.
pub(crate) fn shown(kept: &DropShipOrder, shipments: &[KeptShipment]) -> Result<String, Failed> {
    let content = content(kept)?;
    let reported = shipments.iter().map(shipment_content).collect::<Result<Vec<_>, _>>()?;
    let shown = DropShipOrderOut {
        order: order(kept, &content),
        channel: content.channel.as_deref(),
        sequence: kept.sequence,
        units: items(kept, &content).map(|(item, content, _)| units(item, content)).collect(),
        shipments: shipments.iter().zip(&reported).map(|(kept, reported)| shipment(&content, kept, reported)).collect(),
    };
    written(&shown)
}

fn units<'a>(item: &Item, content: &'a ItemContent) -> DropShipUnits<'a> {
    DropShipUnits {
        client_identifier: &content.client_identifier,
        quantity: item.ordered,
        shipped_quantity: item.shipped,
        cancelled_quantity: item.cancelled,
        open_quantity: item.open(),
    }
}

/// Serialises a message or an answer.
pub(crate) fn written(content: &impl serde::Serialize) -> Result<String, Failed> {
    serde_json::to_string(content).map_err(|_| Failed::Internal("a drop-ship order cannot be serialised"))
}

/// A drop-ship order in a list.
pub(crate) fn listed(listed: Listed) -> DropShipOrderListed {
    DropShipOrderListed {
        id: listed.id.to_string(),
        client_identifier: listed.client_identifier,
        status: listed.status.as_str(),
        created_at: time::write(listed.created_at),
        updated_at: time::write(listed.updated_at),
    }
}
