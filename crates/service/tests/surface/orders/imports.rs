//! Imports of a merchant's history: every line stands alone, and an interrupted import resumes where it stopped.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Merchant, Reply, World, message, order, refund};

/// The counts of an import: created, updated, unchanged, stale, refused.
fn counts(import: &Value) -> [u64; 5] {
    let accepted = |name: &str| import["accepted"][name].as_u64().unwrap_or_else(|| panic!("{name} in {import}"));
    [accepted("created"), accepted("updated"), accepted("unchanged"), accepted("stale"), import["refused"].as_u64().unwrap()]
}

fn done(reply: &Reply) -> [u64; 5] {
    assert_eq!((reply.status.as_u16(), &reply.body["state"]), (200, &json!("done")), "{}", reply.text);
    counts(&reply.body)
}

fn id(reply: &Reply) -> &str {
    reply.body["import_id"].as_str().unwrap_or_else(|| panic!("no import: {}", reply.text))
}

async fn look_up(merchant: &Merchant<'_>, import: &str) -> Value {
    merchant.calls(Method::GET, &format!("/v1/order_imports/{import}"), |request| request).await.body
}

/// Every refused line, as `line identifier: field message; …`.
async fn report(merchant: &Merchant<'_>, import: &str) -> Vec<String> {
    let reply = merchant.calls(Method::GET, &format!("/v1/order_imports/{import}/refusals"), |request| request).await;
    assert_eq!((reply.status.as_u16(), &reply.body["next"]), (200, &Value::Null), "{}", reply.text);
    let text = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
    let summary = |refusal: &Value| {
        let errors =
            refusal["errors"].as_array().unwrap().iter().map(|fault| format!("{} {}", text(fault, "field"), text(fault, "message")));
        format!("{} {}: {}", refusal["line"], refusal["order_identifier"], errors.collect::<Vec<_>>().join("; "))
    };
    reply.body["items"].as_array().unwrap().iter().map(summary).collect()
}

/// The number of stored orders of the merchant, and of the snapshots taken of them.
async fn stored(merchant: &Merchant<'_>) -> (i64, i64) {
    let mut connection = merchant.world.database.connect().await;
    let counted = sqlx::query_as("select count(*), coalesce(sum(revision), 0)::bigint from customer_order where merchant_id = $1");
    counted.bind(merchant.id.0).fetch_one(&mut connection).await.unwrap()
}

fn bent(identifier: &str, field: &str, value: impl Into<Value>) -> Value {
    let mut order = order(identifier);
    order[field] = value.into();
    order
}

#[tokio::test]
async fn every_line_of_an_import_stands_alone() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut no_sku = order("4");
    no_sku["items"][0].as_object_mut().unwrap().remove("sku");
    let mut overcommitted = order("5");
    overcommitted["items"][0]["quantity_canceled"] = 1.into();
    let lines = [
        format!("\u{feff}{}", order("1")),
        String::new(),
        "   \r".to_owned(),
        no_sku.to_string(),
        overcommitted.to_string(),
        "{\"identifier\": \"6\"".to_owned(),
        "[]".to_owned(),
        format!("  {}  \r", order("8")),
        bent("9", "total_amount_cents", 1).to_string(),
    ];
    let reply = merchant.imports_text("", lines.join("\n")).await;
    assert_eq!((done(&reply), &reply.body["lines"]), ([3, 0, 0, 0, 4], &json!(9)));
    let message = reply.body["message"].as_str().unwrap();
    assert_eq!(
        message,
        format!(
            "Every line has been read: 3 orders accepted, 4 lines refused; GET /v1/order_imports/{}/refusals lists the reasons.",
            id(&reply)
        )
    );
    assert_eq!(
        report(&merchant, id(&reply)).await,
        [
            "4 \"4\": items[0].sku is required",
            "5 \"5\": items[0].quantity_shipped shipped and cancelled units together must not exceed quantity",
            "6 null:  ends unexpectedly (column 18)",
            "7 null:  must be an object",
        ]
    );
    assert_eq!(merchant.looks_up("8").await.body["order"], order("8"));
    assert_eq!(merchant.looks_up("9").await.body["warnings"][0]["field"], "total_amount_cents");
    assert_eq!(merchant.looks_up("4").await.status, 404);
    assert_eq!(world.metric("backhaul_orders_total{result=\"created\"}").await, 3);
    assert_eq!(look_up(&merchant, id(&reply)).await, reply.body);
    let listed = merchant.calls(Method::GET, "/v1/order_imports", |request| request).await.body;
    assert_eq!(listed, json!({ "items": [reply.body], "next": null }));
}

