//! The receipts of units that are shipped: what they know is passed through to the merchant.

use std::collections::{BTreeSet, HashMap};

use store::warehouse::provenance::{self, Provenance};
use store::warehouse::reference::Reference;
use store::warehouse::shipment_units::Unit;
use store::{Failed, Tx};
use wire::fault::{Path, Warning};
use wire::warehouse::outbound_shipment::{CartonIn, DetailIn, UnitsIn};

/// The receipts of the units of a call, by license plate.
pub(super) struct Receipts(HashMap<String, Provenance>);

impl Receipts {
    pub(super) async fn of(tx: &mut Tx, request: &UnitsIn<'_>) -> Result<Self, Failed> {
        let plates: Vec<&str> = request.details().map(|(_, _, detail)| &*detail.unit_identifier.0).collect();
        let found = provenance::list(tx, &plates).await?;
        Ok(Self(found.into_iter().map(|of| (of.unit.clone(), of)).collect()))
    }

    /// Fills in what was not stated.
    pub(super) fn fill(&self, unit: &mut Unit) {
        let Some(known) = self.0.get(&unit.unit) else { return };
        if unit.program.is_empty() {
            unit.program = known.program.clone().unwrap_or_default();
        }
        unit.client_unit = unit.client_unit.take().or_else(|| known.client_unit.clone());
        unit.inbound_asn = unit.inbound_asn.take().or_else(|| known.asn_number.clone());
        unit.eligibility_flags = unit.eligibility_flags.take().or_else(|| known.flags.clone());
        unit.reference.clone_from(&known.reference);
    }

    /// Warnings about statements that contradict the receipts.
    pub(super) fn contradictions(&self, request: &UnitsIn<'_>) -> Vec<Warning> {
        let details = request.details().filter_map(|(at, _, detail)| Some((at, detail, self.0.get(&*detail.unit_identifier.0)?)));
        let of_details = details.flat_map(|(at, detail, known)| of_detail(&at, detail, known));
        let cartons = request.cartons.0.iter().enumerate();
        of_details.chain(cartons.filter_map(|(nth, carton)| self.of_carton(nth, carton))).collect()
    }

    fn of_carton(&self, nth: usize, carton: &CartonIn<'_>) -> Option<Warning> {
        let stated = carton.reference.as_ref()?;
        let differs = |known: &Reference| known.kind != stated.kind.0 || known.identifier != stated.identifier.0;
        let known = carton.details.0.iter().filter_map(|detail| self.0.get(&*detail.unit_identifier.0));
        let (unit, known) = known.filter_map(|known| Some((&known.unit, known.reference.as_ref()?))).find(|(_, known)| differs(known))?;
        Some(Warning {
            field: Path::root().field("cartons").index(nth).field("reference").to_string(),
            message: format!("differs from the receipt of the unit {unit}, which says {} {}", known.kind, known.identifier),
        })
    }
}

fn of_detail(at: &Path, detail: &DetailIn<'_>, known: &Provenance) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |name: &str, known: &str| {
        warnings.push(Warning {
            field: at.field(name).to_string(),
            message: format!("differs from the receipt of the unit, which says {known}"),
        });
    };
    for (name, stated, known) in [
        ("program_identifier", &detail.program_identifier, &known.program),
        ("client_unit_identifier", &detail.client_unit_identifier, &known.client_unit),
        ("inbound_received_asn", &detail.inbound_received_asn, &known.asn_number),
    ] {
        if let (Some(stated), Some(known)) = (stated, known)
            && *known != stated.0
        {
            warn(name, known);
        }
    }
    if let (Some(stated), Some(known)) = (&detail.eligibility_flags, &known.flags) {
        let stated: BTreeSet<&str> = stated.0.iter().map(|flag| &*flag.0).collect();
        if stated != known.iter().map(String::as_str).collect() {
            warn("eligibility_flags", &known.join(", "));
        }
    }
    warnings
}

/// True if a unit that is stated again is the one that the shipment has. What was left out agrees with whatever its receipt knew.
pub(super) fn agrees(stated: &Unit, kept: &Unit) -> bool {
    let filled = Unit {
        program: if stated.program.is_empty() { kept.program.clone() } else { stated.program.clone() },
        client_unit: stated.client_unit.clone().or_else(|| kept.client_unit.clone()),
        inbound_asn: stated.inbound_asn.clone().or_else(|| kept.inbound_asn.clone()),
        eligibility_flags: stated.eligibility_flags.clone().or_else(|| kept.eligibility_flags.clone()),
        reference: kept.reference.clone(),
        ..stated.clone()
    };
    filled == *kept
}
