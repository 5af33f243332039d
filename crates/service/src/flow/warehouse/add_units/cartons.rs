//! Assigns each unit to a carton of the shipment.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use store::Tx;
use store::warehouse::reference::Reference;
use store::warehouse::shipment_units::{self, Carton};
use store::warehouse::shipments::Shipment;
use wire::shape::Identifier;
use wire::warehouse::outbound_shipment::{CartonIn, UnitsIn};

use super::error::{AddUnitsError, MOST_NAMED};

/// The cartons of a call, with their numbers in the shipment.
pub(super) struct Numbered {
    /// The carton number of each unit, in the order of the call.
    pub(super) numbers: Vec<u32>,
    /// Cartons that are new or have a new sorting template.
    pub(super) changed: Vec<Carton>,
    /// The shipment's cartons, new ones included.
    pub(super) count: u32,
}

/// Finds the cartons of a call in the shipment, which must be locked, and numbers new ones. The reference of a carton cannot
/// change; its sorting template can.
pub(super) async fn number_cartons(tx: &mut Tx, shipment: &Shipment, request: &UnitsIn<'_>) -> Result<Numbered, AddUnitsError> {
    let given: Vec<Carton> = request.cartons.0.iter().map(read).collect();
    let keys: Vec<Vec<u8>> = given.iter().map(|carton| carton.key.to_vec()).collect();
    let known = shipment_units::cartons(tx, shipment.id, &keys).await?;
    let known: HashMap<[u8; 32], Carton> = known.into_iter().map(|carton| (carton.key, carton)).collect();
    let mut cartons = known.clone();
    let (mut count, mut numbers, mut others) = (shipment.cartons, Vec::new(), Vec::new());
    for (carton, there) in given.into_iter().zip(&request.cartons.0) {
        let kept = cartons.entry(carton.key).or_insert_with(|| {
            count += 1;
            Carton { number: count, ..carton.clone() }
        });
        if kept.reference != carton.reference {
            others.extend(carton.identifier);
            continue;
        }
        kept.sorting_template = carton.sorting_template;
        numbers.extend(there.details.0.iter().map(|_| kept.number));
    }
    if !others.is_empty() {
        others.truncate(MOST_NAMED);
        return Err(AddUnitsError::OtherCartons(others));
    }
    let changed = cartons.into_values().filter(|carton| known.get(&carton.key) != Some(carton)).collect();
    Ok(Numbered { numbers, changed, count })
}

fn read(carton: &CartonIn<'_>) -> Carton {
    let text = |text: &Identifier<'_>| text.0.clone().into_owned();
    let reference = carton.reference.as_ref().map(|reference| Reference {
        kind: reference.kind.0,
        identifier: text(&reference.identifier),
        alternate: reference.alternate_identifier.as_ref().map(text),
    });
    let identifier = carton.identifier.as_ref().map(text);
    let sorting_template = carton.sorting_template_name.as_ref().map(text);
    let key = key(identifier.as_deref(), reference.as_ref(), sorting_template.as_deref());
    Carton { number: 0, key, identifier, reference, sorting_template }
}

/// The key of a carton: a hash of its identifier, or if it has none, of all its other fields.
fn key(identifier: Option<&str>, reference: Option<&Reference>, template: Option<&str>) -> [u8; 32] {
    let words = match identifier {
        Some(identifier) => vec![Some(identifier)],
        None => vec![
            None,
            reference.map(|reference| reference.kind.as_str()),
            reference.map(|reference| reference.identifier.as_str()),
            reference.and_then(|reference| reference.alternate.as_deref()),
            template,
        ],
    };
    let mut hash = Sha256::new();
    for word in words {
        // No text has a NUL, so a NUL separates them unambiguously.
        hash.update([u8::from(word.is_some())]);
        hash.update(word.unwrap_or_default());
        hash.update([0]);
    }
    hash.finalize().into()
}