#[tokio::test]
async fn an_import_is_json_lines_and_nothing_else() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let send = async |content_type: &'static str| {
        let body = order("1").to_string();
        merchant.calls(Method::POST, "/v1/order_imports", |request| request.header("Content-Type", content_type).body(body)).await
    };
    for (content_type, status) in
        [("application/x-ndjson", 200), ("application/jsonl; charset=utf-8", 200), ("application/json", 415), ("text/plain", 415)]
    {
        assert_eq!(send(content_type).await.status, status, "{content_type}");
    }
    let nothing = merchant.imports_text("", "").await;
    assert_eq!((done(&nothing), &nothing.body["lines"]), ([0; 5], &json!(0)));
}

#[tokio::test]
async fn the_newest_snapshot_of_a_file_stands_wherever_it_is() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([bent("1", "updated_at", "2026-02-01T00:00:00Z"), order("2")])).await.results();
    let lines = [
        bent("1", "updated_at", "2026-01-31T00:00:00Z"),
        order("2"),
        bent("3", "updated_at", "2026-01-03T00:00:00Z"),
        bent("3", "updated_at", "2026-01-02T00:00:00Z"),
        bent("3", "updated_at", "2026-01-03T00:00:00Z"),
        bent("3", "updated_at", "2026-01-04T00:00:00Z"),
    ];
    let reply = merchant.imports(&lines).await;
    assert_eq!(done(&reply), [1, 1, 1 + 1, 1 + 1, 0]);
    assert_eq!(merchant.looks_up("1").await.body["order"]["updated_at"], "2026-02-01T00:00:00Z");
    assert_eq!(merchant.looks_up("3").await.body["order"]["updated_at"], "2026-01-04T00:00:00Z");
}

#[tokio::test]
async fn of_the_same_order_and_time_the_last_line_wins_however_far_apart_they_are() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    // Seven hundred orders, three times: some repeats are close enough to be processed together, others are not.
    let lines: Vec<Value> = (0..2_100).map(|at| bent(&(at % 700).to_string(), "raw_status", at.to_string())).collect();
    assert_eq!(done(&merchant.imports(&lines).await), [700, 1_400, 0, 0, 0]);
    let mut connection = world.database.connect().await;
    let wrong: i64 = sqlx::query_scalar(
        "select count(*) from customer_order where (snapshot::json ->> 'raw_status')::int <> 1400 + identifier::int or revision <> 3",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(wrong, 0);
}

#[tokio::test]
async fn an_import_goes_on_beside_whoever_writes_the_same_orders() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let lines: Vec<Value> = (0..1_600).map(|at| order(&format!("{at:04}"))).collect();
    // Messages that lock orders of several chunks at once, in another order than the file.
    let events = async {
        let mut results = Vec::new();
        for at in 0..40 {
            let orders = [0, 400, 800, 1_200].map(|from| bent(&format!("{:04}", 1_599 - from - at), "updated_at", "2026-02-01T00:00:00Z"));
            results.extend(merchant.publishes(&message(orders)).await.results().into_iter().map(str::to_owned));
        }
        results
    };
    let (import, events) = tokio::join!(merchant.imports(&lines), events);
    let [created, updated, unchanged, stale, refused] = done(&import);
    assert_eq!((created + stale, updated, unchanged, refused), (1_600, 0, 0, 0));
    let events = |word: &str| events.iter().filter(|result| *result == word).count() as u64;
    assert_eq!((events("created"), events("updated")), (stale, 160 - stale));
    assert_eq!(stored(&merchant).await, (1_600, i64::try_from(1_760 - stale).unwrap()));
}

