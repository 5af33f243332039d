//! An installation with two cells: every merchant is answered by its own, and nobody outside notices that there are two.

use std::time::Duration;

use backhaul::flow::merchants::add_merchant::{NewMerchant, add_merchant_to};
use backhaul::flow::merchants::configure_merchant::ConfigureError;
use backhaul::flow::merchants::configure_portal::{ConfigurePortalError, PortalChange, set_portal};
use backhaul::flow::merchants::move_merchant::{Cell, MoveStep, Moving, move_merchant};
use backhaul::heartbeat;
use domain::id::{Handle, MerchantId};
use domain::merchants::operator::Role;
use reqwest::{Method, StatusCode};
use sandbox::carrier::Status;
use serde_json::{Value, json};
use store::Failed;
use store::node::directory;
use uuid::Uuid;

use crate::binary::{backhaul, err, out};
use crate::messages::events;
use crate::world::{Merchant, World, message, sold};

fn handle(text: &str) -> Handle {
    text.parse().unwrap()
}

/// The same merchant's system; both worlds are one process.
fn seen_from<'w>(world: &'w World, merchant: &Merchant<'_>) -> Merchant<'w> {
    let Merchant { id, client_id, client_secret, token, .. } = merchant;
    Merchant { world, id: *id, client_id: client_id.clone(), client_secret: client_secret.clone(), token: token.clone() }
}

async fn sets_host(world: &World, merchant: MerchantId, host: &str) -> Result<(), ConfigurePortalError> {
    let change = PortalChange { hosts: [host.parse().unwrap()].into(), ..PortalChange::default() };
    set_portal(&world.app, "test", merchant, change).await
}

/// Moves a merchant from the first cell to the second one.
async fn moves(home: &World, second: &World, merchant: MerchantId) {
    let watch = |_: MoveStep| Ok::<_, Failed>(());
    let moving = Moving {
        home: &home.app,
        from: Cell { name: "main", app: &home.app },
        to: Cell { name: "b", app: &second.app },
        merchant,
        actor: "test",
        mover: Uuid::from_u128(7),
        calls_end_within: Duration::ZERO,
        nodes_learn_within: Duration::ZERO,
        watch: &watch,
    };
    move_merchant(&moving).await.unwrap();
}

#[tokio::test]
async fn a_merchant_in_the_second_cell_is_served_as_any_other() {
    let (home, second) = World::of_two_cells().await;
    let carried = second.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    assert_eq!(merchant.publishes(&message([sold("A-2", 2)])).await.results(), ["created"]);
    let (rma, number) = carried.has_a_label("A-1").await;
    let (events, _) = merchant.follows(events::beginning(), 2, 10).await;
    assert_eq!(events.len(), 2);
    // The carrier's webhook names the account alone.
    carried.carrier.scan(&number, Status::InTransit).unwrap();
    carried.webhooks_are_answered().await;
    assert_eq!(carried.receives_events().await, ["TRANSIT"]);
    assert_eq!(merchant.looks_at(&rma).await["sequence"], 3);

    for table in ["customer_order", "rma", "message", "credential", "access_token"] {
        assert_eq!(home.database.count(table).await, 0, "{table} is in the merchant's cell alone");
    }
    assert_eq!(second.database.count("rma").await, 1);
    let neighbour = home.merchant("bolt").await;
    assert_eq!(neighbour.looks_up("A-1").await.status, 404);
    assert_eq!(merchant.looks_up("A-1").await.status, 200);
}

