//! Whatever looks across merchants looks across cells: the console's lists and figures, the operator's commands, and the metrics.

use std::collections::HashSet;
use std::process::Output;
use std::time::Duration;

use backhaul::flow::merchants::move_merchant::{Cell, Moving, move_merchant};
use domain::merchants::operator::Role;
use domain::returns::work::WorkKind;
use serde_json::Value;
use store::returns::work_items::{self, WorkItem};
use uuid::Uuid;

use crate::binary::{command, out};
use crate::messages::console_pages::{encoded, given_up, group_of, hidden};
use crate::world::console::{Console, between};
use crate::world::receiver::{Receiver, impatient};
use crate::world::two_cells::second_cell;
use crate::world::{World, scan, units_of};

/// The rows of a page: the address that each begins with.
fn links(page: &str, begin: &str) -> Vec<String> {
    links_like(page, "plain", begin)
}

/// The addresses of links of a class.
fn links_like(page: &str, class: &str, begin: &str) -> Vec<String> {
    let mark = format!("class=\"{class}\" href=\"");
    let found = page.split(&mark).skip(1).filter(|rest| rest.starts_with(begin));
    found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// The address of the next page, if there is one.
fn next(page: &str, label: &str) -> Option<String> {
    let before = page.split(&format!(">{label}</a>")).next().filter(|before| before.len() < page.len())?;
    let link = before.rsplit("href=\"").next()?.split('"').next()?;
    Some(link.replace("&amp;", "&").replace("&#38;", "&"))
}

/// The rows of all pages of a list.
async fn all_pages(console: &Console<'_>, first: &str, label: &str, (class, begin): (&str, &str)) -> Vec<String> {
    let (mut found, mut at) = (Vec::new(), Some(first.to_owned()));
    while let Some(path) = at {
        let page = console.get(&path).await.page();
        found.extend(links_like(&page, class, begin));
        at = next(&page, label);
        assert!(found.len() < 1_000, "the pages have no end");
    }
    found
}

/// Runs a command of the operator on both cells.
fn runs((here, there): (&World, &World), words: &[&str]) -> Output {
    let (name, cells) = second_cell(&there.database.url);
    command(&here.database).env(name, cells).args(words).output().unwrap()
}

fn rows(output: &Output) -> Vec<Value> {
    let body: Value = serde_json::from_str(&out(output)).unwrap();
    body["items"].as_array().unwrap_or_else(|| body.as_array().unwrap()).clone()
}

/// The rows of all pages of a command.
fn all_rows(cells: (&World, &World), words: &[&str]) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let further: Vec<&str> = cursor.as_deref().map(|cursor| ["--cursor", cursor]).into_iter().flatten().collect();
        let output = runs(cells, &[words, &["-o", "json"], &further].concat());
        found.extend(rows(&output));
        let body: Value = serde_json::from_str(&out(&output)).unwrap();
        match body["next"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return found,
        }
    }
}

fn texts(rows: &[Value], field: &str) -> Vec<String> {
    rows.iter().map(|row| row[field].as_str().unwrap_or_default().to_owned()).collect()
}

/// Opens `count` cases of a merchant.
async fn has_cases(receiver: &Receiver<'_>, count: usize) -> Vec<Uuid> {
    let app = &receiver.world.app;
    let mut tx = app.begin(receiver.merchant).await.unwrap();
    let mut ids = Vec::new();
    for number in 0..count {
        let case = WorkItem {
            id: app.mint(),
            kind: WorkKind::LabelRefused,
            subject: format!("R-{number}"),
            reason: "no".to_owned(),
            opened_at: app.now(),
        };
        work_items::open(&mut tx, &case).await.unwrap();
        ids.push(case.id);
    }
    tx.commit().await.unwrap();
    ids
}

