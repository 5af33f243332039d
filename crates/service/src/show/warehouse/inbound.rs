//! Conversions of inbound ASNs between the API, the messages and the store.

pub(crate) mod scanned;

use domain::warehouse::inbound::Target;
use sha2::{Digest as _, Sha256};
use store::warehouse::inbound_asn_pages::Listed;
use store::warehouse::inbound_asns::{Asn, Line, Place, StoredAsn};
use store::warehouse::receiving_exceptions::Listed as ListedException;
use store::warehouse::reference::Reference;
use wire::shape::Identifier;
use wire::time;
use wire::warehouse::inbound::{
    CartonIn, CartonOut, InboundAsnIn, InboundAsnListed, InboundAsnOut, LineIn, LineOut, PlaceIn, PlaceOut, ReferenceOut,
};
use wire::warehouse::receiving::{ExceptionOut, explain};

/// Copies an optional text.
fn owned(text: Option<&Identifier<'_>>) -> Option<String> {
    text.map(|text| text.0.to_string())
}

/// Converts an ASN from the API.
pub(crate) fn asn(read: &InboundAsnIn<'_>) -> Asn {
    let place = |place: &PlaceIn<'_>| Place { identifier: place.identifier.0.to_string(), kind: place.kind.0.to_string() };
    let lines = read.cartons.0.iter().enumerate().flat_map(|(at, carton)| carton.details.0.iter().map(move |read| line(at, carton, read)));
    Asn {
        number: read.asn_number.0.to_string(),
        shipment: read.shipment_identifier.0.to_string(),
        program: owned(read.program_identifier.as_ref()),
        channel: owned(read.channel.as_ref()),
        from: place(&read.from),
        to: place(&read.to),
        tracking_number: owned(read.tracking_number.as_ref()),
        carrier: owned(read.carrier.as_ref()),
        ship_date: read.ship_date.map(|date| date.0),
        lines: lines.collect(),
    }
}

fn line(at: usize, carton: &CartonIn<'_>, read: &LineIn<'_>) -> Line {
    Line {
        identifier: read.line_identifier.0.to_string(),
        carton: at,
        carton_identifier: owned(carton.identifier.as_ref()),
        reference: carton.reference.as_ref().map(|reference| Reference {
            kind: reference.kind.0,
            identifier: reference.identifier.0.to_string(),
            alternate: owned(reference.alternate_identifier.as_ref()),
        }),
        reference_line: owned(read.reference_line_identifier.as_ref()),
        unit: owned(read.unit_identifier.as_ref()),
        client_unit: owned(read.client_unit_identifier.as_ref()),
        sku: owned(read.sku.as_ref()),
        upc: owned(read.upc.as_ref()),
        quantity: read.quantity.map_or(1, |quantity| quantity.0),
        received: 0,
        program: owned(read.program_identifier.as_ref()),
        serial_number: owned(read.serial_number.as_ref()),
        vendor: owned(read.vendor_identifier.as_ref()),
        condition: read.condition.map(|condition| condition.0),
        flags: read.eligibility_flags.iter().flat_map(|flags| &flags.0).map(|flag| flag.0.to_string()).collect(),
        merchant: owned(read.merchant.as_ref()),
        concept: owned(read.concept.as_ref()),
        asin: read.asin.as_ref().map(|asin| asin.0.to_string()),
        return_reason: owned(read.return_reason.as_ref()),
    }
}

/// The SHA-256 of an ASN's content, independent of how its JSON was written.
pub(crate) fn digest(asn: &Asn) -> Result<[u8; 32], serde_json::Error> {
    let content = (
        (&asn.number, &asn.shipment, &asn.program, &asn.channel, &asn.tracking_number, &asn.carrier),
        asn.ship_date.map(|date| date.timestamp_micros()),
        [&asn.from, &asn.to].map(|place| (&place.identifier, &place.kind)),
        cartons(asn),
    );
    Ok(Sha256::digest(serde_json::to_vec(&content)?).into())
}

