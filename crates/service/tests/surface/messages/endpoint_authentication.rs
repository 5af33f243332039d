//! OAuth at endpoints with HTTP Basic at the token endpoint, and with a header beside the token.

use domain::merchants::operator::Role;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::json;

use crate::binary::{command, err, out};
use crate::world::World;
use crate::world::receiver::PATH;

/// An id and a secret that look different in a form.
const CLIENT: (&str, &str) = ("back:haul&co", "s3 cr+t/ü%:=");
const KEY: &str = "gateway-key-4711";

/// A gateway that asks for its key beside the token, and a token endpoint that knows the client.
async fn systems() -> Systems {
    let systems = Systems::start().await.unwrap();
    systems.expect_client(CLIENT.0, CLIENT.1);
    systems.requires_token(PATH);
    systems
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_fetched_with_http_basic_and_a_header_goes_beside_it() {
    let world = World::new().await;
    let receiver =
        world.receiver_at("acme", systems().await, backhaul::flow::messages::configure_endpoint::EndpointChange::default()).await;
    let tokens = receiver.systems.tokens().url();
    let set = |words: &[&str]| {
        let mut set = command(&world.database);
        set.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#).env("BACKHAUL_ENDPOINT_SECRET", CLIENT.1);
        set.args(["endpoint", "set", "--merchant", "acme", "rma", "--user", CLIENT.0, "--token-url", &tokens]).args(words);
        set
    };
    let words = ["--authentication", "oauth-basic", "--extra-header", "X-Gateway-Key"];
    assert!(err(&set(&words).output().unwrap()).contains("BACKHAUL_ENDPOINT_HEADER_SECRET"));
    out(&set(&words).env("BACKHAUL_ENDPOINT_HEADER_SECRET", KEY).output().unwrap());
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;

    assert_eq!((world.owed().await, world.failures().await, receiver.systems.token_fetches()), (0, 0, 1));
    let (fetches, calls) = (receiver.systems.token_requests(), receiver.systems.received());
    let (fetch, call) = (&fetches[0], &calls[0]);
    assert_eq!(std::str::from_utf8(fetch.body()).unwrap(), "grant_type=client_credentials", "the secret is in the header alone");
    assert_eq!(fetch.header("x-gateway-key"), None, "the key is not for the token endpoint");
    assert_eq!((call.bearer(), call.header("x-gateway-key")), (Some("token-1"), Some(KEY)));
    receiver.verifies(call);

    // An answer that repeats the key does not show it to anybody.
    receiver.systems.answer(PATH, Answer::status(503).body(format!("you sent {KEY} and {}", CLIENT.1)));
    let console = world.console(Role::Manager).await;
    let path = console.post("/merchants/acme/endpoints/rma/test", &[("variant", "")]).await.location;
    world.deliver_all_due().await;
    let page = console.get(&path).await.text;
    assert!(page.contains("ended with 503"), "{page}");
    assert!(page.contains("x-gateway-key") && !page.contains(KEY) && !page.contains("s3 cr+t"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_that_is_ours_cannot_go_beside_the_token() {
    let world = World::new().await;
    world.receiver("acme").await;
    let script = world.script(Role::Manager).await;
    let console = world.console(Role::Manager).await;
    for name in
        ["Host", "webhook-signature", "Authorization", "Content-Length", "Transfer-Encoding", "Connection", "X-Service-Event", "a b"]
    {
        let parameters = json!({
            "merchant": "acme", "interface": "rma", "authentication": "oauth-form", "user": "us", "secret": "s",
            "token_url": "http://127.0.0.1:9/token", "extra_header": name, "header_secret": KEY,
        });
        let refused = script.calls("endpoint/set", &parameters).await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.text);
        assert!(refused.text.contains("cannot be a header beside the token") && !refused.text.contains(KEY), "{}", refused.text);
        let fields = [
            ("authentication", "oauth-form"),
            ("user", "us"),
            ("secret", "s"),
            ("token_url", "http://127.0.0.1:9/token"),
            ("extra_name", name),
            ("extra_value", KEY),
        ];
        let refused = console.post("/merchants/acme/endpoints/rma/set", &fields).await;
        assert!(refused.text.contains("cannot be a header beside the token") && !refused.text.contains(KEY), "{name}: {}", refused.text);
    }
    let elsewhere = script.calls("carrier/set", &json!({ "merchant": "acme", "header_secret": KEY })).await;
    assert!(elsewhere.status == 400 && !elsewhere.text.contains(KEY), "{}", elsewhere.text);
}

#[tokio::test]
async fn the_console_sets_http_basic_and_a_header_and_never_shows_their_secrets() {
    let world = World::new().await;
    let receiver =
        world.receiver_at("acme", systems().await, backhaul::flow::messages::configure_endpoint::EndpointChange::default()).await;
    let console = world.console(Role::Manager).await;
    let tokens = receiver.systems.tokens().url();
    let fields = [
        ("authentication", "oauth-basic"),
        ("user", CLIENT.0),
        ("secret", CLIENT.1),
        ("token_url", tokens.as_str()),
        ("extra_name", "X-Gateway-Key"),
        ("extra_value", KEY),
    ];
    let preview = console.post("/merchants/acme/endpoints/rma/set", &fields).await.page();
    assert!(preview.contains("X-Gateway-Key, with the value that you typed") && !preview.contains(KEY), "{preview}");
    assert_eq!(console.confirms("/merchants/acme/endpoints/rma/set", &fields).await.status, 303);
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let call = receiver.systems.received_at(PATH).pop().unwrap();
    assert_eq!((call.bearer(), call.header("x-gateway-key")), (Some("token-1"), Some(KEY)));
    let half = console.post("/merchants/acme/endpoints/rma/set", &[fields[0], fields[1], fields[2], fields[3], fields[4]]).await;
    assert!(half.text.contains("A header beside the token needs a name and a value."), "{}", half.text);
}