#[tokio::test]
async fn refunds_that_do_not_agree_with_the_record_are_imported_too() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([bent("1", "refunds", json!([refund("R1", 1)]))])).await.results();
    let lines = [
        bent("0", "raw_status", "fine"),
        // The recorded refund again, and then with another total.
        bent("1", "refunds", json!([refund("R1", 1)])),
        bent("2", "refunds", json!([refund("R2", 1)])),
        bent("1", "refunds", json!([refund("R1", 2)])),
        // The order 2 has an R2, too.
        bent("3", "refunds", json!([refund("R2", 1)])),
        bent("4", "refunds", json!([refund("R4", 2)])),
        // With R4, three units of two.
        bent("4", "refunds", json!([refund("R5", 1)])),
    ];
    let reply = merchant.imports(&lines).await;
    assert_eq!(done(&reply), [4, 2, 1, 0, 0], "{:?}", report(&merchant, id(&reply)).await);
    for (identifier, refunds) in [("1", vec!["R1"]), ("2", vec!["R2"]), ("3", vec!["R2"]), ("4", vec!["R4", "R5"])] {
        let body = merchant.looks_up(identifier).await.body;
        let recorded: Vec<&str> = body["refunds"].as_array().unwrap().iter().map(|refund| refund["identifier"].as_str().unwrap()).collect();
        assert_eq!(recorded, refunds, "{identifier}");
    }
    assert_eq!(world.metric("backhaul_refunds_recorded_total").await, 5);
    // Importing the same file again records nothing new.
    assert_eq!(done(&merchant.imports(&lines).await)[4], 0);
    assert_eq!(world.metric("backhaul_refunds_recorded_total").await, 5);
}

#[tokio::test]
async fn an_import_may_be_larger_than_a_message_and_a_line_may_not() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let padding = "x".repeat(60_000);
    let mut lines: Vec<String> = (0..120).map(|at| bent(&at.to_string(), "padding", padding.as_str()).to_string()).collect();
    lines[7] = bent("long", "padding", "x".repeat(1024 * 1024)).to_string();
    let body = lines.join("\n");
    assert!(body.len() > 7 * 1024 * 1024);
    let reply = merchant.imports_text("", body).await;
    assert_eq!(done(&reply), [119, 0, 0, 0, 1]);
    assert_eq!(report(&merchant, id(&reply)).await, ["8 null:  is longer than the limit of 1048576 bytes (1 MiB) a line"]);
    assert_eq!(stored(&merchant).await, (119, 119));
}

#[tokio::test]
async fn a_report_is_read_in_pages() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let reply = merchant.imports_text("", "{}\n".repeat(1_203)).await;
    assert_eq!(done(&reply), [0, 0, 0, 0, 1_203]);
    let page = async |query: &str| {
        let path = format!("/v1/order_imports/{}/refusals{query}", id(&reply));
        let page = merchant.calls(Method::GET, &path, |request| request).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let lines: Vec<u64> = page.body["items"].as_array().unwrap().iter().map(|refusal| refusal["line"].as_u64().unwrap()).collect();
        (lines, page.body["next"].as_str().map(ToOwned::to_owned))
    };
    assert_eq!(page("").await, ((1..=50).collect(), Some("50".to_owned())));
    assert_eq!(page("?limit=100").await, ((1..=100).collect(), Some("100".to_owned())));
    assert_eq!(page("?limit=100&cursor=1100").await, ((1_101..=1_200).collect(), Some("1200".to_owned())));
    assert_eq!(page("?limit=3&cursor=1200").await, ((1_201..=1_203).collect(), None));
    assert_eq!(page("?cursor=1203").await, (Vec::new(), None));
    for wrong in ["?limit=0", "?limit=101", "?limit=x", "?cursor=-1", "?cursor=18446744073709551615"] {
        let path = format!("/v1/order_imports/{}/refusals{wrong}", id(&reply));
        assert_eq!(merchant.calls(Method::GET, &path, |request| request).await.status, 400, "{wrong}");
    }
}

