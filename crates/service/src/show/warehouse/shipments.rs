//! Views of shipments: the ASN message to merchants' systems, and the API's answers.

use chrono::{DateTime, Utc};
use domain::warehouse::shipment::{CarrierPayment, Kind, State};
use store::warehouse::reference::Reference;
use store::warehouse::shipment_units::{Carton, Lines, Unit};
use store::warehouse::shipments::Shipment;
use wire::time;
use wire::warehouse::outbound_asn::{AsnAddress, AsnCarton, AsnDetail, AsnFrom, AsnReference, AsnTo, DETAILS_TYPE, OutboundAsnMessage};
use wire::warehouse::outbound_shipment::ShipmentOut;

/// The message for a shipment, or for the part of it that has these lines and is sent as `asn_number`.
pub(crate) fn message<'a>(shipment: &'a Shipment, asn_number: &'a str, lines: &'a Lines, now: DateTime<Utc>) -> OutboundAsnMessage<'a> {
    // A stock transfer moves without a carrier, by the merchant's own means.
    let by_carrier = match shipment.kind {
        Kind::StockTransfer => None,
        Kind::Freight | Kind::Vendor => Some(shipment),
    };
    let to = &shipment.to_address;
    OutboundAsnMessage {
        from: AsnFrom { identifier: &shipment.from_identifier, kind: shipment.from_type.as_str() },
        to: AsnTo {
            identifier: &shipment.to_identifier,
            kind: shipment.to_type.as_str(),
            address: AsnAddress {
                name: &to.name,
                company: to.company.as_deref(),
                street: &to.street,
                street2: to.street2.as_deref(),
                city: &to.city,
                state: &to.state,
                zip: &to.zip,
            },
        },
        asn_number,
        channel: &shipment.channel,
        shipment_identifier: &shipment.shipment_identifier,
        tracking_number: by_carrier.and_then(|shipment| shipment.tracking_numbers.first()).map(String::as_str),
        carrier: by_carrier.and_then(|shipment| shipment.carrier.as_deref()),
        carrier_payment_type: by_carrier.and_then(|shipment| shipment.carrier_payment).map(CarrierPayment::as_str),
        ship_date: time::write(shipment.ship_date),
        status: shipment.state.status().as_str(),
        details_type: DETAILS_TYPE,
        cartons: cartons(lines),
        bol_number: shipment.bol_number.as_deref(),
        timestamp: time::write(now),
    }
}

/// Groups the lines by carton. They come in the order of the cartons' numbers.
fn cartons(lines: &Lines) -> Vec<AsnCarton<'_>> {
    let cartons = lines.units.chunk_by(|one, next| one.carton == next.carton);
    cartons
        .map(|units| {
            let number = units.first().map(|unit| unit.carton);
            let at = lines.cartons.binary_search_by_key(&number, |carton| Some(carton.number));
            let known = at.ok().and_then(|at| lines.cartons.get(at));
            carton(known, units)
        })
        .collect()
}

fn carton<'a>(known: Option<&'a Carton>, units: &'a [Unit]) -> AsnCarton<'a> {
    AsnCarton {
        details: units.iter().map(detail).collect(),
        identifier: known.and_then(|carton| carton.identifier.as_deref()),
        reference: known.and_then(|carton| carton.reference.as_ref()).or_else(|| received(units)).map(|reference| AsnReference {
            kind: reference.kind.as_str(),
            identifier: &reference.identifier,
            alternate_identifier: reference.alternate.as_deref(),
        }),
        sorting_template_name: known.and_then(|carton| carton.sorting_template.as_deref()),
    }
}

/// The reference of the units' receipts, if they have the same.
fn received(units: &[Unit]) -> Option<&Reference> {
    let (first, others) = units.split_first()?;
    first.reference.as_ref().filter(|reference| others.iter().all(|unit| unit.reference.as_ref() == Some(*reference)))
}

fn detail(unit: &Unit) -> AsnDetail<'_> {
    AsnDetail {
        line_identifier: &unit.line,
        program_identifier: &unit.program,
        unit_identifier: &unit.unit,
        client_unit_identifier: unit.client_unit.as_deref(),
        inbound_received_asn: unit.inbound_asn.as_deref(),
        sku: &unit.sku,
        upc: unit.upc.as_deref(),
        quantity: 1,
        vendor_identifier: unit.vendor.as_deref(),
        serial_number: unit.serial_number.as_deref(),
        condition: unit.condition.as_str(),
        eligibility_flags: unit.eligibility_flags.as_deref(),
        merchant: unit.merchant.as_deref(),
    }
}

/// A shipment with all its details.
pub(crate) fn shown(shipment: &Shipment) -> ShipmentOut {
    let fixed = shipment.state != State::Open;
    ShipmentOut {
        asn_number: shipment.number.to_string(),
        kind: shipment.kind.as_str(),
        status: shipment.state.status().as_str(),
        announced: shipment.sequence > 0,
        fixed,
        units: shipment.units,
        cartons: shipment.cartons,
        sent_as: shipment.number.sent(shipment.parts).collect(),
        sequence: shipment.sequence,
        from_identifier: shipment.from_identifier.clone(),
        from_type: shipment.from_type.as_str(),
        to_identifier: shipment.to_identifier.clone(),
        channel: shipment.channel.clone(),
        shipment_identifier: shipment.shipment_identifier.clone(),
        carrier: shipment.carrier.clone(),
        carrier_payment_type: shipment.carrier_payment.map(CarrierPayment::as_str),
        tracking_numbers: shipment.tracking_numbers.clone(),
        bol_number: shipment.bol_number.clone(),
        ship_date: time::write(shipment.ship_date),
        created_at: time::write(shipment.created_at),
        updated_at: time::write(shipment.updated_at),
    }
}
