//! Creates a shipment for a warehouse, without units and without a message.

use domain::id::MerchantId;
use domain::warehouse::place::{Address, Warehouse, WarehouseId};
use domain::warehouse::shipment::{Kind, PlaceType, State};
use store::warehouse::places;
use store::warehouse::shipments::{self, Shipment};
use store::{Failed, Tx};
use wire::fault::{Code, Fault};
use wire::warehouse::outbound_shipment::{AddressIn, CreateShipment, Destination, Sender};

use crate::app::App;

const NUMBER_IS_TAKEN: &str = "an_asn_number_is_taken_once";
const NUMBER_IS_UNIQUE: &str = "outbound_shipment_by_number";

/// The reasons a shipment cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum CreateShipmentError {
    /// A place is unknown or lacks an identifier.
    #[error("the shipment cannot be created as requested")]
    Faulty(Vec<Fault>),
    /// The number belongs to another shipment or to a part of one.
    #[error("another shipment has this number")]
    NumberTaken,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The result of creating a shipment.
pub struct Created {
    pub shipment: Shipment,
    /// An earlier request with the same content created it.
    pub repeated: bool,
}

/// Creates a shipment. `request_hash` identifies repeats of the same request.
pub async fn create_shipment(
    app: &App,
    merchant: MerchantId,
    request: &CreateShipment<'_>,
    request_hash: [u8; 32],
) -> Result<Created, CreateShipmentError> {
    match attempt(app, merchant, request, request_hash).await {
        // A concurrent request created it, and has committed by now.
        Err(CreateShipmentError::Failed(failed)) if failed.violates(NUMBER_IS_UNIQUE) || failed.violates(NUMBER_IS_TAKEN) => {
            let known = shipments::find(app.store(merchant), merchant, request.number.as_str()).await?;
            repeated(known, request_hash)?.ok_or(CreateShipmentError::NumberTaken)
        }
        done => done,
    }
}

/// The known shipment with this number, if it was requested with the same content.
fn repeated(known: Option<Shipment>, request_hash: [u8; 32]) -> Result<Option<Created>, CreateShipmentError> {
    match known {
        Some(shipment) if shipment.request_hash == request_hash => Ok(Some(Created { shipment, repeated: true })),
        Some(_) => Err(CreateShipmentError::NumberTaken),
        None => Ok(None),
    }
}

async fn attempt(
    app: &App,
    merchant: MerchantId,
    request: &CreateShipment<'_>,
    request_hash: [u8; 32],
) -> Result<Created, CreateShipmentError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    if let Some(known) = repeated(shipments::lock(&mut tx, request.number.as_str()).await?, request_hash)? {
        return Ok(known);
    }
    let asked = request.asked;
    let mut faults = Vec::new();
    let from = sender(&mut tx, request).await?.map_err(|fault| faults.push(fault)).ok();
    let to = destination(&mut tx, request).await?.map_err(|fault| faults.push(fault)).ok();
    let (Some((from_identifier, from_type)), Some((to_identifier, to_type, to_address))) = (from, to) else {
        return Err(CreateShipmentError::Faulty(faults));
    };
    let text = |text: &wire::shape::Identifier<'_>| text.0.clone().into_owned();
    let shipment = Shipment {
        id: app.mint(),
        number: request.number.clone(),
        request_hash,
        kind: asked.kind.0,
        state: State::Open,
        created_at: now,
        updated_at: now,
        ship_date: asked.ship_date.0,
        sequence: 0,
        units: 0,
        cartons: 0,
        parts: 0,
        channel: text(&asked.channel),
        shipment_identifier: text(&asked.shipment_identifier),
        carrier: asked.carrier.as_ref().map(text),
        carrier_payment: asked.carrier_payment_type.map(|payment| payment.0),
        bol_number: asked.bol_number.as_ref().map(text),
        tracking_numbers: asked
            .tracking_numbers
            .iter()
            .flat_map(|numbers| &numbers.0)
            .map(|number| number.0.clone().into_owned())
            .collect(),
        from_identifier,
        from_type,
        to_identifier,
        to_type,
        to_address,
    };
    shipments::insert(&mut tx, &shipment).await?;
    app.commit(tx).await?;
    Ok(Created { shipment, repeated: false })
}

/// The identifier and type of the sender, or the fault in it.
async fn sender(tx: &mut Tx, request: &CreateShipment<'_>) -> Result<Result<(String, PlaceType), Fault>, Failed> {
    Ok(match &request.from {
        Sender::Store(identifier) => Ok(((*identifier).to_owned(), PlaceType::Store)),
        Sender::Warehouse(id) => match places::lock_warehouse(tx, id).await? {
            Some(warehouse) => Ok((warehouse.identifier().to_owned(), PlaceType::Warehouse)),
            None => Err(no_warehouse("from_warehouse")),
        },
    })
}

/// The identifier, type and address of the destination, or the fault in it.
async fn destination(tx: &mut Tx, request: &CreateShipment<'_>) -> Result<Result<(String, PlaceType, Address), Fault>, Failed> {
    Ok(match &request.to {
        Destination::Store(store) => Ok((store.identifier.0.clone().into_owned(), PlaceType::Store, address(&store.address))),
        Destination::Vendor(id) => match places::lock_vendor(tx, *id).await? {
            Some(vendor) => Ok((vendor.id.to_string(), PlaceType::Warehouse, vendor.address)),
            None => Err(Fault::new("to_vendor", Code::Invalid, "is not a vendor of the merchant; ask the operator to add it")),
        },
        Destination::Warehouse(id) => match places::lock_warehouse(tx, id).await? {
            Some(warehouse) => warehouse_destination(request.asked.kind.0, id, warehouse),
            None => Err(no_warehouse("to_warehouse")),
        },
    })
}

/// A warehouse as the destination of a shipment. The kind of shipment decides which identifier it needs.
fn warehouse_destination(kind: Kind, id: &WarehouseId, warehouse: Warehouse) -> Result<(String, PlaceType, Address), Fault> {
    let (identifier, option) = match kind {
        Kind::StockTransfer => (warehouse.stock_transfer_identifier, "--stock-transfer-identifier"),
        Kind::Freight | Kind::Vendor => (warehouse.external_identifier, "--external-identifier"),
    };
    let missing = || {
        format!(
            "has no identifier for this kind of shipment; ask the operator to set it: backhaul warehouse set --merchant HANDLE {id} {option}"
        )
    };
    let identifier = identifier.ok_or_else(|| Fault::new("to_warehouse", Code::Invalid, missing()))?;
    Ok((identifier, PlaceType::Warehouse, warehouse.address))
}

fn no_warehouse(field: &str) -> Fault {
    Fault::new(field, Code::Invalid, "is not a warehouse of the merchant; ask the operator to add it")
}

fn address(address: &AddressIn<'_>) -> Address {
    let text = |text: &wire::shape::Identifier<'_>| text.0.clone().into_owned();
    Address {
        name: text(&address.name),
        company: address.company.as_ref().map(text),
        street: text(&address.street),
        street2: address.street2.as_ref().map(text),
        city: text(&address.city),
        state: text(&address.state),
        zip: text(&address.zip),
    }
}
