//! Many concurrent scanners: every unit once, every line at most full, every message once.

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::Value;

use crate::world::{World, asn, scan, the_unit, units_of};

/// A scan of a unit with a SKU.
fn of_sku(unit: &str) -> Value {
    let mut scanned = scan("A-1", unit);
    scanned["sku"] = "SOCK".into();
    scanned
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scanners_of_one_asn_receive_each_unit_once() {
    const SCANNERS: usize = 12;
    const UNITS: usize = 60;
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let units: Vec<String> = (0..UNITS).map(|unit| format!("U-{unit}")).collect();
    let mut lines: Vec<Value> = units.iter().map(|unit| the_unit(unit)).collect();
    lines.extend([units_of("SOCK", 20), units_of("SOCK", 20)]);
    yard.merchant.announces("A-1", &lines).await;
    // Each scans everything, from a different start, forwards or backwards, and a few socks more than were announced.
    let merchant = &yard.merchant;
    let answers = join_all((0..SCANNERS).map(|scanner| {
        let mut scans: Vec<Value> = units.iter().map(|unit| scan("A-1", unit)).collect();
        scans.extend((0..45).map(|sock| of_sku(&format!("S-{sock}"))));
        scans.rotate_left(scanner * 7);
        if scanner % 2 == 1 {
            scans.reverse();
        }
        async move {
            let mut answers = Vec::new();
            for batch in scans.chunks(9) {
                answers.extend(merchant.scans(batch).await);
            }
            answers
        }
    }))
    .await;
    let received = answers.iter().flatten().filter(|answer| answer.starts_with("received")).count();
    assert_eq!(received, UNITS + 40);
    let receipts = yard.receives_events().await;
    assert_eq!((receipts.len(), receipts.iter().collect::<BTreeSet<_>>().len()), (UNITS + 40, UNITS + 40));
    let shown = merchant.looks_at_asn("A-1").await;
    assert_eq!((&shown["received"], &shown["announced"]), (&(UNITS + 40).into(), &(UNITS + 40).into()));
    let over = merchant.exceptions("?limit=100").await;
    assert!(over.iter().all(|exception| exception.starts_with("over_received")), "{over:?}");
    assert_eq!(over.iter().filter(|exception| exception.ends_with("open")).count(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asn_that_is_announced_changed_and_received_at_once_is_one_of_them() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let merchant = &yard.merchant;
    for round in 0..15 {
        let number = format!("A-{round}");
        let first = asn(&number, &[units_of("SOCK", 1)]);
        let announced = join_all((0..3).map(|_| merchant.posts_asns(std::slice::from_ref(&first)))).await;
        let mut statuses: Vec<u16> = announced.iter().map(|reply| reply.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 201]);
        let other = asn(&number, &[units_of("HAT", 1)]);
        let mut unit = scan(&number, &number);
        unit["sku"] = "SOCK".into();
        let (changed, taken) = tokio::join!(merchant.changes_asn(&number, &other), merchant.scans(std::slice::from_ref(&unit)));
        // The first to commit decides: a received unit belongs to the ASN as it was announced.
        match (changed.status.as_u16(), taken[0].as_str()) {
            (409, "received 1") | (200, "exception unexpected_unit") => {}
            other => panic!("{other:?}"),
        }
    }
}
