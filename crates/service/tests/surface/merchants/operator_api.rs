//! The operator API: every operation asks for its role, does what its command does, and tells faults as problems.

use std::time::Duration;

use backhaul::cli::operator_api;
use backhaul::flow::merchants::operators::{people, tokens};
use backhaul::http::operator_api::{MOST_PER_MINUTE, Operation};
use domain::merchants::operator::Role;
use reqwest::Method;
use sandbox::merchant::{Answer, Merchant as Systems};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use store::merchants::{operator_tokens, operators};

use crate::binary::{backhaul, err, out};
use crate::world::receiver::{PATH, impatient};
use crate::world::script::Script;
use crate::world::{Reply, World};

/// The fields of a problem as in RFC 9457.
pub fn problem(reply: &Reply, status: u16) -> String {
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (status, "application/problem+json"), "{}", reply.text);
    let kind = if status == 404 { "urn:backhaul:problem:no-such-route" } else { "about:blank" };
    assert_eq!((&reply.body["status"], &reply.body["type"]), (&status.into(), &kind.into()));
    assert_eq!(reply.body["request_id"], reply.header("x-request-id"));
    reply.body["detail"].as_str().unwrap().to_owned()
}

/// Calls an operation without parameters.
async fn call(world: &World, operation: &Operation, token: Option<&str>) -> Reply {
    let method = if operation.reads { Method::GET } else { Method::POST };
    world
        .calls_operator_api(method, &operation.path, |request| match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
        .await
}

/// Lets so much time pass that no limit of a minute refuses anybody.
fn a_minute_passes(world: &World) {
    world.time_passes(Duration::from_secs(61));
}

#[tokio::test]
async fn every_operation_asks_for_a_token_with_its_role() {
    let world = World::new().await;
    let operations = operator_api().operations;
    assert!(operations.len() > 80, "{}", operations.len());
    let (expired, revoked) = (world.script_with(Role::Admin, Role::Admin, 1).await, world.script(Role::Admin).await);
    let disabled = world.script(Role::Manager).await;
    people::disable(&world.app, "test", disabled.operator.id).await.unwrap();
    world.time_passes(Duration::from_hours(24));
    let mut connection = world.database.home().connect().await;
    sqlx::raw_sql("update operator_token set revoked_at = expires_at where expires_at > made_at + interval '2 days'")
        .execute(&mut connection)
        .await
        .unwrap();
    for (token, why) in [
        (None, "has no personal token"),
        (Some("bho_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "unknown, expired or revoked"),
        (Some(expired.token.as_str()), "unknown, expired or revoked"),
        (Some(&revoked.token), "unknown, expired or revoked"),
        (Some(&disabled.token), "its operator is disabled"),
    ] {
        a_minute_passes(&world);
        for operation in &operations {
            let reply = call(&world, operation, token).await;
            assert!(problem(&reply, 401).contains(why), "{operation:?}: {}", reply.text);
            assert!(reply.header("www-authenticate").starts_with("Bearer realm"), "{operation:?}");
        }
    }
    people::enable(&world.app, "test", people::Authority::Full, disabled.operator.id).await.unwrap();
    // The person may do everything; the token has the role that it was given.
    for role in Role::ALL {
        a_minute_passes(&world);
        let script = world.script_with(Role::Admin, role, 90).await;
        for operation in &operations {
            let reply = call(&world, operation, Some(&script.token)).await;
            if role < operation.role {
                let why = problem(&reply, 403);
                assert!(why.contains(operation.role.as_str()) && why.contains(role.as_str()), "{operation:?}: {why}");
            } else {
                assert!([200, 400, 422].contains(&reply.status.as_u16()), "{role} at {operation:?}: {} {}", reply.status, reply.text);
            }
        }
    }
    a_minute_passes(&world);
    let admin = world.script(Role::Admin).await;
    for operation in &operations {
        let (other, allowed) = if operation.reads { (Method::POST, "GET") } else { (Method::GET, "POST") };
        let reply = world.calls_operator_api(other, &operation.path, |request| request.bearer_auth(&admin.token)).await;
        problem(&reply, 405);
        assert_eq!(reply.header("allow"), allowed, "{operation:?}");
    }
}

#[tokio::test]
async fn nothing_that_is_not_declared_can_be_reached() {
    let world = World::new().await;
    let admin = world.script(Role::Admin).await;
    for path in [
        "serve",
        "migrate",
        "shopper/erase",
        "orders/import",
        "endpoint/reseal",
        "config/check",
        "merchant",
        "merchant/list/",
        "x",
        "merchant%20list",
    ] {
        assert!(problem(&admin.reads(path).await, 404).contains("/admin/v1/openapi.json"), "{path}");
    }
    // A person who is signed in to the console has no token, and a token opens no page.
    let person = world.console(Role::Admin).await;
    assert_eq!(person.get("/admin/v1/merchant/list").await.status, 401);
    let page = world.client.get(format!("{}/account", world.console)).bearer_auth(&admin.token);
    let page = page.header("Cookie", format!("__Host-console={}", admin.token)).send().await.unwrap();
    assert!(page.url().path().starts_with("/sign-in"), "{}", page.url());
    let document: Value = serde_json::from_str(&operator_api().document).unwrap();
    let served = world.calls_operator_api(Method::GET, "openapi.json", |request| request).await;
    assert_eq!((served.status.as_u16(), &served.body), (200, &document));
}

#[tokio::test]
async fn an_operation_does_what_its_command_does() {
    let world = World::new().await;
    let manager = world.script(Role::Manager).await;
    let added =
        manager.does("merchant/add", &json!({ "handle": "acme", "name": "Acme Shoes", "technical_contact": "ops@example.com" })).await;
    assert_eq!((&added["handle"], &added["state"]), (&"acme".into(), &"onboarding".into()));
    let listed = manager.reads("merchant/list").await;
    assert_eq!(listed.text, out(&backhaul(&world.database, &["merchant", "list", "-o", "json"])));
    let table = world
        .calls_operator_api(Method::GET, "merchant/list", |request| request.bearer_auth(&manager.token).header("Accept", "text/plain"))
        .await;
    assert_eq!((table.header("content-type"), table.header("cache-control")), ("text/plain; charset=utf-8", "no-store"));
    assert_eq!(table.text, out(&backhaul(&world.database, &["merchant", "list"])));
    let paused = manager.does("merchant/pause", &json!({ "handle": "acme", "yes": true })).await;
    assert_eq!(paused["state"], "paused");
    let audit = world.database.texts("select actor from audit where action = 'merchant.paused'").await;
    assert_eq!(audit, ["operator:manager.script@ops.example.com via token:nightly"]);

    let issued = manager.does("credential/issue", &json!({ "merchant": "acme", "scope": ["orders", "carrier"], "label": "oms" })).await;
    assert_eq!(issued["scope"], "orders carrier");
    let revoked = manager.does("credential/revoke", &json!({ "merchant": "acme", "client_id": issued["client_id"], "yes": true })).await;
    assert!(revoked["message"].as_str().unwrap().contains("was revoked"), "a sentence is a message: {revoked}");
    let limited = manager.reads("messages/list?merchant=acme&limit=1").await;
    assert_eq!((limited.status.as_u16(), &limited.body), (200, &json!({ "items": [], "next": null })));
}

#[tokio::test]
async fn faults_are_problems_that_say_what_the_command_line_says() {
    let world = World::new().await;
    let manager = world.script(Role::Manager).await;
    let unknown = problem(&manager.reads("merchant/show?handle=nobody").await, 422);
    assert_eq!(unknown, "there is no merchant `nobody`; run `backhaul merchant list` to see all merchants");
    for (path, parameters, why) in [
        ("merchant/add", json!({ "handle": "acme" }), "required arguments were not provided"),
        ("endpoint/set", json!({ "interface": "rma", "url": "https://example.com" }), "`merchant` is missing"),
        ("merchant/add", json!({ "handle": "No Handle", "name": "x" }), "a handle must be 2 to 40 lower-case letters"),
        ("merchant/add", json!({ "handle": "acme", "name": "x", "config": "/etc/passwd" }), "there is no parameter `config`"),
        ("merchant/add", json!({ "handle": "acme", "name": "x", "as_operator": "y" }), "there is no parameter `as_operator`"),
        ("merchant/pause", json!({ "handle": "acme", "secret": "x" }), "takes no `secret`"),
        ("endpoint/set", json!({ "merchant": "acme", "interface": "rma", "slots": "many" }), "invalid value"),
    ] {
        let told = problem(&manager.calls(path, &parameters).await, 400);
        assert!(told.contains(why) && !told.contains("Usage"), "{path}: {told}");
    }
    let broken = world
        .calls_operator_api(Method::POST, "merchant/add", |request| request.bearer_auth(&manager.token).body("{\"secret\": \"s3cr3t"))
        .await;
    assert!(!problem(&broken, 400).contains("s3cr3t"));
    let large = vec![b' '; 6 * 1024 * 1024];
    let large = world.calls_operator_api(Method::POST, "merchant/add", |request| request.bearer_auth(&manager.token).body(large)).await;
    problem(&large, 413);
    assert_eq!(world.database.count("merchant").await, 0);
}

#[tokio::test]
async fn a_secret_is_in_no_answer_but_the_one_that_made_it() {
    let world = World::new().await;
    let manager = world.script(Role::Manager).await;
    manager.does("merchant/add", &json!({ "handle": "acme", "name": "Acme" })).await;
    let systems = Systems::start().await.unwrap();
    let set = json!({ "merchant": "acme", "interface": "rma", "url": systems.url("/rmas"), "authentication": "bearer", "secret": "s3cr3t-of-acme" });
    let made = manager.does("endpoint/set", &set).await;
    let signing = made["signing_secret"].as_str().unwrap().to_owned();
    let again = manager.calls("endpoint/set", &json!({ "merchant": "acme", "interface": "rma", "slots": 5 })).await.text;
    let mut answers = vec![again];
    for path in ["endpoint/list?merchant=acme", "endpoint/show?merchant=acme&interface=rma", "merchant/show?handle=acme"] {
        answers.push(manager.reads(path).await.text);
    }
    for answer in answers {
        assert!(!answer.contains("s3cr3t") && !answer.contains(&signing), "{answer}");
    }
    // A file is its content, never a name: nobody reads files of the server.
    let named = manager.calls("brand/set", &json!({ "merchant": "acme", "logo": "/etc/hostname" })).await;
    assert!(problem(&named, 422).contains("the content of a file in base64"), "{}", named.text);
}

#[tokio::test]
async fn what_takes_a_second_person_or_a_confirmation_takes_it_here_too() {
    let world = World::new().await;
    let admin = world.script(Role::Admin).await;
    let add = |role: &str| json!({ "email": format!("{role}.new@ops.example.com"), "name": "New One", "role": role });
    let refused = problem(&admin.calls("operator/add", &add("admin")).await, 422);
    assert!(refused.contains("administrators are made by two people"), "{refused}");
    let link = admin.does("operator/add", &add("manager")).await;
    assert!(link["link"].as_str().unwrap().contains("/invitation/"), "{link}");
    let refused = admin.calls("operator/set", &json!({ "email": "manager.new@ops.example.com", "role": "admin" })).await;
    assert!(problem(&refused, 422).contains("two people"), "{}", refused.text);

    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-1", 1).await;
    world.five_retries_pass().await;
    let retry = |yes: bool| json!({ "merchant": "acme", "endpoint": "rma", "yes": yes });
    let asked = admin.calls("failures/retry", &retry(false)).await;
    problem(&asked, 409);
    assert_eq!(asked.body["question"], "1 message would be retried.");
    assert_eq!(asked.body["result"]["items"][0]["reason"], "503", "the preview: {}", asked.text);
    let started = admin.does("failures/retry", &retry(true)).await;
    assert_eq!((&started["total"], &started["created_by"]), (&1.into(), &"operator:admin.script@ops.example.com via token:nightly".into()));
}

#[tokio::test]
async fn a_token_is_limited_in_its_rate_and_stops_when_it_is_revoked() {
    let world = World::new().await;
    let (busy, other) = (world.script(Role::Viewer).await, world.script(Role::Support).await);
    for _ in 0..MOST_PER_MINUTE {
        assert_eq!(busy.reads("operator/roles").await.status, 200);
    }
    let refused = busy.reads("operator/roles").await;
    assert!(problem(&refused, 429).contains("of one personal token") && !refused.header("retry-after").is_empty());
    assert_eq!(other.reads("operator/roles").await.status, 200, "others are not slowed down");
    for script in [&busy, &other] {
        let of = script.operator.id;
        let token = operator_tokens::list(world.app.home(), of, world.app.now()).await.unwrap().remove(0);
        assert!(tokens::revoke(&world.app, "test", of, token.id).await.unwrap());
        assert_eq!(script.reads("operator/roles").await.status, 401);
    }
}

#[tokio::test]
async fn two_administrators_decide_through_the_api_as_in_the_console() {
    let world = World::new().await;
    let (one, _, _) = (world.script(Role::Admin).await, world.console(Role::Admin).await, world.console(Role::Manager).await);
    let other = operators::find(world.app.home(), "admin.one@ops.example.com").await.unwrap().unwrap().operator;
    let token = tokens::make(&world.app, &other, "deciding", Role::Admin, 1).await.unwrap();
    let other = Script { world: &world, operator: other, token: token.expose_secret().to_owned() };
    let wanted = json!({ "email": "manager.one@ops.example.com", "why": "They lead the team." });
    let asked = one.does("request/make-admin", &wanted).await;
    assert_eq!(one.reads("request/list").await.body["items"][0]["request_id"], asked["request_id"]);
    let approve = json!({ "id": asked["request_id"], "decision": "approve" });
    problem(&one.calls("request/decide", &approve).await, 422);
    let decided = other.does("request/decide", &approve).await;
    assert_eq!((&decided["decision"], &decided["outcome"]), (&"approved".into(), &"Manager One is an administrator.".into()));
    let audit = world
        .database
        .texts("select actor from home_audit where action in ('request.asked', 'request.approved') order by action desc")
        .await;
    assert_eq!(audit, ["operator:admin.script@ops.example.com via token:nightly", "operator:admin.one@ops.example.com via token:deciding"]);

    let listed = one.reads("operator/tokens?email=admin.one@ops.example.com").await;
    let revoke = json!({ "email": "admin.one@ops.example.com", "token": listed.body["items"][0]["token_id"] });
    one.does("operator/revoke-token", &revoke).await;
    assert_eq!(other.reads("request/list").await.status, 401);
    assert!(problem(&one.calls("operator/revoke-token", &revoke).await, 422).contains("has no such token"));
    let alone = err(&backhaul(&world.database, &["request", "make-admin", "manager.one@ops.example.com", "--why", "x"]));
    assert!(alone.contains("say by whom with --as EMAIL"), "{alone}");
}

#[tokio::test]
async fn answers_of_merchants_are_shown_without_the_secrets_that_they_repeat() {
    let world = World::new().await;
    let support = world.script(Role::Support).await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::ok().body(format!("you signed with {}", receiver.secret)));
    let id = receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let shown = support.reads(&format!("messages/show?merchant=acme&id={id}")).await;
    let answer = shown.body["attempts"]["items"][0]["answer"].as_str().unwrap_or_else(|| panic!("{}", shown.text));
    assert!(answer.contains("[hidden]") && !shown.text.contains(&receiver.secret), "{answer}");
}
