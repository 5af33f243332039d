//! Messages in the console: the list with its filters, and a message with its attempts.

use std::time::Duration;

use backhaul::delivery::secrets::authentication::Authentication;
use backhaul::flow::messages::configure_endpoint::{self as endpoint, EndpointChange};
use domain::merchants::operator::Role;
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::Answer;
use store::messages::outbox::Message;
use uuid::Uuid;

use super::console_pages::{encoded, get, given_up, group_of, hidden, post};
use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// The subjects of a list, in its order.
pub fn subjects(page: &str) -> Vec<String> {
    let rows = page.split("<tr data-row>").skip(1);
    let subject = |row: &str| {
        let cell = row.split_once("data-l=\"Subject\"")?.1;
        Some(cell.split_once("<code>")?.1.split_once("</code>")?.0.to_owned())
    };
    rows.filter_map(subject).collect()
}

/// Owes a message with this body.
async fn is_told(receiver: &Receiver<'_>, subject: &str, sequence: i64, body: &str) -> Uuid {
    let app = &receiver.world.app;
    let mut tx = app.begin(receiver.merchant).await.unwrap();
    let id = app.mint();
    let kind = Kind::Of(Interface::Rma);
    tx.owe(Message { id, kind, event: "rma.created", subject: subject.to_owned(), sequence, body: body.to_owned(), due_at: app.now() });
    app.commit(tx).await.unwrap();
    id
}

#[tokio::test]
async fn messages_are_filtered_by_the_address_and_read_page_by_page() {
    let world = World::new().await;
    let (acme, other) = (world.receiver_with("acme", impatient()).await, world.receiver("other").await);
    given_up(&acme, 2).await;
    world.time_passes(Duration::from_hours(1));
    acme.is_owed("delivered", 1).await;
    other.is_owed("elsewhere", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_mins(1));
    endpoint::pause_endpoint(&world.app, "test", acme.merchant, Interface::Rma).await.unwrap();
    acme.is_owed("owed", 1).await;
    let viewer = world.console(Role::Viewer).await;
    assert_eq!(subjects(&get(&viewer, "/messages").await.page()).first().map(String::as_str), Some("owed"), "the newest first");
    let list = async |query: &str| {
        let mut subjects = subjects(&get(&viewer, &format!("/messages{query}")).await.page());
        subjects.sort();
        subjects
    };
    assert_eq!(list("").await, ["R-0", "R-1", "delivered", "elsewhere", "owed"]);
    assert_eq!(list("?merchant=acme").await, ["R-0", "R-1", "delivered", "owed"]);
    assert_eq!(list("?merchant=acme&state=failed").await, ["R-0", "R-1"]);
    assert_eq!(list("?state=owed").await, ["owed"]);
    assert_eq!(list("?merchant=acme&state=delivered").await, ["delivered"]);
    assert_eq!(list("?merchant=acme&state=unsent").await, Vec::<String>::new());
    assert_eq!(list("?merchant=acme&subject=R-1").await, ["R-1"]);
    assert_eq!(list("?merchant=acme&interface=outbound_asn").await, Vec::<String>::new());
    assert_eq!(list("?merchant=acme&since=2026-03-01T13:00:30Z").await, ["owed"]);
    assert_eq!(list("?merchant=acme&until=2026-03-01T12:30").await, ["R-0", "R-1"]);
    let page = get(&viewer, "/messages?merchant=acme&state=owed&since=yesterday").await.page();
    assert!(
        page.contains("“Written since” cannot be read.") && page.contains("backhaul messages list --merchant acme --state owed"),
        "{page}"
    );
    assert!(page.contains("data-renew"), "the newest messages are followed");
    assert!(!get(&viewer, "/messages?merchant=acme&until=2026-03-01T12:30").await.page().contains("data-renew"));
    assert!(get(&viewer, "/messages?subject=R-1").await.page().contains("name the merchant as well"));

    // The list over all merchants has 25 messages a page, that of a merchant 50.
    for number in 0..60 {
        acme.is_owed(&format!("N-{number}"), 1).await;
    }
    for (query, sizes) in [("?merchant=acme&state=owed", [50, 11]), ("", [25, 25])] {
        let first = get(&viewer, &format!("/messages{query}")).await.page();
        let older = first.split("<a href=\"").find_map(|rest| rest.split_once("\">Older</a>")).unwrap().0.replace("&#38;", "&");
        let second = get(&viewer, &older).await.page();
        let (first, second) = (subjects(&first), subjects(&second));
        assert_eq!([first.len(), second.len()], sizes, "{query}");
        assert!(first.iter().all(|subject| !second.contains(subject)));
        assert!(!get(&viewer, &older).await.page().contains("data-renew"));
    }
}