/// A request that sends part of its body and keeps the connection open.
pub(super) async fn open_import(merchant: &Merchant<'_>, query: &str, length: usize, sent: &[u8]) -> TcpStream {
    let address = merchant.world.base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/order_imports{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Type: application/x-ndjson\r\nContent-Length: {length}\r\n\r\n",
        merchant.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(sent).await.unwrap();
    stream
}

/// The merchant's only import, once `wanted` holds for it.
pub(super) async fn only_import(merchant: &Merchant<'_>, wanted: impl Fn(&Value) -> bool) -> Value {
    let asking = async {
        loop {
            let listed = merchant.calls(Method::GET, "/v1/order_imports", |request| request).await.body;
            let import = listed["items"][0].clone();
            if import.is_object() && wanted(&import) {
                return import;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), asking).await.unwrap()
}

#[tokio::test]
async fn an_import_that_broke_off_goes_on_where_it_was() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut lines: Vec<String> = (0..1_700).map(|at| format!("{}\n", order(&at.to_string()))).collect();
    lines[3] = "nonsense\n".to_owned();
    lines[1_600] = "nonsense\n".to_owned();
    let file = lines.concat();
    // In the middle of a line.
    let half = lines[..1_100].concat().len() + 20;
    let stream = open_import(&merchant, "", file.len(), &file.as_bytes()[..half]).await;
    let running = only_import(&merchant, |import| import["lines"].as_u64().unwrap() >= 500).await;
    assert_eq!(running["state"], "running");
    drop(stream);
    let broken = only_import(&merchant, |import| import["state"] == "interrupted").await;
    assert_eq!((&broken["lines"], counts(&broken)), (&json!(1_100), [1_099, 0, 0, 0, 1]), "every complete line is stored");
    assert_eq!(stored(&merchant).await, (1_099, 1_099));
    let import = broken["import_id"].as_str().unwrap();
    assert!(broken["message"].as_str().unwrap().ends_with(&format!("POST /v1/order_imports?resume={import}.")), "{broken}");

    // Another file that is too short changes nothing.
    let short = merchant.imports_text(&format!("?resume={import}"), lines[..5].concat()).await;
    assert_eq!(short.status, 400, "{}", short.text);
    assert!(short.text.contains("the file has 5 lines, but 1100 are done already"), "{}", short.text);

    let reply = merchant.imports_text(&format!("?resume={import}"), file.clone()).await;
    assert_eq!((done(&reply), &reply.body["lines"]), ([1_698, 0, 0, 0, 2], &json!(1_700)));
    assert_eq!(stored(&merchant).await, (1_698, 1_698), "no order is lost, and no line is taken twice");
    let refused: Vec<String> = report(&merchant, import).await;
    assert_eq!(refused.iter().map(|line| line.split(' ').next().unwrap()).collect::<Vec<_>>(), ["4", "1601"]);

    // An import that is done stays as it is.
    let again = merchant.imports_text(&format!("?resume={import}"), file).await;
    assert_eq!((done(&again), again.body), ([1_698, 0, 0, 0, 2], reply.body));
}

#[tokio::test]
async fn an_import_has_one_run_at_a_time() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let file = format!("{}\n{}\n", order("1"), order("2"));
    let mut first = open_import(&merchant, "", file.len(), &file.as_bytes()[..file.len() - 5]).await;
    let running = only_import(&merchant, |_| true).await;
    let resume = format!("?resume={}", running["import_id"].as_str().unwrap());
    let second = merchant.imports_text(&resume, file.clone()).await;
    assert_eq!(second.status, 409, "{}", second.text);
    assert_eq!(stored(&merchant).await.0, 0);

    // The first is silent for so long that another node takes over; after that the first can do no harm.
    world.time_passes(Duration::from_secs(16));
    assert_eq!(look_up(&merchant, running["import_id"].as_str().unwrap()).await["state"], "interrupted");
    let node = world.second_node().await;
    let there =
        Merchant { world: &node, id: merchant.id, client_id: String::new(), client_secret: String::new(), token: merchant.token.clone() };
    assert_eq!(done(&there.imports_text(&resume, file.clone()).await), [2, 0, 0, 0, 0]);
    first.write_all(&file.as_bytes()[file.len() - 5..]).await.unwrap();
    let mut answer = String::new();
    first.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 409 "), "{answer}");
    assert_eq!(stored(&merchant).await, (2, 2));
    assert_eq!(counts(&look_up(&merchant, running["import_id"].as_str().unwrap()).await), [2, 0, 0, 0, 0]);
}

#[tokio::test]
async fn an_import_of_another_merchant_is_as_good_as_none() {
    let world = World::new().await;
    let (acme, zeta) = (world.merchant("acme").await, world.merchant("zeta").await);
    let import = acme.imports(&[order("1")]).await;
    for import in [id(&import), "01890000-0000-7000-8000-000000000000", "nonsense"] {
        assert_eq!(zeta.imports_text(&format!("?resume={import}"), order("1").to_string()).await.status, 404, "{import}");
        for path in [format!("/v1/order_imports/{import}"), format!("/v1/order_imports/{import}/refusals")] {
            assert_eq!(zeta.calls(Method::GET, &path, |request| request).await.status, 404, "{path}");
        }
    }
    assert_eq!(zeta.calls(Method::GET, "/v1/order_imports", |request| request).await.body, json!({ "items": [], "next": null }));
    assert_eq!(stored(&zeta).await.0, 0);
}