#[tokio::test]
async fn a_portal_opens_by_handle_and_by_host_name_in_whatever_cell_it_is() {
    let (home, second) = World::of_two_cells().await;
    let (acme, bolt) = (second.merchant("acme").await.id, home.merchant("bolt").await.id);
    sets_host(&second, acme, "returns.acme.example").await.unwrap();
    sets_host(&home, bolt, "returns.bolt.example").await.unwrap();
    for (base, host, path) in [
        (&home.portal, "127.0.0.1", "/r/acme"),
        (&home.portal, "127.0.0.1", "/r/bolt"),
        (&home.portal, "returns.acme.example", "/"),
        (&home.portal, "returns.bolt.example", "/"),
        (&home.base, "returns.acme.example", "/"),
        (&home.base, "127.0.0.1", "/r/acme"),
    ] {
        let answer = home.client.get(format!("{base}{path}")).header("Host", host).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{host}{path}");
    }
    let nobody = home.client.get(format!("{}/r/nobody", home.portal)).send().await.unwrap();
    assert_eq!(nobody.status(), 404);
    let taken = sets_host(&home, bolt, "returns.acme.example").await;
    assert!(matches!(taken, Err(ConfigurePortalError::HostTaken(_))), "a host name leads to one merchant among all cells");
}

#[tokio::test]
async fn the_console_and_commands_work_for_a_merchant_in_the_second_cell() {
    let (home, second) = World::of_two_cells().await;
    let carried = second.shop_with_a_carrier("acme").await;
    carried.shop.merchant.sells("A-1", 1).await;
    home.merchant("bolt").await;
    let person = home.console(Role::Admin).await;
    for path in ["/merchants/acme", "/merchants/acme/endpoints", "/merchants/acme/orders/A-1", "/merchants/bolt", "/orders?merchant=acme"] {
        assert_eq!(person.get(path).await.status, 200, "{path}");
    }
    assert_eq!(person.get("/merchants/nobody").await.status, 404);

    let run = |words: &[&str]| backhaul(&second.database, words);
    let listed: Value = serde_json::from_str(&out(&run(&["merchant", "list", "-o", "json"]))).unwrap();
    let listed: Vec<(&str, &str)> =
        listed["items"].as_array().unwrap().iter().map(|item| (item["handle"].as_str().unwrap(), item["cell"].as_str().unwrap())).collect();
    assert_eq!(listed, [("acme", "b"), ("bolt", "main")]);
    assert!(out(&run(&["orders", "show", "--merchant", "acme", "A-1"])).contains("A-1"));
    out(&run(&["merchant", "rename", "acme", "--name", "Renamed"]));
    assert_eq!(second.database.texts("select name from merchant").await, ["Renamed"]);
    err(&run(&["orders", "show", "--merchant", "bolt", "A-1"]));

    let cells: Value = serde_json::from_str(&out(&run(&["cell", "list", "-o", "json"]))).unwrap();
    let cells = cells["items"].as_array().unwrap();
    let told: Vec<_> = cells.iter().map(|cell| (cell["name"].as_str(), cell["state"].as_str(), cell["merchants"].as_i64())).collect();
    assert_eq!(told, [(Some("main"), Some("open"), Some(1)), (Some("b"), Some("open"), Some(1))]);
    out(&run(&["cell", "drain", "main", "--yes"]));
    out(&run(&["merchant", "add", "coda", "--name", "Coda"]));
    assert_eq!(second.database.texts("select handle from merchant order by 1").await, ["acme", "coda"]);
    let drains = err(&run(&["merchant", "add", "dune", "--name", "Dune", "--cell", "main"]));
    assert!(drains.contains("takes no new merchants"), "{drains}");
    out(&run(&["cell", "open", "main"]));
    out(&run(&["merchant", "add", "dune", "--name", "Dune"]));
    assert_eq!(home.database.texts("select handle from merchant order by 1").await, ["bolt", "dune"], "into the cell with fewer");
    if !second.database.is_on_a_cluster() {
        let alone = err(&run(&["cell", "move", "b", "--to", "db-2.example.com:5432", "--yes"]));
        assert!(alone.contains("not on a cluster"), "{alone}");
    }
}

