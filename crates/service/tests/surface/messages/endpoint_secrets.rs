//! The stored secrets of an endpoint: they go where they were given for, and nowhere else.

use domain::merchants::operator::Role;

use crate::binary::{backhaul, command, err, out};
use crate::world::World;

const HERE: &str = "https://hooks.example.com/rmas";

/// Addresses of other hosts, ports and schemes.
const ELSEWHERE: [&str; 5] = [
    "https://hooks.example.net/rmas",
    "https://hooks.example.com.attacker.example/rmas",
    "https://93.184.216.34/rmas",
    "http://127.0.0.1:1/rmas",
    "https://127.0.0.1:1/rmas",
];

const ASKED: &str = "would send the stored credentials to another host";

#[tokio::test]
async fn another_host_asks_for_the_credentials_again() {
    let world = World::new().await;
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let set = |words: &[&str]| {
        let mut command = command(&world.database);
        command.env("BACKHAUL_ENDPOINT_SECRET", "s3cret").env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#);
        command.args(["endpoint", "set", "--merchant", "acme", "rma"]).args(words).output().unwrap()
    };
    let stored = async || world.database.texts("select url from endpoint where not internal").await;
    out(&set(&["--url", HERE, "--authentication", "bearer"]));
    for url in ELSEWHERE {
        let refused = err(&set(&["--url", url]));
        assert!(refused.contains(ASKED) && refused.contains("--authentication"), "{url}: {refused}");
    }
    // The console and the operator API call the same flow.
    let console = world.console(Role::Manager).await;
    let refused = console.post("/merchants/acme/endpoints/rma/set", &[("url", ELSEWHERE[3])]).await;
    assert!(refused.status == 422 && refused.text.contains(ASKED), "{}", refused.text);
    assert_eq!(stored().await, [HERE]);

    // Another path of the same host does not, nor does a change that gives them, or does without.
    out(&set(&["--url", "https://hooks.example.com:443/v2/rmas", "--slots", "3"]));
    out(&set(&["--url", ELSEWHERE[3], "--authentication", "bearer"]));
    out(&set(&["--url", HERE, "--authentication", "none"]));
    out(&set(&["--url", ELSEWHERE[3]]));
    assert_eq!(stored().await, [ELSEWHERE[3]]);
}

#[tokio::test]
async fn an_endpoint_that_is_set_to_what_it_is_stays_unchanged() {
    let world = World::new().await;
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let set = |words: &[&str]| backhaul(&world.database, &[&["endpoint", "set", "--merchant", "acme", "rma"], words].concat());
    out(&set(&["--url", HERE]));
    let stored = async || world.database.texts("select concat(changed_at, ' ', revision) from endpoint where not internal").await;
    let changes = async || world.database.texts("select count(*)::text from audit where action = 'endpoint.changed'").await;
    let before = stored().await;
    out(&set(&[]));
    out(&set(&["--url", HERE, "--slots", "10"]));
    assert_eq!((stored().await, changes().await), (before.clone(), vec!["0".to_owned()]));
    out(&set(&["--slots", "11"]));
    assert!(stored().await != before && changes().await == ["1"]);
}

#[tokio::test]
async fn headers_that_are_ours_cannot_be_configured_over() {
    let world = World::new().await;
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let set = |words: &[&str]| {
        let mut command = command(&world.database);
        command.env("BACKHAUL_ENDPOINT_SECRET", "s3cret");
        command.args(["endpoint", "set", "--merchant", "acme", "rma", "--url", HERE]).args(words).output().unwrap()
    };
    for name in [
        "Host",
        "host",
        "webhook-id",
        "Webhook-Signature",
        "webhook-timestamp",
        "Authorization",
        "Proxy-Authorization",
        "Content-Length",
        "Content-Type",
        "Content-Encoding",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Upgrade",
        "TE",
        "Trailer",
        "Expect",
        "User-Agent",
        "Cookie",
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Service-Event",
        "Via",
        "Date",
    ] {
        let refused = err(&set(&["--version-header", &format!("{name}: 3")]));
        assert!(refused.contains("is reserved") && refused.contains(name), "{name}: {refused}");
        if name != "Authorization" {
            let refused = err(&set(&["--authentication", "api-key", "--header", name]));
            assert!(refused.contains("it is reserved"), "{name}: {refused}");
        }
    }
    out(&set(&["--authentication", "api-key", "--header", "X-Key"]));
    let refused = err(&set(&["--version-header", "x-key: 3"]));
    assert!(refused.contains("is reserved"), "the version would take the key's place: {refused}");
    out(&set(&["--version-header", "X-Version: 3"]));
    let refused = err(&set(&["--authentication", "api-key", "--header", "X-Version"]));
    assert!(refused.contains("is reserved"), "{refused}");
}
