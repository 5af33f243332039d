//! The console's pages on the warehouse: what is announced, expected and shipped.

use domain::merchants::operator::Role;
use domain::returns::rma::policy::Policy;
use serde_json::json;

use crate::world::warehouse::carton;
use crate::world::{World, drop_ship, drop_ship_in_full, scan, scan_for, shipment, the_unit, units_of};

#[tokio::test]
async fn asns_are_listed_with_filters_in_the_address() {
    let world = World::new().await;
    let (acme, north) = (world.yard("acme").await, world.yard("north").await);
    for number in 1..=52 {
        acme.merchant.announces(&format!("A-{number:02}"), &[units_of("SOCK", 2)]).await;
    }
    north.merchant.announces("N-1", &[units_of("SOCK", 1_204)]).await;
    north.merchant.announces("N-2", &[units_of("SOCK", 1)]).await;
    assert_eq!(north.merchant.cancels_asn("N-2").await.status, 200);
    let mut first = scan("A-52", "LP-1");
    first["sku"] = "SOCK".into();
    assert_eq!(acme.merchant.scans(&[first]).await, ["received 1"]);
    let viewer = world.console(Role::Viewer).await;
    let shown = async |query: &str| viewer.get(&format!("/warehouse{query}")).await.page();
    let page = shown("").await;
    assert!(page.contains("50 shown"), "{page}");
    let older = page.split("href=\"/warehouse?before=").nth(1).expect("a next page").split('"').next().unwrap().to_owned();
    let rest = shown(&format!("?before={older}")).await;
    assert!(rest.contains("4 shown") && !rest.contains(">Older<"), "{rest}");
    for number in (1..=52).map(|number| format!("<code>A-{number:02}</code>")) {
        assert!(page.contains(&number) != rest.contains(&number), "{number} is on one of the pages");
    }
    let open = shown("?merchant=north&state=open").await;
    assert!(open.contains("1 shown") && open.contains("<code>N-1</code>") && open.contains("1,204"), "{open}");
    assert!(shown("?merchant=acme&state=open").await.contains(">Receiving<") || rest.contains(">Receiving<"));
    let cancelled = shown("?state=canceled").await;
    assert!(cancelled.contains("1 shown") && cancelled.contains("<code>N-2</code>"), "{cancelled}");
    assert!(shown("?merchant=acme&until=2020-01-01").await.contains("No ASN fits these filters"));
    let wrong = shown("?merchant=nobody&state=lost&since=yesterday").await;
    for fault in ["There is no merchant with this handle.", "There is no such state.", "“Since” cannot be read."] {
        assert!(wrong.contains(fault), "{fault}: {wrong}");
    }
}

#[tokio::test]
async fn an_asn_shows_its_lines_what_has_arrived_and_what_did_not_match() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[units_of("SOCK", 3), the_unit("U-1")]).await;
    let mut sock = scan("A-1", "LP-1");
    sock["sku"] = "SOCK".into();
    let mut other = scan("A-1", "LP-9");
    other["sku"] = "HAT".into();
    assert_eq!(yard.merchant.scans(&[sock, other]).await, ["received 1", "exception unexpected_unit"]);
    let viewer = world.console(Role::Viewer).await;
    let page = viewer.get("/merchants/acme/asns/A-1").await.page();
    assert!(page.contains("<h1>ASN A-1</h1>") && page.contains("1 of 4 units received"), "{page}");
    assert!(page.contains(">Partly<") && page.contains(">Nothing yet<"), "{page}");
    assert!(page.contains("<code>LP-1</code>") && page.contains("/messages?merchant=acme&#38;subject=LP-1"), "{page}");
    assert!(page.contains("<code>unexpected_unit</code>") && page.contains("<code>LP-9</code>"), "{page}");
    assert_eq!(viewer.get("/merchants/acme/asns/A-9").await.status, 404);
    assert_eq!(viewer.get("/merchants/acme/asns/A%00").await.status, 404);
    let found = viewer.get("/search?q=A-1").await.page();
    assert!(found.contains("/merchants/acme/asns/A-1"), "the search leads to the ASN: {found}");
}

#[tokio::test]
async fn the_lines_of_a_long_asn_come_page_by_page() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let lines: Vec<_> = (1..=101).map(|at| json!({ "line_identifier": format!("L{at:03}"), "sku": "SOCK", "quantity": 1 })).collect();
    yard.merchant.announces("A-1", &lines).await;
    let viewer = world.console(Role::Viewer).await;
    let first = viewer.get("/merchants/acme/asns/A-1").await.page();
    assert!(first.contains("100 shown") && first.contains("?after=L100") && !first.contains("<code>L101</code>"), "{first}");
    let second = viewer.get("/merchants/acme/asns/A-1?after=L100").await.page();
    assert!(second.contains("1 shown") && second.contains("<code>L101</code>"), "{second}");
}