#[tokio::test]
async fn a_merchant_that_moves_is_answered_by_its_new_cell_within_a_heartbeat() {
    let (home, second) = World::of_two_cells().await;
    let carried = home.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    merchant.publishes(&message([sold("A-1", 1), sold("A-2", 1)])).await;
    merchant.starts_a_return("A-1", 1).await;
    let (_, cursor) = merchant.follows(events::beginning(), 1, 1).await;
    heartbeat::beat(&home.process, 1).await.unwrap();
    assert_eq!(merchant.looks_up("A-1").await.status, 200);

    moves(&home, &second, merchant.id).await;
    // This process has not learned of it yet: nothing is written into the old cell, and the refusal tells it to look again.
    assert_eq!(merchant.publishes(&message([sold("A-3", 1)])).await.status, 503);
    assert_eq!(merchant.publishes(&message([sold("A-3", 1)])).await.results(), ["created"]);
    heartbeat::beat(&home.process, 2).await.unwrap();
    assert_eq!(merchant.looks_up("A-1").await.status, 200, "with the same token");
    assert_eq!(merchant.gets_a_token().await.len(), merchant.token.len(), "with the same credential");
    assert_eq!(home.client.get(format!("{}/r/acme", home.portal)).send().await.unwrap().status(), 200, "by its handle too");
    second.deliver_all_due().await;
    let moved = seen_from(&second, merchant);
    let (events, _) = moved.follows(cursor, 1, 10).await;
    assert_eq!(events[0]["position"], 2, "the feed continues behind the same cursor");
    assert_eq!(home.database.count("customer_order").await, 0);
    let cell = directory::cell_of(home.app.home(), merchant.id).await.unwrap();
    assert_eq!(cell.as_deref(), Some("b"));
}

#[tokio::test]
async fn a_cell_is_drained_at_a_terminal() {
    let (home, second) = World::of_two_cells().await;
    home.merchant("acme").await.sells("A-1", 1).await;
    let run = |words: &[&str]| backhaul(&second.database, words);
    let drained = run(&["cell", "drain", "main", "--merchants", "--yes"]);
    let told = String::from_utf8(drained.stderr.clone()).unwrap();
    out(&drained);
    assert!(["acme: moving to b", "paused", "switched", "customer_order", "done"].iter().all(|step| told.contains(step)), "{told}");
    assert_eq!(home.database.count("merchant").await, 0);
    assert_eq!(second.database.texts("select identifier from customer_order").await, ["A-1"]);
    assert!(out(&run(&["merchant", "move", "acme", "--to", "b", "--yes"])).contains("already"));
    assert!(err(&run(&["merchant", "move", "acme", "--abort", "--yes"])).contains("no move"));
    assert!(err(&run(&["merchant", "move", "acme", "--to", "c", "--yes"])).contains("name no cell `c`"));
}

#[tokio::test]
async fn an_unknown_client_is_refused_only_if_every_cell_has_answered() {
    let (home, second) = World::of_two_cells().await;
    let merchant = second.merchant("acme").await;
    let unknown = json!({ "grant_type": "client_credentials", "client_id": "bhc_nobody", "client_secret": "bhs_nothing" });
    assert_eq!(home.asks_for_a_token(&unknown).await.status, 401);
    let wrong = json!({ "grant_type": "client_credentials", "client_id": merchant.client_id, "client_secret": "bhs_wrong" });
    assert_eq!(home.asks_for_a_token(&wrong).await.status, 401);
    second.database.rename("credential", "hidden").await;
    let reply = home.asks_for_a_token(&unknown).await;
    assert!(reply.status.is_server_error(), "{}", reply.text);
    let there = home.merchant("bolt").await;
    assert_eq!(there.looks_up("A-1").await.status, 404, "the first cell goes on working");
}