#[tokio::test]
async fn today_adds_up_what_needs_somebody_in_all_cells() {
    let (here, there) = World::of_two_cells().await;
    let (acme, zeta) = (here.receiver_with("acme", impatient()).await, there.receiver_with("zeta", impatient()).await);
    given_up(&acme, 1).await;
    given_up(&zeta, 2).await;
    let mut cases = has_cases(&acme, 60).await;
    cases.extend(has_cases(&zeta, 70).await);
    let yard = there.yard("pebble").await;
    yard.merchant.announces("ASN-1", &[units_of("SKU-1", 1)]).await;
    yard.merchant.scans(&[scan("ASN-unknown", "U-1")]).await;
    let fails = "insert into endpoint_notice (merchant_id, endpoint_id, sequence, failing_since)
        select merchant_id, endpoint_id, 0, timestamptz '2026-03-01 11:00Z' from endpoint where interface = 'rma'
        on conflict (merchant_id, endpoint_id) do update set failing_since = excluded.failing_since";
    for world in [&here, &there] {
        sqlx::raw_sql(fails).execute(&mut world.database.connect().await).await.unwrap();
    }
    let console = here.console(Role::Support).await;
    let page = console.get("/").await.page();
    for shown in [
        "3 messages are in the failure queue",
        "130 labels were refused by the carrier",
        "1 receiving exception<",
        "/merchants/acme/endpoints/rma",
        "/merchants/zeta/endpoints/rma",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("does not answer"), "{page}");
    let list = console.get("/cases?kind=label_refused").await.page();
    assert!(list.contains("<h1>Labels refused: 130</h1>"), "{list}");
    let shown = all_pages(&console, "/cases?kind=label_refused", "Newer", ("btn sm", "/cases/")).await;
    cases.sort();
    let listed: Vec<Uuid> = shown.iter().map(|at| between(at, "/cases/", "?").split_once('/').unwrap().1.parse().unwrap()).collect();
    assert_eq!(listed, cases, "each case is listed once, the oldest first");
}

#[tokio::test]
async fn the_failure_queue_is_paged_through_all_cells_without_loss_or_doubles() {
    let (here, there) = World::of_two_cells().await;
    let mut all = HashSet::new();
    // Merchants of the cells alternate, and one cell has many more groups.
    for number in 0..6 {
        let world = if number % 2 == 0 { &here } else { &there };
        let receiver = world.receiver_with(&format!("m-{number}"), impatient()).await;
        let groups = if number % 2 == 0 { 2 } else { 13 };
        given_up(&receiver, groups).await;
        for group in 0..groups {
            let reason = format!("r{group}");
            let split = format!(
                "update failure set reason = '{reason}' where message_id = (
                    select message_id from failure where merchant_id = '{}' and reason not like 'r%' limit 1
                )",
                receiver.merchant
            );
            sqlx::query(sqlx::AssertSqlSafe(split)).execute(&mut world.database.connect().await).await.unwrap();
            assert!(all.insert((format!("m-{number}"), reason)));
        }
    }
    assert_eq!(all.len(), 45);
    let console = here.console(Role::Viewer).await;
    let shown = all_pages(&console, "/failures", "More groups", ("plain", "/failures/group?")).await;
    let key = |at: &String| {
        let field = |name: &str| between(&format!("{at}&#38;"), &format!("{name}="), "&#38;").to_owned();
        (field("merchant"), field("reason"))
    };
    let listed: Vec<(String, String)> = shown.iter().map(key).collect();
    assert_eq!(listed.iter().cloned().collect::<HashSet<_>>(), all);
    assert_eq!(listed.len(), all.len(), "no group is listed twice");
    for limit in ["4", "100"] {
        let listed = all_rows((&here, &there), &["failures", "list", "--all-merchants", "--limit", limit]);
        let keys: Vec<(String, String)> = texts(&listed, "merchant").into_iter().zip(texts(&listed, "reason")).collect();
        assert_eq!(keys.iter().cloned().collect::<HashSet<_>>(), all, "{limit}");
        assert_eq!(keys.len(), all.len(), "{limit}");
    }
}

#[tokio::test]
async fn failures_in_the_second_cell_are_worked_on_by_the_forms_of_their_pages() {
    let (here, there) = World::of_two_cells().await;
    let receiver = there.receiver_with("acme", impatient()).await;
    given_up(&receiver, 2).await;
    let console = here.console(Role::Support).await;
    let group = group_of(&console, "acme").await;
    let page = console.get(&group).await.page();
    let action = format!("/failures/work{}", between(&page, "method=\"post\" action=\"/failures/work", "\""));
    let fields = [hidden(&group), encoded(&[("note", "their firewall")])].concat();
    assert_eq!(console.post(&action, &fields).await.status, 303, "{action}");
    assert!(console.get(&group).await.page().contains("their firewall"));
    assert_eq!((there.database.count("failure_note").await, here.database.count("failure_note").await), (2, 0));
}