#[tokio::test]
async fn a_message_shows_attempts_headers_and_changes_without_secrets() {
    let world = World::new().await;
    let token = "s3cret-token-of-the-merchant";
    let authentication = Some(Authentication::Bearer(token.into()));
    let receiver = world.receiver_with("acme", EndpointChange { authentication, ..impatient() }).await;
    let first = is_told(&receiver, "R-1", 1, r#"{"status":"CREATED","items":[{"sku":"A"}],"email":"pat@example.com"}"#).await;
    world.deliver_all_due().await;
    receiver.systems.answer(PATH, Answer::status(503).body(format!("down for maintenance; you sent Bearer {token}")));
    let second = is_told(&receiver, "R-1", 2, r#"{"status":"REFUNDED","items":[{"sku":"A"}],"email":"pat@example.com"}"#).await;
    world.deliver_all_due().await;
    let support = world.console(Role::Support).await;
    let page = get(&support, &format!("/merchants/acme/messages/{second}")).await.page();
    for seen in [
        "down for maintenance; you sent Bearer [hidden]",
        "<del class=\"del\">CREATED</del>",
        "<ins class=\"ins\">REFUNDED</ins>",
        "2 other fields are the same.",
        "x-service-sequence",
        "v1,<span class=\"mask\">signature, not shown</span>",
        "Bearer <span class=\"mask\">token, not shown</span>",
        "Next attempt at",
        "Still owed: it is tried again by itself.",
        "curl -X POST",
        "webhook-signature: v1,SIGNATURE",
        "authorization: Bearer TOKEN",
        "backhaul messages show --merchant acme",
    ] {
        assert!(page.contains(seen), "{seen}: {page}");
    }
    assert!(!page.contains(&receiver.secret) && !page.contains("whsec_") && !page.contains(token));
    assert!(page.contains(&format!("/merchants/acme/messages/{first}\" data-key=\"[\"")), "the one before: {page}");
    let before = get(&support, &format!("/merchants/acme/messages/{first}")).await.page();
    assert!(before.contains(&format!("/merchants/acme/messages/{second}\" data-key=\"]\"")) && before.contains("Delivered"), "{before}");
    assert_eq!(get(&support, &format!("/merchants/acme/messages/{}", Uuid::nil())).await.status, 404);
    world.receiver("other").await;
    assert_eq!(get(&support, &format!("/merchants/other/messages/{first}")).await.status, 404);

    // Viewers see neither body nor answer, and who does.
    let viewer = world.console(Role::Viewer).await;
    let page = get(&viewer, &format!("/merchants/acme/messages/{second}")).await.page();
    for hidden in ["pat@example.com", "down for maintenance", "REFUNDED", "curl", "Retry"] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    assert!(page.contains("They are shown to the role <b>support</b> and above; yours is <b>viewer</b>."), "{page}");
    assert!(page.contains("503"), "the status is no secret");
}

#[tokio::test]
async fn a_secret_that_a_system_repeats_in_its_answer_is_not_shown() {
    let world = World::new().await;
    let support = world.console(Role::Support).await;
    let secret = "s3cret/of \"the\" merchant";
    let ways = [
        ("key", Authentication::ApiKey { header: "X-Api-Key".to_owned(), value: secret.into() }),
        ("bearer", Authentication::Bearer(secret.into())),
        ("basic", Authentication::Basic { user: "backhaul".to_owned(), password: secret.into() }),
    ];
    for (handle, authentication) in ways {
        let receiver = world.receiver_with(handle, EndpointChange { authentication: Some(authentication), ..impatient() }).await;
        let signing = receiver.secret.trim_start_matches("whsec_").to_owned();
        let echo = serde_json::json!({ "key": secret, "signing": signing, "said": "no" }).to_string();
        receiver.systems.answer(PATH, Answer::status(503).body(echo));
        let id = receiver.is_owed("R-1", 1).await;
        world.deliver_all_due().await;
        let at = format!("/merchants/{handle}/messages/{id}");
        let hides = |page: &str| !page.contains("s3cret") && !page.contains(&signing) && page.contains("[hidden]") && page.contains("said");
        let page = get(&support, &at).await.page();
        assert!(hides(&page), "{page}");
        // Also once the endpoint is gone.
        endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
        let page = get(&support, &at).await.page();
        assert!(hides(&page), "{page}");
    }
}

#[tokio::test]
async fn one_message_is_sent_again_after_a_preview() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 1).await;
    let support = world.console(Role::Support).await;
    let (message, retry) = (format!("/merchants/acme/messages/{}", ids[0]), format!("/merchants/acme/messages/{}/retry", ids[0]));
    let preview = get(&support, &retry).await.page();
    assert!(preview.contains("Send this message again?") && preview.contains("no. 7"), "{preview}");
    // While the endpoint is paused, the message stays owed.
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let sent = post(&support, &retry, &[]).await;
    assert_eq!((sent.status, sent.location), (303, message.clone()));
    let late = post(&support, &retry, &[]).await;
    assert!(late.status == 409 && late.text.contains("somebody has retried it meanwhile"), "{}", late.text);
    assert_eq!(get(&support, &retry).await.status, 409);
    endpoint::resume_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert!(get(&support, &message).await.page().contains("Delivered"));
    let audit = world.database.texts("select split_part(actor, ':', 1) from audit where action = 'message.retried'").await;
    assert_eq!(audit, ["operator"]);
    let viewer = world.console(Role::Viewer).await;
    assert_eq!((get(&viewer, &retry).await.status, post(&viewer, &retry, &[]).await.status), (403, 403));
}