#[tokio::test]
async fn what_is_known_is_used_while_the_directory_does_not_answer() {
    let (home, second) = World::of_two_cells().await;
    let known = second.merchant("acme").await;
    known.sells("A-1", 1).await;
    let unknown = second.merchant("coda").await;
    home.database.execute("update directory set generation = generation + 1").await;
    heartbeat::beat(&home.process, 1).await.unwrap();
    assert_eq!(known.looks_up("A-1").await.status, 200, "looked up anew, which the other one is not");
    home.database.rename("merchant_cell", "hidden").await;
    assert_eq!(known.looks_up("A-1").await.status, 200, "it is remembered");
    let refused = unknown.looks_up("A-1").await;
    assert!(refused.status.is_server_error(), "{}", refused.text);
    home.database.rename("hidden", "merchant_cell").await;
    assert_eq!(unknown.looks_up("A-1").await.status, 404);
}

#[tokio::test]
async fn a_place_in_a_cell_that_the_settings_do_not_name_is_an_outage_of_that_merchant_alone() {
    let (home, second) = World::of_two_cells().await;
    let (lost, other) = (second.merchant("acme").await, second.merchant("bolt").await);
    home.database
        .execute("update merchant_cell set cell = 'c' where handle = 'acme'; update directory set generation = generation + 1")
        .await;
    heartbeat::beat(&home.process, 1).await.unwrap();
    let reply = lost.looks_up("A-1").await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{}", reply.text);
    assert!(!reply.header("retry-after").is_empty());
    let page = home.client.get(format!("{}/r/acme", home.portal)).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::SERVICE_UNAVAILABLE, "a page for people");
    assert!(page.text().await.unwrap().contains("<html"));
    assert_eq!(other.looks_up("A-1").await.status, 404);
    let checked = backhaul(&second.database, &["doctor"]);
    let told = String::from_utf8(checked.stdout).unwrap();
    assert!(told.contains("the settings do not name: c"), "{told}");
}

#[tokio::test]
async fn a_handle_belongs_to_one_merchant_among_all_cells() {
    let (home, second) = World::of_two_cells().await;
    second.merchant("acme").await;
    let add = async |name: &str, cell| {
        let handle = handle(name);
        let new = NewMerchant { handle: &handle, name: "Again", technical_contact: None, cell };
        add_merchant_to(&home.app, "test", &new).await
    };
    for cell in [None, Some("main"), Some("b")] {
        assert!(matches!(add("acme", cell).await, Err(ConfigureError::HandleTaken(_))), "{cell:?}");
    }
    assert!(matches!(add("bolt", Some("c")).await, Err(ConfigureError::NoSuchCell(_))));

    // Whoever added it ended after the place was reserved, or after the merchant was there.
    for there in [false, true] {
        let (name, id) = (format!("coda-{there}"), MerchantId(home.app.mint()));
        let mut tx = home.app.begin_home().await.unwrap();
        directory::reserve(&mut tx, id, &handle(&name), "b", home.app.now()).await.unwrap();
        home.app.commit_home(tx).await.unwrap();
        if there {
            let mut tx = second.app.begin(id).await.unwrap();
            store::merchants::accounts::insert(&mut tx, &handle(&name), "First", None, home.app.now()).await.unwrap();
            second.app.commit(tx).await.unwrap();
        }
        assert_eq!(add(&name, None).await.unwrap(), id, "it is continued");
        assert!(matches!(add(&name, None).await, Err(ConfigureError::HandleTaken(_))), "once");
    }
    assert_eq!(second.database.count("merchant").await, 3);
}

#[tokio::test]
async fn a_rotated_secret_works_in_the_second_cell() {
    let (home, second) = World::of_two_cells().await;
    let merchant = second.merchant("acme").await;
    let body = json!({ "client_id": merchant.client_id, "client_secret": merchant.client_secret });
    let rotated = home.ask(Method::POST, "/v1/credentials/rotate", |request| request.json(&body)).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    let renewed = Merchant { client_secret: rotated.body["client_secret"].as_str().unwrap().to_owned(), ..seen_from(&home, &merchant) };
    assert!(!renewed.gets_a_token().await.is_empty());
}
