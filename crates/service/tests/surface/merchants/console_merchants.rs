//! Merchants in the operator's console: the list, onboarding, credentials, contact and pause.

use std::time::Duration;

use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::json;

use crate::world::console::{Console, between, hidden_fields};
use crate::world::receiver::{PATH, impatient};
use crate::world::{World, message, order};

/// The audit entries of merchants, as `actor action`.
const AUDIT: &str = "select actor || ' ' || action from audit order by audit_id";

/// The fields of a form without any.
pub const NOTHING: [(&str, &str); 0] = [];

/// The name of a person in the audit trail.
pub fn actor(console: &Console<'_>) -> String {
    format!("operator:{}", console.email)
}

/// The secret in the green notice of a page.
pub fn shown_secret(page: &str) -> String {
    between(between(page, r#"<div class="notice ok""#, "</div></div>"), r#"<span class="mono wrap">"#, "</span>").to_owned()
}

/// The classes of the steps on an onboarding page, in order: done, now or nothing.
fn steps(page: &str) -> Vec<&str> {
    let list = between(page, r#"<ol class="steps">"#, "</ol>");
    let class = |item: &'_ str| {
        if item.starts_with(r#" class="done""#) {
            "done"
        } else if item.starts_with(r#" class="now""#) {
            "now"
        } else {
            ""
        }
    };
    list.split("<li").skip(1).map(class).collect()
}

#[tokio::test]
async fn a_merchant_goes_from_nothing_to_live_step_by_step() {
    let world = World::new().await;
    let console = world.console(Role::Manager).await;
    let systems = Systems::start().await.unwrap();
    let fields = [("name", "Fern Supply"), ("handle", "fern"), ("technical_contact", "tech@fern.example.com")];
    let added = console.post("/merchants/new", &fields).await;
    assert_eq!((added.status, added.location.as_str()), (303, "/merchants/fern/onboarding"));
    let page = async || console.get("/merchants/fern/onboarding").await.text;

    // Nothing is done, and the merchant has been at its first step since it was added.
    world.time_passes(Duration::from_hours(9 * 24));
    console.signs_in().await;
    let first = page().await;
    assert_eq!(steps(&first), ["now", "", "", "", ""]);
    assert!(first.contains("stuck for 9 days") && first.contains(r#"stuck since <time datetime="2026-03-01T12:00:00Z""#), "{first}");
    assert!(console.get("/merchants?state=onboarding").await.text.contains("credential issued</a>, since"));

    let issued = console.confirms("/merchants/fern/credentials", &[("scope", "orders"), ("label", "OMS")]).await.text;
    let secret = shown_secret(&issued);
    let client_id = between(&issued, "<b>", " was issued").to_owned();
    assert_eq!(steps(&page().await), ["done", "now", "", "", ""]);

    let credentials = json!({ "grant_type": "client_credentials", "client_id": client_id, "client_secret": secret });
    let token = world.asks_for_a_token(&credentials).await.body["access_token"].as_str().unwrap().to_owned();
    assert_eq!(steps(&page().await), ["done", "done", "now", "", ""]);

    // The first order counts, and stays the first when it comes again later.
    let publish = async || {
        let orders = message([order("1001")]);
        let publish = |request: reqwest::RequestBuilder| request.bearer_auth(&token).header("Api-Version", "3").json(&orders);
        assert_eq!(world.ask(reqwest::Method::POST, "/returns_portal_orders", publish).await.status, 200);
    };
    publish().await;
    assert_eq!(steps(&page().await), ["done", "done", "done", "now", ""]);
    backhaul::flow::merchants::note_first_orders::note_first_orders(&world.app).await.unwrap();
    world.time_passes(Duration::from_hours(2));
    console.signs_in().await;
    assert!(page().await.contains("stuck for 2 h"), "since the first order");

    let url = systems.url(PATH);
    let set = console.confirms("/merchants/fern/endpoints/rma/set", &[("url", url.as_str())]).await.text;
    assert!(shown_secret(&set).starts_with("whsec_"));
    assert!(page().await.contains("Not tested yet: rma."));
    // A test that fails is no step.
    systems.answer(PATH, Answer::status(500));
    console.post("/merchants/fern/endpoints/rma/test", &[("variant", "")]).await;
    world.deliver_all_due().await;
    assert_eq!(steps(&page().await), ["done", "done", "done", "now", ""]);
    systems.answer(PATH, Answer::ok());
    console.post("/merchants/fern/endpoints/rma/test", &[("variant", "")]).await;
    world.deliver_all_due().await;
    assert_eq!(steps(&page().await), ["done", "done", "done", "done", "now"]);

    let preview = console.get("/merchants/fern/live").await.text;
    assert!(preview.contains("every step is done") && preview.contains("backhaul merchant live fern"), "{preview}");
    let live = console.post("/merchants/fern/live", &NOTHING).await;
    assert_eq!(live.status, 303);
    let done = page().await;
    assert_eq!(steps(&done), ["done"; 5]);
    assert!(!done.contains("stuck"), "{done}");
    let by = actor(&console);
    assert!(done.contains(&format!("Decided by {by}.")));
    assert_eq!(console.post("/merchants/fern/live", &NOTHING).await.status, 409, "once");
    let audit = world.database.texts(AUDIT).await;
    for action in ["merchant.added", "credential.issued", "endpoint.added", "endpoint.tested", "merchant.went_live"] {
        assert!(audit.contains(&format!("{by} {action}")), "{action} in {audit:?}");
    }
}

#[tokio::test]
async fn a_merchant_can_go_live_with_open_steps_and_the_audit_names_them() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    assert!(console.get("/merchants/acme/live").await.text.contains("first order, endpoints tested"));
    console.post("/merchants/acme/live", &NOTHING).await;
    let detail = world.database.texts("select detail from audit where action = 'merchant.went_live'").await;
    assert_eq!(detail, ["acme, without: first order, endpoints tested"]);
}

#[tokio::test]
async fn the_secret_of_a_credential_is_shown_exactly_once() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let issued = console.confirms("/merchants/acme/credentials", &[("scope", "warehouse"), ("label", "scanner")]).await;
    assert_eq!((issued.status, issued.location.as_str()), (200, ""), "on the answer itself, not behind an address");
    let secret = shown_secret(&issued.text);
    assert!(secret.starts_with("bhs_") && secret.len() > 40);
    let list = console.get("/merchants/acme/credentials").await.text;
    assert!(!list.contains(&secret));
    assert!(list.contains(&format!("…{}", &secret[secret.len() - 4..])) && list.contains("scanner") && list.contains("never"), "{list}");
    assert!(world.database.texts("select detail from audit").await.iter().all(|detail| !detail.contains(&secret)));
    // Nothing is issued without a scope.
    let refused = console.post("/merchants/acme/credentials", &[("label", "x")]).await;
    assert!(refused.status == 422 && refused.text.contains("Choose at least one scope."));
    assert_eq!(world.database.count("credential").await, 2);
}

#[tokio::test]
async fn revoking_a_credential_is_previewed_and_ends_its_tokens() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let path = format!("/merchants/acme/credentials/{}/revoke", merchant.client_id);
    let preview = console.get(&path).await.text;
    assert!(preview.contains("locked out until you issue another") && preview.contains("It was used"), "{preview}");
    assert_eq!(world.database.texts("select count(*)::text from credential where revoked_at is not null").await, ["0"]);
    assert_eq!(console.post(&path, &NOTHING).await.status, 303);
    assert!(console.get("/merchants/acme/credentials").await.text.contains("Revoked"));
    assert_eq!(world.asks_for_a_token(&merchant.credentials()).await.status, 401);
    assert_eq!(console.post(&path, &NOTHING).await.status, 409, "once");
    assert_eq!(console.get("/merchants/acme/credentials/bhc_unknown/revoke").await.status, 404);
}

#[tokio::test]
async fn html_in_names_is_shown_as_it_was_typed() {
    let world = World::new().await;
    let console = world.console(Role::Manager).await;
    let name = r#"<script>alert("x")</script> & Söhne"#;
    let added = console.post("/merchants/new", &[("name", name), ("handle", "evil"), ("technical_contact", "")]).await;
    assert_eq!(added.status, 303);
    console.confirms("/merchants/evil/credentials", &[("scope", "orders"), ("label", "<b>bold</b>")]).await;
    for path in [
        "/merchants",
        "/merchants/evil",
        "/merchants/evil/onboarding",
        "/merchants/evil/credentials",
        "/merchants/evil/contact",
        "/merchants/evil/live",
    ] {
        let page = console.get(path).await.text;
        assert!(!page.contains("<script>alert") && !page.contains("<b>bold</b>"), "{path}");
        assert!(page.contains("alert(") && page.contains("Söhne"), "{path}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_new_merchant_is_told_beside_the_fields() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let wrong = console.post("/merchants/new", &[("name", " "), ("handle", "No Good"), ("technical_contact", "")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("full name") && wrong.text.contains("A handle must be 2 to 40"), "{}", wrong.text);
    assert!(wrong.text.contains(r#"value="No Good""#), "what was typed stays");
    let taken = console.post("/merchants/new", &[("name", "Another"), ("handle", "acme"), ("technical_contact", "")]).await;
    assert!(taken.status == 422 && taken.text.contains("Another merchant has this handle."));
    assert_eq!(world.database.count("merchant").await, 1);
}

#[tokio::test]
async fn a_merchant_is_paused_and_resumed_in_a_persons_name() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    assert!(console.get("/merchants/acme/pause").await.text.contains("answered with 403"));
    assert_eq!(console.post("/merchants/acme/pause", &NOTHING).await.status, 303);
    assert!(console.get("/merchants?state=paused").await.text.contains("A merchant"));
    assert!(console.get("/merchants/acme").await.text.contains("Paused for"));
    world.time_passes(Duration::from_secs(1));
    console.post("/merchants/acme/resume", &NOTHING).await;
    assert!(!console.get("/merchants?state=paused").await.text.contains("A merchant"));
    world.time_passes(Duration::from_secs(1));
    console.confirms("/merchants/acme/contact", &[("technical_contact", "tech@example.com")]).await;
    assert!(console.get("/merchants/acme").await.text.contains("tech@example.com"));
    let wrong = console.post("/merchants/acme/contact", &[("technical_contact", "nobody")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("Give one e-mail address"));
    let by = actor(&console);
    let audit = world.database.texts("select actor || ' ' || action from audit where actor like 'operator:%' order by done_at").await;
    assert_eq!(audit, ["merchant.paused", "merchant.resumed", "merchant.contact_changed"].map(|action| format!("{by} {action}")));
}

#[tokio::test]
async fn the_list_says_what_is_wrong_and_leads_to_it() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    world.merchant("bolt").await;
    receiver.systems.answer(PATH, Answer::status(503));
    for at in 0..12 {
        receiver.is_owed(&format!("R-{at}"), 1).await;
    }
    world.five_retries_pass().await;
    let console = world.console(Role::Viewer).await;
    let list = console.get("/merchants").await.text;
    assert!(list.contains(r#"<a class="num" href="/failures?merchant=acme">10 or more</a>"#), "{list}");
    assert!(list.contains(r#"<a class="num faint" href="/failures?merchant=bolt">0</a>"#));
    assert!(!console.get("/merchants?q=BOL").await.text.contains("acme"));
    assert!(console.get("/merchants?q=nobody").await.text.contains("No merchant fits these filters"));
    assert!(console.get("/merchants?state=nonsense&after=acme").await.text.contains("bolt"));
    let page = console.get("/merchants/acme").await.text;
    assert!(page.contains("One endpoint is failing.") && page.contains(r#"interface=rma">12</a>"#), "{page}");
    assert_eq!(console.get("/merchants/nobody").await.status, 404);
}

#[tokio::test]
async fn merchants_come_in_pages_by_handle() {
    let world = World::new().await;
    for at in 10..35 {
        let handle = format!("shop-{at}").parse().unwrap();
        backhaul::flow::merchants::add_merchant::add_merchant(&world.app, "test", &handle, "A shop", None).await.unwrap();
    }
    let console = world.console(Role::Viewer).await;
    let first = console.get("/merchants").await.text;
    assert!(first.contains("shop-24") && !first.contains("shop-25"));
    let next = between(&first, r#"<footer><a class="btn sm" href=""#, "\"").replace("&#38;", "&").replace("&amp;", "&");
    let second = console.get(&next).await.text;
    assert!(second.contains("shop-25") && second.contains("shop-34") && !second.contains("shop-24<") && !second.contains("<footer>"));
}

#[tokio::test]
async fn a_viewer_sees_merchants_and_changes_nothing() {
    let world = World::new().await;
    world.receiver("acme").await;
    for role in [Role::Viewer, Role::Support] {
        let console = world.console(role).await;
        for path in [
            "/merchants",
            "/merchants/acme",
            "/merchants/acme/onboarding",
            "/merchants/acme/credentials",
            "/merchants/acme/contact",
            "/merchants/acme/endpoints",
            "/merchants/acme/endpoints/rma",
            "/merchants/acme/endpoints/rma/test",
            "/merchants/acme/endpoints/rma/replay",
        ] {
            let page = console.get(path).await;
            assert_eq!(page.status, 200, "{path}");
            let main = between(&page.text, "<main", "</main>");
            assert!(
                !main.contains(r#"method="post""#) || path.ends_with("/contact") && !main.contains("<button class=\"btn\">Save"),
                "{path}"
            );
        }
        let interface = Interface::Rma;
        for path in [
            "/merchants/new".to_owned(),
            "/merchants/acme/pause".to_owned(),
            "/merchants/acme/live".to_owned(),
            "/merchants/acme/credentials".to_owned(),
            "/merchants/acme/contact".to_owned(),
            format!("/merchants/acme/endpoints/{interface}/set"),
            format!("/merchants/acme/endpoints/{interface}/secret"),
            format!("/merchants/acme/endpoints/{interface}/pause"),
            format!("/merchants/acme/endpoints/{interface}/test"),
            format!("/merchants/acme/endpoints/{interface}/replay"),
        ] {
            assert_eq!(console.post(&path, &[("name", "x"), ("handle", "xx"), ("technical_contact", "")]).await.status, 403, "{path}");
        }
    }
    assert_eq!(world.database.count("merchant").await, 1);
    assert_eq!(world.database.texts("select count(*)::text from audit where actor <> 'test'").await, ["0"]);
}

#[tokio::test]
async fn a_contact_and_a_credential_are_previewed() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let contact = "select coalesce(technical_contact, 'none') from merchant";
    let preview = console.post("/merchants/acme/contact", &[("technical_contact", "tech@example.com")]).await.page();
    assert!(preview.contains("tech@example.com, instead of nobody") && preview.contains("from the next notice on"), "{preview}");
    assert_eq!(world.database.texts(contact).await, ["none"]);
    assert_eq!(console.post("/merchants/acme/contact", &hidden_fields(&preview)).await.status, 303);
    assert_eq!(world.database.texts(contact).await, ["tech@example.com"]);
    let preview = console.post("/merchants/acme/contact", &[("technical_contact", "")]).await.page();
    assert!(preview.contains("Remove the technical contact?") && preview.contains("instead of tech@example.com"), "{preview}");
    assert_eq!(console.post("/merchants/acme/contact", &hidden_fields(&preview)).await.status, 303);
    assert_eq!(world.database.texts(contact).await, ["none"]);

    let fields = [("scope", "orders"), ("scope", "warehouse"), ("label", "<b>OMS</b>")];
    let preview = console.post("/merchants/acme/credentials", &fields).await.page();
    for fact in ["tokens for orders warehouse, at once", "&#60;b&#62;OMS&#60;/b&#62;", "1 credential", "shown once"] {
        assert!(preview.contains(fact), "{fact}: {preview}");
    }
    assert!(preview.contains("backhaul credential issue --merchant acme --scope orders --scope warehouse"), "{preview}");
    assert_eq!(world.database.count("credential").await, 1);
    let issued = console.post("/merchants/acme/credentials", &hidden_fields(&preview)).await.page();
    assert!(shown_secret(&issued).starts_with("bhs_"), "{issued}");
    let kept = world.database.texts("select label from credential order by issued_at, client_id").await;
    assert!(kept.contains(&"<b>OMS</b>".to_owned()) && kept.len() == 2, "{kept:?}");
}