#[tokio::test]
async fn what_a_merchant_of_the_second_cell_has_is_found_and_listed() {
    let (here, there) = World::of_two_cells().await;
    let (first, second) = (here.shop("acme").await, there.shop("zeta").await);
    for shop in [&first, &second] {
        shop.merchant.sells("O-1", 1).await;
    }
    second.merchant.sells("O-2", 1).await;
    let older = first.merchant.starts_a_return("O-1", 1).await;
    let newer = second.merchant.starts_a_return("O-1", 1).await;
    let console = here.console(Role::Support).await;

    let found = console.get("/search?q=O-1").await.page();
    assert!(found.contains("/merchants/acme/orders/O-1") && found.contains("/merchants/zeta/orders/O-1"), "{found}");
    assert!(console.get("/search?q=O-2").await.page().contains("/merchants/zeta/orders/O-2"));
    assert!(console.get(&format!("/search?q={newer}")).await.page().contains(&format!("/merchants/zeta/returns/{newer}")));
    let message = there.database.texts("select message_id::text from message where kind = 'rma' limit 1").await.remove(0);
    let asked = console.post("/search", &[("q", message.as_str())]).await;
    assert_eq!(asked.location, format!("/merchants/zeta/messages/{message}"));
    let lead = console.post("/search", &[("q", "pat@example.com")]).await.location;
    let shoppers = console.get(&lead).await.page();
    assert!(shoppers.contains("/merchants/acme/orders/O-1") && shoppers.contains("/merchants/zeta/orders/O-2"), "{shoppers}");

    let returns = links(&console.get("/returns").await.page(), "/merchants/");
    let at = |rma: &str| returns.iter().position(|link| link.ends_with(rma)).unwrap_or_else(|| panic!("{rma}: {returns:?}"));
    assert!(at(&newer) < at(&older), "the newest first");
    let merchants = console.get("/merchants").await.page();
    let places = ["acme", "zeta"].map(|handle| merchants.find(&format!("<code class=\"faint\">{handle}</code>")).unwrap());
    assert!(places[0] < places[1], "{merchants}");
    for (handle, cell) in [("acme", "main"), ("zeta", "b")] {
        let row = between(&merchants, &format!("<code class=\"faint\">{handle}</code>"), "</tr>");
        assert!(row.contains(&format!("<td data-l=\"Cell\"><code>{cell}</code></td>")), "{row}");
    }
    assert!(console.get("/merchants?q=zet").await.page().contains("/merchants/zeta"));

    let both = (&here, &there);
    let orders = rows(&runs(both, &["orders", "find", "O-1", "-o", "json"]));
    assert_eq!(orders.iter().filter(|row| row["kind"] == "order").count(), 2, "{orders:?}");
    let found = rows(&runs(both, &["shopper", "find", "pat@example.com", "-o", "json"]));
    let shoppers: HashSet<String> = texts(&found, "merchant").into_iter().collect();
    assert_eq!(shoppers.len(), 2, "{found:?}");
    let found = rows(&runs(both, &["orders", "find", &message, "-o", "json"]));
    assert_eq!((texts(&found, "kind"), texts(&found, "merchant")), (vec!["message".to_owned()], vec!["zeta".to_owned()]));
    let endpoints = all_rows(both, &["endpoint", "list", "--all-merchants", "--limit", "1"]);
    assert_eq!(texts(&endpoints, "merchant"), ["acme", "zeta"]);
    let messages = all_rows(both, &["messages", "list", "--all-merchants", "--limit", "1"]);
    assert_eq!(texts(&messages, "merchant"), ["zeta", "acme"], "the newest first");
    assert_eq!(links(&console.get("/messages").await.page(), "/merchants/").iter().filter(|link| link.contains("/messages/")).count(), 2);
}

