//! Scanned units: their identification, their stored receipt and the message to the merchant.

use domain::warehouse::inbound::matching::Scan;
use store::warehouse::inbound_asns::{Line, StoredAsn};
use store::warehouse::receipts::{Placed, Receipt};
use uuid::Uuid;
use wire::warehouse::inventory_receipt::{From, InventoryReceipt, Reference, To};
use wire::warehouse::receiving::ReceivedUnitIn;

/// The identifiers by which a scanned unit is matched with an ASN line.
pub(crate) fn scan<'a>(unit: &'a ReceivedUnitIn<'_>) -> Scan<'a> {
    Scan {
        unit: &unit.unit_identifier.0,
        client_unit: unit.client_unit_identifier.as_ref().map(|text| &*text.0),
        line: unit.line_identifier.as_ref().map(|text| &*text.0),
        sku: unit.sku.as_ref().map(|text| &*text.0),
        carton: unit.carton_identifier.as_ref().map(|text| &*text.0),
    }
}

/// The receipt of a unit as it was scanned.
fn as_scanned<'a>(unit: &'a ReceivedUnitIn<'_>, line: &'a str) -> Receipt<'a> {
    let scan = scan(unit);
    Receipt {
        unit: scan.unit,
        asn: None,
        rma: None,
        line,
        warehouse: &unit.warehouse_identifier.0,
        client_unit: scan.client_unit,
        sku: scan.sku,
        upc: unit.upc.as_ref().map(|text| &*text.0),
        condition: unit.condition.0,
        channel: unit.channel.as_ref().map(|text| &*text.0),
        serial_number: unit.serial_number.as_ref().map(|text| &*text.0),
        asin: unit.asin.as_ref().map(|text| &*text.0),
        return_reason: unit.return_reason.as_ref().map(|text| &*text.0),
        reject_reason: unit.reject_reason.as_ref().map(|text| &*text.0),
        user: unit.user_login.as_ref().map(|text| &*text.0),
        tracking_number: unit.tracking_number.as_ref().map(|text| &*text.0),
        location: unit.location_identifier.as_ref().map(|text| &*text.0),
    }
}

/// The receipt of a unit against an ASN: every field as scanned, or else as announced.
pub(crate) fn receipt<'a>(unit: &'a ReceivedUnitIn<'_>, kept: &'a StoredAsn, placed: &'a Placed) -> Receipt<'a> {
    let line = &placed.line;
    let scanned = as_scanned(unit, &line.identifier);
    Receipt {
        asn: Some(placed.asn),
        client_unit: scanned.client_unit.or(line.client_unit.as_deref()),
        sku: scanned.sku.or(line.sku.as_deref()),
        upc: scanned.upc.or(line.upc.as_deref()),
        channel: scanned.channel.or(kept.asn.channel.as_deref()),
        serial_number: scanned.serial_number.or(line.serial_number.as_deref()),
        asin: scanned.asin.or(line.asin.as_deref()),
        return_reason: scanned.return_reason.or(line.return_reason.as_deref()),
        tracking_number: scanned.tracking_number.or(kept.asn.tracking_number.as_deref()),
        ..scanned
    }
}

/// The receipt of a unit for its return, without an ASN.
pub(crate) fn receipt_of_return<'a>(unit: &'a ReceivedUnitIn<'_>, rma: Uuid, line: &'a str) -> Receipt<'a> {
    Receipt { rma: Some(rma), ..as_scanned(unit, line) }
}

/// The Inventory Receipt message of a unit.
pub(crate) fn message<'a>(receipt: &Receipt<'a>, kept: &'a StoredAsn, line: &'a Line) -> InventoryReceipt<'a> {
    let (asn, reference) = (&kept.asn, line.reference.as_ref());
    InventoryReceipt {
        program_identifier: line.program.as_deref().or(asn.program.as_deref()),
        asn_number: &asn.number,
        shipment_identifier: &asn.shipment,
        from: From { identifier: &asn.from.identifier, r#type: &asn.from.kind },
        to: To { identifier: receipt.warehouse, r#type: "warehouse", original_identifier: &asn.to.identifier },
        carton_identifier: line.carton_identifier.as_deref(),
        reference: Reference {
            r#type: reference.map(|reference| reference.kind.as_str()),
            identifier: reference.map(|reference| reference.identifier.as_str()),
            alternate_identifier: reference.and_then(|reference| reference.alternate.as_deref()),
        },
        line_identifier: &line.identifier,
        reference_line_identifier: line.reference_line.as_deref(),
        unit_identifier: line.unit.as_deref().or(receipt.client_unit).unwrap_or(receipt.unit),
        sku: receipt.sku,
        upc: receipt.upc,
        serial_number: receipt.serial_number,
        initial_condition: receipt.condition.as_str(),
        initial_channel: receipt.channel,
        return_reason: receipt.return_reason,
        user_login: receipt.user,
        merchant: line.merchant.as_deref(),
        concept: line.concept.as_deref(),
        asin: receipt.asin,
        tracking_number: receipt.tracking_number,
        location_identifier: receipt.location,
        client_unit_identifier: receipt.client_unit,
        reject_reason: receipt.reject_reason,
    }
}
