//! Random histories of shipments, run by the service and by a simple model: no unit is ever in two shipments, no forbidden move is
//! made, and every change to report has its messages.
//!
//! `HISTORIES` sets the number of histories and `SEED` the first seed. A failure prints the seed that reproduces it.

use std::collections::{BTreeMap, BTreeSet};

use backhaul::app::App;
use backhaul::flow::warehouse::add_units::{AddUnitsError, add_units};
use backhaul::flow::warehouse::create_shipment::{CreateShipmentError, create_shipment};
use backhaul::flow::warehouse::move_shipment::{MoveShipmentError, change_shipment, move_shipment, ship};
use domain::id::MerchantId;
use domain::warehouse::shipment::Act;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;
use sqlx::Row as _;
use wire::warehouse::outbound_shipment::read_ship;

use crate::world::World;
use crate::world::warehouse::{carton, freight};

/// The number of histories unless `HISTORIES` is set.
const HISTORIES: u64 = 12;
/// The number of steps in a history.
const STEPS: usize = 40;
/// The numbers of shipments and units: few, so that they collide.
const SHIPMENTS: u32 = 4;
const UNITS: u32 = 12;

/// A shipment in the model.
#[derive(Default)]
struct Modelled {
    state: Where,
    units: BTreeSet<u32>,
    messages: Vec<&'static str>,
    date: i64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Where {
    #[default]
    Open,
    Announced,
    Shipped,
    Delivered,
    Cancelled,
}

fn variable(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

async fn make(app: &App, merchant: MerchantId, number: &str) -> bool {
    let text = freight(number).to_string();
    let asked = wire::warehouse::outbound_shipment::read_create(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    let checked = asked.check().unwrap_or_else(|_| panic!("{text}"));
    match create_shipment(app, merchant, &checked, [7; 32]).await {
        Ok(created) => !created.repeated,
        Err(CreateShipmentError::Faulty(_) | CreateShipmentError::NumberTaken | CreateShipmentError::Failed(_)) => panic!("{number}"),
    }
}

async fn pack(app: &App, merchant: MerchantId, number: &str, units: &BTreeSet<u32>) -> Result<u32, AddUnitsError> {
    let text = json!({ "cartons": [carton("C-1", units.iter().copied())] }).to_string();
    let wanted = wire::warehouse::outbound_shipment::read_units(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    add_units(app, merchant, number, &wanted).await.map(|(shipment, _)| shipment.units)
}

/// The expected result of a step; none if it is refused.
fn moved(shipment: &Modelled, act: Act) -> Option<(Where, Option<&'static str>)> {
    let empty = shipment.units.is_empty();
    match (shipment.state, act) {
        (Where::Open, Act::Announce) if !empty => Some((Where::Announced, Some("outbound_asn.pending"))),
        (Where::Open, Act::Ship) if !empty => Some((Where::Shipped, Some("outbound_asn.shipped"))),
        (Where::Announced, Act::Ship) => Some((Where::Shipped, Some("outbound_asn.shipped"))),
        (Where::Shipped, Act::Deliver) => Some((Where::Delivered, Some("outbound_asn.delivered"))),
        (Where::Open, Act::Cancel) => Some((Where::Cancelled, None)),
        (Where::Announced, Act::Cancel) => Some((Where::Cancelled, Some("outbound_asn.canceled"))),
        (Where::Open, Act::ChangeShipDate | Act::ChangeTransport) => Some((Where::Open, None)),
        (Where::Announced, Act::ChangeShipDate) => Some((Where::Announced, Some("outbound_asn.ship_date_changed"))),
        (Where::Announced, Act::ChangeTransport) => Some((Where::Announced, Some("outbound_asn.transport_changed"))),
        (Where::Announced, Act::Announce)
        | (Where::Shipped | Where::Delivered, Act::Ship)
        | (Where::Delivered, Act::Deliver)
        | (Where::Cancelled, Act::Cancel) => Some((shipment.state, None)),
        _ => None,
    }
}

/// Takes one random step in both, and compares the results.
async fn step(app: &App, merchant: MerchantId, model: &mut BTreeMap<String, Modelled>, rng: &mut StdRng) {
    let number = format!("A-{}", rng.random_range(0..SHIPMENTS));
    if !model.contains_key(&number) || rng.random_range(0..10) == 0 {
        let new = make(app, merchant, &number).await;
        assert_eq!(new, !model.contains_key(&number), "{number}");
        model.entry(number).or_insert_with(|| Modelled { date: -1, ..Modelled::default() });
        return;
    }
    if rng.random_range(0..2) == 0 {
        let first = rng.random_range(0..UNITS);
        let wanted: BTreeSet<u32> = (first..(first + rng.random_range(1..4)).min(UNITS)).collect();
        let elsewhere = |unit: &u32| {
            model.iter().any(|(other, shipment)| *other != number && shipment.state != Where::Cancelled && shipment.units.contains(unit))
        };
        let (has_all, taken) = (wanted.is_subset(&model[&number].units), wanted.iter().any(elsewhere));
        let shipment = model.get_mut(&number).unwrap();
        match pack(app, merchant, &number, &wanted).await {
            Ok(units) => {
                assert!(has_all || (shipment.state == Where::Open && !taken), "{number}: {wanted:?}");
                shipment.units.extend(wanted);
                assert_eq!(units as usize, shipment.units.len());
            }
            Err(AddUnitsError::Fixed(_)) => assert!(!has_all && shipment.state != Where::Open),
            Err(AddUnitsError::Faulty(_)) => assert!(taken && shipment.state == Where::Open),
            Err(error) => panic!("{error:?}"),
        }
        return;
    }
    let acts = [Act::Announce, Act::Ship, Act::Ship, Act::Deliver, Act::Cancel, Act::ChangeShipDate, Act::ChangeTransport];
    let act = acts[rng.random_range(0..acts.len())];
    let shipment = model.get_mut(&number).unwrap();
    let expected = moved(shipment, act);
    shipment.date += 1;
    let change = match act {
        Act::ChangeShipDate => json!({ "ship_date": app.now() + chrono::TimeDelta::days(shipment.date) }).to_string(),
        Act::ChangeTransport => json!({ "tracking_numbers": [format!("PRO-{}", shipment.date)] }).to_string(),
        Act::Announce | Act::Ship | Act::Deliver | Act::Cancel => String::new(),
    };
    let change = read_ship(change.as_bytes()).unwrap_or_else(|_| panic!("{change}"));
    let done = match act {
        Act::ChangeShipDate | Act::ChangeTransport => change_shipment(app, merchant, &number, &change).await,
        Act::Ship => ship(app, merchant, &number, &change).await,
        Act::Announce | Act::Deliver | Act::Cancel => move_shipment(app, merchant, &number, act).await,
    };
    match (done, expected) {
        (Ok(_), Some((to, message))) => {
            shipment.state = to;
            shipment.messages.extend(message);
        }
        (Err(MoveShipmentError::Refused(_) | MoveShipmentError::NoUnits), None) => {}
        (done, expected) => panic!("{number} {act:?}: {:?} instead of {expected:?}", done.map(|shipment| shipment.state)),
    }
}

#[tokio::test]
async fn any_history_of_shipments_is_as_the_model_has_it() {
    let first = variable("SEED", 1);
    let world = World::new().await;
    for seed in first..first + variable("HISTORIES", HISTORIES) {
        eprintln!("SEED={seed}");
        let merchant = world.merchant(&format!("history-{seed}")).await;
        merchant.has_places().await;
        let (mut model, mut rng) = (BTreeMap::new(), StdRng::seed_from_u64(seed));
        for _ in 0..STEPS {
            step(&world.app, merchant.id, &mut model, &mut rng).await;
        }
        let mut connection = world.database.connect().await;
        for (number, shipment) in &model {
            let messages: Vec<String> =
                sqlx::query_scalar("select event from message where merchant_id = $1 and subject = $2 order by sequence")
                    .bind(merchant.id.0)
                    .bind(number)
                    .fetch_all(&mut connection)
                    .await
                    .unwrap();
            assert_eq!(messages, shipment.messages, "{number}");
        }
        let units = "select unit_identifier, count(*) as live from shipment_unit where merchant_id = $1 and not released group by 1";
        let rows = sqlx::query(units).bind(merchant.id.0).fetch_all(&mut connection).await.unwrap();
        let live: BTreeSet<String> = rows.iter().map(|row| row.get("unit_identifier")).collect();
        assert!(rows.iter().all(|row| row.get::<i64, _>("live") == 1), "a unit is in one shipment");
        let expected = model.values().filter(|shipment| shipment.state != Where::Cancelled).flat_map(|shipment| &shipment.units);
        assert_eq!(live, expected.map(|unit| format!("LP-{unit}")).collect());
    }
}
