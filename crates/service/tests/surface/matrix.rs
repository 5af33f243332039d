//! Every route × every method × every kind of caller who has no business there, generated from the OpenAPI document, so
//! that a new route is held to the same without a line here.

use std::time::Duration;

use domain::merchants::access::{Scope, Scopes};
use domain::returns::rma::ExchangeState;
use domain::returns::work::WorkKind;
use reqwest::Method;
use serde_json::{Value, json};
use store::returns::exchange_orders::{self, Exchange};
use store::returns::rmas;
use store::returns::work_items::{self, WorkItem};

use crate::world::{Merchant, Reply, World, order, units_of};

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// One operation of the document.
struct Operation {
    path: String,
    method: String,
    /// The scopes of which any opens it; none for everybody's operations.
    scopes: Vec<Scope>,
    /// The statuses that are documented.
    documented: Vec<u16>,
}

fn document() -> Value {
    serde_json::from_str(backhaul::http::openapi::text()).unwrap()
}

fn operations() -> Vec<Operation> {
    let document = document();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(name, _)| METHODS.contains(&name.to_uppercase().as_str())) {
            let ways = operation["security"].as_array().map(Vec::as_slice).unwrap_or_default();
            let scopes = ways.iter().map(|way| way["oauth2"][0].as_str().unwrap().parse().unwrap()).collect();
            let documented = operation["responses"].as_object().unwrap().keys().map(|status| status.parse().unwrap()).collect();
            operations.push(Operation { path: path.clone(), method: method.to_uppercase(), scopes, documented });
        }
    }
    operations
}

/// What stands for the parameters of a path.
#[derive(Clone, Copy)]
enum Named<'a> {
    /// Things that there are: an order with an exchange, an import, a message, a return with a label and its code, a carrier account, an
    /// ASN, and a case of the work list. A drop-ship order has the name of the order, a shipment that of the ASN.
    There { order: &'a str, import: &'a str, message: &'a str, rma: &'a str, account: &'a str, asn: &'a str, case: &'a str },
    /// Nothing that there is.
    Absent,
}

/// The path with every parameter filled in.
fn filled(path: &str, named: Named<'_>) -> String {
    let fill = |step: &str| match (step, named) {
        ("{identifier}" | "{client_identifier}" | "{original_order_id}", Named::There { order, .. }) => order.to_owned(),
        ("{line}", Named::There { .. }) => "L1".to_owned(),
        ("{import_id}", Named::There { import, .. }) => import.to_owned(),
        ("{message_id}", Named::There { message, .. }) => message.to_owned(),
        ("{rma_identifier}", Named::There { rma, .. }) => rma.to_owned(),
        ("{account}", Named::There { account, .. }) => account.to_owned(),
        ("{work_item_id}", Named::There { case, .. }) => case.to_owned(),
        ("{asn_number}", Named::There { asn, .. }) => asn.to_owned(),
        (parameter, Named::There { .. }) if parameter.starts_with('{') => panic!("say here what stands for {parameter}"),
        (parameter, Named::Absent) if parameter.starts_with('{') => "absent".to_owned(),
        (step, _) => step.to_owned(),
    };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

async fn call(world: &World, operation: &Operation, named: Named<'_>, token: Option<&str>) -> Reply {
    let method: Method = operation.method.parse().unwrap();
    world
        .ask(method.clone(), &filled(&operation.path, named), |request| {
            let request = if method == Method::GET { request } else { request.json(&json!({})) };
            match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            }
        })
        .await
}

/// What must be the same in two answers: everything but the request's id, and the names that the caller itself wrote into the path.
fn comparable(reply: &Reply, path: &str, named: Named<'_>) -> (u16, Value) {
    let mut body = reply.body.clone();
    if let Some(body) = body.as_object_mut() {
        body.remove("request_id");
    }
    let written = filled(path, named);
    let given = path.split('/').zip(written.split('/')).filter(|(parameter, _)| parameter.starts_with('{'));
    let mut message = body["message"].as_str().unwrap_or_default().to_owned();
    for (parameter, name) in given {
        message = message.replacen(&format!(" {name}"), &format!(" {parameter}"), 1);
    }
    body["message"] = message.into();
    (reply.status.as_u16(), body)
}