/// The lines of an ASN, grouped by carton.
fn cartons(asn: &Asn) -> Vec<CartonOut> {
    let of_carton = asn.lines.chunk_by(|one, next| one.carton == next.carton);
    of_carton
        .map(|lines| CartonOut {
            identifier: lines.first().and_then(|line| line.carton_identifier.clone()),
            reference: lines.first().and_then(|line| line.reference.as_ref()).map(|reference| ReferenceOut {
                r#type: reference.kind.to_string(),
                identifier: reference.identifier.clone(),
                alternate_identifier: reference.alternate.clone(),
            }),
            details: lines.iter().map(shown_line).collect(),
        })
        .collect()
}

fn shown_line(line: &Line) -> LineOut {
    LineOut {
        line_identifier: line.identifier.clone(),
        reference_line_identifier: line.reference_line.clone(),
        unit_identifier: line.unit.clone(),
        client_unit_identifier: line.client_unit.clone(),
        sku: line.sku.clone(),
        upc: line.upc.clone(),
        quantity: line.quantity,
        received: line.received,
        program_identifier: line.program.clone(),
        serial_number: line.serial_number.clone(),
        vendor_identifier: line.vendor.clone(),
        condition: line.condition.map(|condition| condition.to_string()),
        eligibility_flags: line.flags.clone(),
        merchant: line.merchant.clone(),
        concept: line.concept.clone(),
        asin: line.asin.clone(),
        return_reason: line.return_reason.clone(),
    }
}

/// An ASN with all its details, including the units that have arrived.
pub(crate) fn shown(kept: &StoredAsn) -> InboundAsnOut {
    let asn = &kept.asn;
    let place = |place: &Place| PlaceOut { identifier: place.identifier.clone(), r#type: place.kind.clone() };
    InboundAsnOut {
        asn_number: asn.number.clone(),
        state: kept.state.as_str(),
        announced: asn.announced(),
        received: asn.lines.iter().map(|line| i64::from(line.received)).sum(),
        shipment_identifier: asn.shipment.clone(),
        program_identifier: asn.program.clone(),
        channel: asn.channel.clone(),
        from: place(&asn.from),
        to: place(&asn.to),
        tracking_number: asn.tracking_number.clone(),
        carrier: asn.carrier.clone(),
        ship_date: asn.ship_date.map(time::write),
        created_at: time::write(kept.created_at),
        updated_at: time::write(kept.updated_at),
        cartons: cartons(asn),
    }
}

/// An ASN in a list.
pub(crate) fn listed(listed: Listed) -> InboundAsnListed {
    InboundAsnListed {
        asn_number: listed.number,
        shipment_identifier: listed.shipment,
        state: listed.state.as_str(),
        lines: listed.lines,
        announced: listed.announced,
        created_at: time::write(listed.created_at),
        updated_at: time::write(listed.updated_at),
    }
}

/// A receiving exception in a list.
pub(crate) fn exception(listed: ListedException) -> ExceptionOut {
    let (asn_number, rma_identifier, tracking_number) = match Target::of_key(&listed.target) {
        Target::Asn(number) => (Some(number), None, None),
        Target::Return(identifier) => (None, Some(identifier), None),
        Target::Parcel(number) => (None, None, Some(number)),
    };
    let text = |text: Option<&str>| text.map(ToOwned::to_owned);
    ExceptionOut {
        exception: listed.exception.as_str(),
        message: explain(listed.exception),
        asn_number: text(asn_number),
        rma_identifier: text(rma_identifier),
        tracking_number: text(tracking_number),
        line_identifier: listed.line,
        unit_identifier: listed.unit,
        sku: listed.sku,
        quantity: listed.quantity,
        warehouse_identifier: listed.warehouse,
        condition: listed.condition,
        user_login: listed.user,
        found_at: time::write(listed.found_at),
        resolved_at: listed.resolved_at.map(time::write),
    }
}