#[tokio::test]
async fn the_audit_of_all_cells_is_one_trail_and_a_merchant_that_has_moved_is_in_it_once() {
    let (here, there) = World::of_two_cells().await;
    let moved = here.receiver("acme").await;
    there.receiver("zeta").await;
    here.time_passes(Duration::from_mins(1));
    let moving = Moving {
        home: &here.app,
        from: Cell { name: "main", app: &here.app },
        to: Cell { name: "b", app: &there.app },
        merchant: moved.merchant,
        actor: "test",
        mover: Uuid::from_u128(7),
        calls_end_within: Duration::ZERO,
        nodes_learn_within: Duration::ZERO,
        watch: &|_| Ok(()),
    };
    move_merchant(&moving).await.unwrap();
    let entries = all_rows((&here, &there), &["audit", "list", "--limit", "2"]);
    let ids = texts(&entries, "audit_id");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{entries:?}");
    let whose = |handle: &str| entries.iter().filter(|entry| entry["merchant"] == handle).count();
    assert!(whose("acme") >= 3 && whose("zeta") >= 2, "the handle is known in the new cell: {entries:?}");
    let times = texts(&entries, "at");
    assert!(times.is_sorted_by(|one, next| one >= next), "the newest first: {times:?}");
    let console = here.console(Role::Manager).await;
    let page = console.get("/audit").await.page();
    assert!(page.contains("merchant.moved") && page.contains("zeta"), "{page}");
    let chains = rows(&runs((&here, &there), &["audit", "verify", "-o", "json"]));
    assert_eq!(chains.len(), 4, "what belongs to none, both merchants, and what one left behind: {chains:?}");
    assert!(chains.iter().all(|chain| chain["result"] == "whole"), "{chains:?}");
}

#[tokio::test]
async fn reports_and_processes_of_all_cells_are_added_up_and_gauges_are_told_apart() {
    let (here, there) = World::of_two_cells().await;
    let (acme, zeta) = (here.receiver("acme").await, there.receiver("zeta").await);
    for (receiver, count) in [(&acme, 2), (&zeta, 3)] {
        for number in 0..count {
            receiver.is_owed(&format!("R-{number}"), 1).await;
        }
        receiver.world.deliver_all_due().await;
        assert_eq!(receiver.arrived().len(), count);
    }
    here.time_passes(Duration::from_hours(3));
    here.timers_run().await;
    there.timers_run().await;
    let console = here.console(Role::Viewer).await;
    let csv = console.get("/reports.csv?plot=answers").await.page();
    assert!(csv.lines().any(|line| line == "2026-03-01,rma,200,5"), "{csv}");

    let deliverers = rows(&runs((&here, &there), &["deliverers", "-o", "json"]));
    assert_eq!(texts(&deliverers, "cell"), ["main", "b"], "{deliverers:?}");
    let page = console.get("/system").await.page();
    assert!(page.contains("all 512 buckets held"), "{page}");
    for (cell, merchants) in [("main", 1), ("b", 1)] {
        let row = between(&page, &format!("<tr><th scope=\"row\"><code>{cell}</code></th>"), "</tr>");
        assert!(row.contains(">Sound<") && row.contains("up to date") && row.contains(&format!(">{merchants}</a>")), "{row}");
    }
    for metric in ["backhaul_delivery_buckets", r#"backhaul_delivery_buckets{cell="b"}"#] {
        here.shows(metric, 256).await;
    }
}

#[tokio::test]
async fn a_cell_that_does_not_answer_is_named_and_the_others_are_shown() {
    let world = World::with_a_silent_cell().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 2).await;
    let console = world.console(Role::Admin).await;
    let today = console.get("/").await.page();
    assert!(today.contains("The cell <code>b</code> does not answer") && today.contains("2 messages are in the failure queue"), "{today}");
    let system = console.get("/system").await.page();
    let row = between(&system, "<tr><th scope=\"row\"><code>b</code></th>", "</tr>");
    assert!(row.contains("Does not answer"), "{row}");
    assert!(system.contains("database of <code>b</code>") && system.contains("it is told once all of them answer"), "{system}");
    assert!(system.contains("Processes that deliver"), "{system}");
}

#[tokio::test]
async fn with_one_cell_no_page_speaks_of_cells() {
    let world = World::of_one_cell().await;
    world.receiver("acme").await;
    world.deliver_all_due().await;
    let console = world.console(Role::Viewer).await;
    for path in ["/", "/system", "/merchants", "/merchants/acme"] {
        let page = console.get(path).await.page();
        assert!(!page.contains(">Cell<") && !page.contains("Cells") && !page.contains("the cell"), "{path}: {page}");
    }
}