/// Exchanges the order by the return, and opens a case on it. Returns the case's id.
async fn has_an_exchange_and_a_case(merchant: &Merchant<'_>, order: &str, rma: &str) -> String {
    let app = &merchant.world.app;
    let kept = rmas::find(app.store(merchant.id), merchant.id, rma).await.unwrap().unwrap();
    let (message, state) = (app.mint(), ExchangeState::Pending);
    let exchange = Exchange { original_order: order.to_owned(), rma: kept.id, message, state, gift_card: None, placed: None };
    let (kind, subject, reason) = (WorkKind::RefundInQuestion, rma.to_owned(), "Is this the shopper's money?".to_owned());
    let case = WorkItem { id: app.mint(), kind, subject, reason, opened_at: app.now() };
    let mut tx = app.begin(merchant.id).await.unwrap();
    exchange_orders::insert(&mut tx, &exchange, app.now()).await.unwrap();
    work_items::open(&mut tx, &case).await.unwrap();
    app.commit(tx).await.unwrap();
    case.id.to_string()
}

#[tokio::test]
async fn every_protected_operation_refuses_whoever_has_no_business_there() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("owner").await;
    let owner = &carried.shop.merchant;
    let (rma, _) = carried.has_a_code("owned").await;
    let import = owner.imports(&[order("owned")]).await.body["import_id"].as_str().unwrap().to_owned();
    let told = world.owe(owner.id, "owned", 1).await.to_string();
    let account = owner.id.to_string();
    owner.has_shipped("owned", &[1]).await;
    owner.has_places().await;
    owner.makes("owned").await;
    owner.announces("owned", &[units_of("SHOE", 1)]).await;
    let case = has_an_exchange_and_a_case(owner, "owned", &rma).await;
    let existing =
        Named::There { order: "owned", import: &import, message: &told, rma: &rma, account: &account, asn: "owned", case: &case };
    let expired = owner.gets_a_token().await;
    let revoked = world.merchant("revoked").await;
    backhaul::flow::merchants::configure_merchant::revoke_credential(&world.app, "test", revoked.id, &revoked.client_id).await.unwrap();
    world.time_passes(Duration::from_secs(90_001));
    let stranger = world.merchant("stranger").await;
    let owner = owner.gets_a_token().await;
    let mut narrow = Vec::new();
    for scope in Scope::ALL {
        let scopes = World::all_scopes_but(scope);
        narrow.push((scopes, world.merchant_with(&format!("no-{}", scope.as_str()), scopes).await.token));
    }
    for scope in Scope::ALL {
        let scopes = Scopes::from_iter([scope]);
        narrow.push((scopes, world.merchant_with(&format!("only-{}", scope.as_str()), scopes).await.token));
    }
    let protected: Vec<Operation> = operations().into_iter().filter(|operation| !operation.scopes.is_empty()).collect();
    assert!(protected.len() >= 2);
    for operation in protected {
        let named = format!("{} {}", operation.method, operation.path);
        for status in [401, 403] {
            assert!(operation.documented.contains(&status), "{named} documents {status}");
        }
        for (who, token) in [
            ("nobody", None),
            ("an expired token", Some(expired.as_str())),
            ("a revoked token", Some(revoked.token.as_str())),
            ("a forged token", Some("bht_forged")),
        ] {
            let reply = call(&world, &operation, existing, token).await;
            assert_eq!(reply.status, 401, "{named}: {who}");
            assert!(reply.header("www-authenticate").starts_with("Bearer"), "{named}: {who}");
            assert!(!reply.text.contains("owned") && !reply.text.contains(&import), "{named}: {who} sees {}", reply.text);
        }
        let opens_none = |scopes: &Scopes| !operation.scopes.iter().any(|scope| scopes.allow(*scope));
        let (_, without) = narrow.iter().find(|(scopes, _)| opens_none(scopes)).unwrap();
        assert_eq!(call(&world, &operation, existing, Some(without)).await.status, 403, "{named}: a missing scope");

        if operation.path.contains('{') {
            assert!(operation.documented.contains(&404), "{named} documents 404");
            assert_ne!(call(&world, &operation, existing, Some(&owner)).await.status, 404, "{named}: it is the owner's");
            let foreign = call(&world, &operation, existing, Some(&stranger.token)).await;
            let absent = call(&world, &operation, Named::Absent, Some(&stranger.token)).await;
            assert_eq!(foreign.status, 404, "{named}: another merchant");
            let [foreign, absent] =
                [(foreign, existing), (absent, Named::Absent)].map(|(reply, named)| comparable(&reply, &operation.path, named));
            assert_eq!(foreign, absent, "{named}: foreign and absent look the same");
            assert_eq!(absent.1["code"], "not_found", "{named}");
        } else {
            let reply = call(&world, &operation, Named::Absent, Some(&stranger.token)).await;
            assert!(!reply.text.contains("owned") && !reply.text.contains(&import), "{named}: another merchant sees {}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_token_opens_every_operation_of_its_scopes_and_no_other() {
    let world = World::new().await;
    let mut tokens = vec![(Scopes::all(), world.merchant("everything").await.token)];
    for scope in Scope::ALL {
        let narrow = Scopes::from_iter([scope]);
        tokens.push((narrow, world.merchant_with(scope.as_str(), narrow).await.token));
    }
    for operation in operations() {
        if operation.scopes.is_empty() {
            continue;
        }
        for (scopes, token) in &tokens {
            let status = call(&world, &operation, Named::Absent, Some(token)).await.status.as_u16();
            let opens = operation.scopes.iter().any(|scope| scopes.allow(*scope));
            assert_eq!(![401, 403].contains(&status), opens, "{} {}: {scopes}", operation.method, operation.path);
        }
    }
}

#[tokio::test]
async fn methods_that_are_not_documented_are_not_allowed() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let operations = operations();
    let mut paths: Vec<&str> = operations.iter().map(|operation| operation.path.as_str()).collect();
    paths.dedup();
    for path in paths {
        for method in METHODS {
            let known = |wanted: &str| operations.iter().any(|operation| operation.path == path && operation.method == wanted);
            // HEAD is GET without the body.
            if known(method) || (method == "HEAD" && known("GET")) {
                continue;
            }
            for token in [None, Some(merchant.token.as_str())] {
                let operation = Operation { path: path.to_owned(), method: method.to_owned(), scopes: Vec::new(), documented: Vec::new() };
                let reply = call(&world, &operation, Named::Absent, token).await;
                assert_eq!(reply.status, 405, "{method} {path}");
                assert!(!reply.header("allow").is_empty(), "{method} {path} says what is allowed");
            }
        }
    }
    let reply = merchant.calls(Method::GET, "/v1/nothing", |request| request).await;
    assert_eq!((reply.status.as_u16(), &reply.body["errors"], &reply.body["code"]), (404, &json!([]), &json!("no_such_route")));
}

#[tokio::test]
async fn everybodys_operations_are_these_and_no_others() {
    let open: Vec<String> = operations()
        .into_iter()
        .filter(|operation| operation.scopes.is_empty())
        .map(|operation| format!("{} {}", operation.method, operation.path))
        .collect();
    // A carrier's webhook is known by its signature, and a credential by its secret.
    assert_eq!(open, ["POST /oauth/token", "GET /openapi.json", "POST /v1/carrier_webhooks/{account}", "POST /v1/credentials/rotate"]);
}

#[tokio::test]
async fn no_answer_is_undocumented() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let (rma, _) = carried.has_a_code("x").await;
    let import = merchant.imports(&[order("x")]).await.body["import_id"].as_str().unwrap().to_owned();
    let told = world.owe(merchant.id, "x", 1).await.to_string();
    let account = merchant.id.to_string();
    merchant.has_shipped("x", &[1]).await;
    merchant.has_places().await;
    merchant.makes("x").await;
    merchant.announces("x", &[units_of("SHOE", 1)]).await;
    let case = has_an_exchange_and_a_case(merchant, "x", &rma).await;
    for operation in operations() {
        let named = format!("{} {}", operation.method, operation.path);
        let there = Named::There { order: "x", import: &import, message: &told, rma: &rma, account: &account, asn: "x", case: &case };
        for which in [there, Named::Absent] {
            let status = call(&world, &operation, which, Some(&merchant.token)).await.status.as_u16();
            assert!(operation.documented.contains(&status), "{named} answers {status}");
        }
    }
}
