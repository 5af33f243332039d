//! The log of requests, as a real process writes it.

use serde_json::{Value, json};

use crate::binary::{Served, backhaul, command, out};
use crate::world::Database;

/// Every line of a log that is about a request.
fn requests(log: &str) -> Vec<Value> {
    let lines = log.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["message"] == "answered a request").collect()
}

/// Adds up a field of the lines that tell how many were left out.
fn left_out(log: &str, field: &str) -> u64 {
    let lines = log.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told = lines.filter(|line| line["message"] == "left out log lines about refused requests");
    told.map(|line| line[field].as_u64().unwrap()).sum()
}

#[tokio::test]
async fn a_refused_request_is_logged_with_its_merchant_and_client_and_without_its_path() {
    let database = Database::create().await;
    let added: Value =
        serde_json::from_str(&out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme", "-o", "json"]))).unwrap();
    let issue = ["credential", "issue", "--merchant", "acme", "--scope", "orders", "-o", "json"];
    let issued: Value = serde_json::from_str(&out(&backhaul(&database, &issue))).unwrap();
    let id = database.texts("select merchant_id::text from merchant").await.remove(0);
    let served = Served::start(command(&database).arg("serve"));
    let client = reqwest::Client::new();
    let grant = json!({ "grant_type": "client_credentials", "client_id": issued["client_id"], "client_secret": issued["client_secret"] });
    let token: Value = client.post(format!("{}/oauth/token", served.base)).json(&grant).send().await.unwrap().json().await.unwrap();
    let token = token["access_token"].as_str().unwrap();
    let ask = async |path: &str, token: Option<&str>| {
        let request = client.get(format!("{}{path}", served.base));
        let request = if let Some(token) = token { request.bearer_auth(token) } else { request };
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask("/v1/orders/pat.doe@example.com", Some(token)).await, 404);
    assert_eq!(ask("/v1/expected_returns", Some(token)).await, 403);
    assert_eq!(ask("/v1/orders/pat.doe@example.com", Some("bht_forged")).await, 401);
    assert_eq!(ask("/pat.doe@example.com", None).await, 404);

    let (ended, log) = served.terminate();
    assert!(ended && !log.contains("pat.doe"), "{log}");
    let lines = requests(&log);
    let find = |status: u16| lines.iter().find(|line| line["status"] == status).unwrap_or_else(|| panic!("no line with {status}: {log}"));
    for status in [404, 403] {
        let line = find(status);
        assert_eq!((&line["merchant"], &line["client_id"]), (&json!(id), &issued["client_id"]), "{line}");
    }
    assert_eq!((&find(404)["route"], &find(404)["method"]), (&json!("/v1/orders/{identifier}"), &json!("GET")));
    let forged = find(401);
    assert!(forged.get("merchant").is_none() && forged.get("client_id").is_none(), "nobody is known: {forged}");
    assert_eq!(added["handle"], "acme");
}

#[tokio::test]
async fn strangers_who_are_refused_cannot_fill_the_disk_and_what_is_left_out_is_counted() {
    const ASKED: usize = 600;
    const AT_ONCE: usize = 50;
    let database = Database::create().await;
    let served = Served::start(command(&database).arg("serve"));
    let client = reqwest::Client::new();
    let address = format!("{}/v1/orders/1", served.base);
    let began = std::time::Instant::now();
    let mut refused = 0;
    for _ in 0..ASKED / AT_ONCE {
        let asked = (0..AT_ONCE).map(|_| {
            let request = client.get(&address).bearer_auth("bht_forged");
            tokio::spawn(async move { request.send().await.unwrap().status().as_u16() })
        });
        for one in asked.collect::<Vec<_>>() {
            refused += usize::from(one.await.unwrap() >= 400);
        }
    }
    // Every second that was touched has its own bound.
    let seconds = usize::try_from(began.elapsed().as_secs()).unwrap() + 2;
    assert!(refused == ASKED && refused > 20 * seconds, "the test asks for more than may be logged, within {seconds} s");
    // The next heartbeat tells how many were left out.
    let mut log = served.read_to("left out log lines about refused requests").join("\n");
    let (ended, rest) = served.terminate();
    log = format!("{log}\n{rest}");
    let logged = requests(&log).len();
    assert!(ended && logged <= 20 * seconds, "{logged} lines in {seconds} s");
    assert!(left_out(&log, "strangers") > 0, "{log}");
}