#[tokio::test]
async fn a_return_is_expected_until_its_units_have_arrived() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    yard.merchant.sells("O-1", 2).await;
    let rma = yard.merchant.starts_a_return("O-1", 2).await;
    let viewer = world.console(Role::Viewer).await;
    let shown = async |query: &str| viewer.get(&format!("/warehouse/returns{query}")).await.page();
    let page = shown("").await;
    assert!(page.contains(&format!("/merchants/acme/returns/{rma}")) && page.contains("Not handed over yet"), "{page}");
    assert_eq!(yard.merchant.scans(&[scan_for(&rma, "LP-1")]).await, ["received L1"]);
    let page = shown("?merchant=acme").await;
    assert!(page.contains("Partly received"), "{page}");
    assert!(page.contains(r#"<td class="n" data-l="Units missing">1</td><td class="n" data-l="of">2</td>"#), "{page}");
    assert_eq!(yard.merchant.scans(&[scan_for(&rma, "LP-2")]).await, ["received L1"]);
    assert!(shown("").await.contains("No warehouse waits for a return"));
}

#[tokio::test]
async fn shipments_are_listed_and_one_shows_its_units_by_carton() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("S-1").await;
    dock.merchant.makes("S-2").await;
    assert!(dock.merchant.packs("S-1", [carton("BOX-1", 1..3), carton("BOX-2", 3..4)]).await.status.is_success());
    dock.merchant.does("ship", "S-1").await;
    let viewer = world.console(Role::Viewer).await;
    let shown = async |query: &str| viewer.get(&format!("/warehouse/shipments{query}")).await.page();
    let all = shown("").await;
    assert!(all.contains("2 shown") && all.contains(">Shipped<") && all.contains(">Open<"), "{all}");
    let open = shown("?merchant=acme&state=open").await;
    assert!(open.contains("1 shown") && open.contains("<code>S-2</code>") && !open.contains("<code>S-1</code>"), "{open}");
    let page = viewer.get("/merchants/acme/shipments/S-1").await.page();
    assert!(page.contains("<h1>Shipment S-1</h1>") && page.contains("3 units in 2 cartons"), "{page}");
    assert!(page.contains("<code>BOX-1</code>") && page.contains("<code>BOX-2</code>") && page.contains("3 shown of 3"), "{page}");
    let rest = viewer.get("/merchants/acme/shipments/S-1?carton=1&position=1000").await.page();
    assert!(rest.contains("1 shown of 3") && !rest.contains("<code>BOX-1</code>"), "{rest}");
    assert_eq!(viewer.get("/merchants/acme/shipments/S-9").await.status, 404);
}

#[tokio::test]
async fn drop_ship_orders_are_listed_without_the_shopper() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut whole = drop_ship_in_full("D-1");
    whole["shipping_address"]["name"] = "Pat Shopper".into();
    assert_eq!(merchant.gives(&whole).await.status, 201);
    assert_eq!(merchant.gives(&drop_ship("D-2", &[3])).await.status, 201);
    assert!(merchant.warehouse_reports("D-2", "ship", &shipment("P-1", &[("L1", 2)])).await.status.is_success());
    let support = world.console(Role::Support).await;
    let all = support.get("/warehouse/drop-ship").await.page();
    assert!(all.contains("2 shown") && all.contains(">Partly shipped<") && all.contains(">Accepted<"), "{all}");
    let some = support.get("/warehouse/drop-ship?merchant=acme&state=partially_shipped").await.page();
    assert!(some.contains("1 shown") && some.contains("<code>D-2</code>"), "{some}");
    let page = support.get("/merchants/acme/drop-ship/D-2").await.page();
    assert!(page.contains("<h1>Drop-ship order D-2</h1>") && page.contains("<code>P-1</code>"), "{page}");
    let line = r#"<td class="n" data-l="Ordered">3</td><td class="n" data-l="Shipped">2</td><td class="n" data-l="Cancelled">0</td><td class="n" data-l="Open">1</td>"#;
    assert!(page.contains(line), "{page}");
    assert!(!support.get("/merchants/acme/drop-ship/D-1").await.page().contains("Pat Shopper"));
    assert_eq!(support.get("/merchants/acme/drop-ship/D-9").await.status, 404);
}
