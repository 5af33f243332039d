//! What a reported event must say, beyond its shape.

use domain::rma::TrackingNumber;
use domain::rma::parcel::NoTrackingNumber;
use store::carrier_events::Kept;
use wire::carrier::{CarrierEventIn, CarrierWord};
use wire::fault::{Code, Fault, Path};

use super::Report;
use crate::returns;

/// What an event must say, beyond its shape.
pub(super) fn read(event: &CarrierEventIn<'_>) -> Result<Report, Vec<Fault>> {
    let at = |name| Path::root().field(name);
    let mut faults = Vec::new();
    let number = event.tracking_number.as_ref().map(|number| number.0.parse::<TrackingNumber>()).transpose();
    let number = number.unwrap_or_else(|wrong: NoTrackingNumber| {
        faults.push(Fault::new(at("tracking_number"), Code::Invalid, wrong.to_string()));
        None
    });
    match event.event {
        CarrierWord::LabelIssued => {
            for (name, given) in [("rma_identifier", event.rma_identifier.is_some()), ("tracking_number", event.tracking_number.is_some())]
            {
                if !given {
                    faults.push(Fault::new(at(name), Code::MissingField, "is required for a label"));
                }
            }
        }
        CarrierWord::DroppedOff
        | CarrierWord::Collected
        | CarrierWord::InTransit
        | CarrierWord::Delivered
        | CarrierWord::ReturnedToSender
        | CarrierWord::Failed => {
            if event.rma_identifier.is_none() && event.tracking_number.is_none() {
                faults.push(Fault::new(at("rma_identifier"), Code::MissingField, "is required, or tracking_number"));
            }
        }
    }
    let handed_over = event.items.as_ref().map(|items| {
        let units = items.0.iter().map(|item| (item.order_line_item_identifier.0.to_string(), item.quantity.0));
        units.collect::<Vec<_>>()
    });
    if handed_over.is_some() && !matches!(event.event, CarrierWord::DroppedOff | CarrierWord::Collected) {
        faults.push(Fault::new(at("items"), Code::Invalid, "goes with dropped_off and collected only"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let kept = Kept { event: event.event.as_str().to_owned(), occurred_at: event.occurred_at.0, handed_over };
    let rma = event.rma_identifier.as_ref().map(|identifier| returns::identifier(&identifier.0));
    Ok(Report { rma, word: event.event, number, kept })
}