#[tokio::test]
async fn whatever_is_stored_is_shown_as_text() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let evil = "<script>alert(1)</script>";
    sqlx::query("update merchant set name = $1, technical_contact = $1")
        .bind(evil)
        .execute(&mut world.database.connect().await)
        .await
        .unwrap();
    receiver.systems.answer(PATH, Answer::status(503).body(evil));
    is_told(&receiver, evil, 1, &format!(r#"{{"a":"{evil}"}}"#)).await;
    let id = is_told(&receiver, evil, 2, &format!(r#"{{"{evil}":"{evil}x"}}"#)).await;
    world.five_retries_pass().await;
    world.five_retries_pass().await;
    let fill = "update failure set reason = $1, event = $1";
    sqlx::query(fill).bind(evil).execute(&mut world.database.connect().await).await.unwrap();
    sqlx::query("update message set event = $1").bind(evil).execute(&mut world.database.connect().await).await.unwrap();
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let work = [hidden(&group), encoded(&[("owner", evil), ("note", evil)])].concat();
    assert_eq!(post(&support, "/failures/work", &work).await.status, 303);
    let job = post(&support, "/failures/retry", &hidden(&group)).await.location;
    sqlx::query("update retry_job set created_by = $1").bind(evil).execute(&mut world.database.connect().await).await.unwrap();
    let pages = [
        "/failures".to_owned(),
        "/failures/jobs".to_owned(),
        format!("/failures?owner={}", serde_urlencoded::to_string([("", evil)]).unwrap().trim_start_matches('=')),
        group.clone(),
        group.replace("/group", "/retry"),
        group.replace("/group", "/discard"),
        group.replace("/group", "/work"),
        format!("{job}/cancel"),
        job,
        "/messages".to_owned(),
        "/messages?merchant=acme".to_owned(),
        format!("/merchants/acme/messages/{id}"),
    ];
    for at in pages {
        let page = get(&support, &at).await.page();
        assert!(!page.contains("<script>alert"), "{at}: {page}");
        assert!(page.contains("&#60;script&#62;alert(1)"), "{at}: {page}");
    }
}
