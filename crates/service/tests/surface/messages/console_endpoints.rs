//! Endpoints in the operator's console: settings, tests, secrets, pause, and how they fare.

use std::time::Duration;

use backhaul::delivery::secrets::authentication::Authentication;
use backhaul::delivery::secrets::stored::Secrets;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use sandbox::merchant::{Answer, OnShelf};
use secrecy::ExposeSecret as _;
use store::merchants::accounts;
use store::messages::endpoints;

use crate::merchants::console_merchants::{NOTHING, actor, shown_secret};
use crate::world::World;
use crate::world::console::{between, hidden_fields};
use crate::world::receiver::PATH;

#[tokio::test]
async fn the_whole_exchange_of_a_test_is_shown_without_its_secrets() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Manager).await;
    let secret = "s3cret-token-of-the-merchant";
    let set = console.confirms("/merchants/acme/endpoints/rma/set", &[("authentication", "bearer"), ("secret", secret)]).await;
    assert_eq!(set.status, 303);
    receiver.systems.answer(PATH, Answer::status(503).body(format!(r#"{{"you sent":"Bearer {secret}"}}"#)));
    let path = console.post("/merchants/acme/endpoints/rma/test", &[("variant", "")]).await.location;
    assert!(console.get(&path).await.text.contains("The test is on its way."));
    world.deliver_all_due().await;

    let page = console.get(&path).await.text;
    assert!(page.contains("ended with 503") && page.contains("A real message would be tried again after 5 s"), "{page}");
    assert!(page.contains("Bearer [hidden]") && !page.contains(secret) && !page.contains(&receiver.secret), "{page}");
    // Every header that arrived is shown, and no other.
    let arrival = receiver.systems.received_at(PATH).pop().unwrap();
    let transport = ["host", "content-length", "connection", "accept", "accept-encoding"];
    let mut arrived: Vec<String> =
        arrival.headers().keys().map(ToString::to_string).filter(|name| !transport.contains(&name.as_str())).collect();
    let table = between(&page, r#"aria-labelledby="h-rq""#, "</table>");
    let mut shown: Vec<String> = table.split("<code>").skip(1).map(|rest| rest[..rest.find('<').unwrap()].to_owned()).collect();
    arrived.sort();
    shown.sort();
    assert_eq!(shown, arrived);
    assert!(between(table, "<code>webhook-id</code>", "</tr>").contains(arrival.message_id().unwrap()), "{table}");
    assert!(page.contains("Bearer <span class=\"mask\">token, not shown</span>"), "{page}");

    receiver.systems.answer(PATH, Answer::ok());
    let path = console.post("/merchants/acme/endpoints/rma/test", &[("variant", "")]).await.location;
    world.deliver_all_due().await;
    assert!(console.get(&path).await.text.contains("A real message would count as delivered."));
    assert_eq!(console.get("/merchants/acme/endpoints/rma/test/00000000-0000-0000-0000-000000000000").await.status, 404);
    let audit = world.database.texts("select actor from audit where action = 'endpoint.tested'").await;
    assert_eq!(audit, [actor(&console), actor(&console)]);
}

#[tokio::test]
async fn a_test_holds_for_the_address_that_was_tested() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Manager).await;
    let tested = "select coalesce(to_char(tested_at at time zone 'UTC', 'HH24:MI'), 'never') from endpoint where not internal";
    let test = async || {
        console.post("/merchants/acme/endpoints/rma/test", &[("variant", "")]).await;
        world.deliver_all_due().await;
    };
    test().await;
    assert_eq!(world.database.texts(tested).await, ["12:00"]);
    // Limits and pauses change nothing about it; another address does.
    console.confirms("/merchants/acme/endpoints/rma/set", &[("slots", "3")]).await;
    assert_eq!(world.database.texts(tested).await, ["12:00"]);
    let url = receiver.systems.url("/rmas/v2");
    console.confirms("/merchants/acme/endpoints/rma/set", &[("url", url.as_str())]).await;
    assert_eq!(world.database.texts(tested).await, ["never"]);
    // Nor does a test that was under way when the address changed count.
    console.post("/merchants/acme/endpoints/rma/test", &[("variant", "")]).await;
    world.time_passes(Duration::from_secs(1));
    console.confirms("/merchants/acme/endpoints/rma/set", &[("url", receiver.systems.url(PATH).as_str())]).await;
    world.deliver_all_due().await;
    assert_eq!(world.database.texts(tested).await, ["never"]);
    world.time_passes(Duration::from_mins(5));
    test().await;
    assert_eq!(world.database.texts(tested).await, ["12:05"]);
}

#[tokio::test]
async fn variants_are_queried_as_a_test() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Manager).await;
    receiver.systems.has_variants("RUN-42", std::iter::empty::<OnShelf>());
    let url = receiver.systems.url("/sku/{variant_identifier}/variants");
    let set = console.confirms("/merchants/acme/endpoints/exchange_variants/set", &[("url", url.as_str())]).await;
    assert_eq!(set.status, 303, "nothing is signed, so no secret is shown");
    let page = console.post("/merchants/acme/endpoints/exchange_variants/test", &[("variant", "RUN-42")]).await.text;
    assert!(
        page.contains("ended with 200") && page.contains("A shopper would be offered 0 variants") && page.contains("/sku/RUN-42/variants"),
        "{page}"
    );
    assert!(console.get("/merchants/acme/onboarding").await.text.contains("Not tested yet: rma."), "the other one is tested");
    assert_eq!(console.get("/merchants/acme/endpoints/exchange_variants/replay").await.status, 422);
    assert_eq!(console.get("/merchants/acme/endpoints/exchange_variants/secret").await.status, 422);
}

#[tokio::test]
async fn a_new_signing_secret_is_shown_once_and_signs_beside_the_previous_one_for_a_day() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Manager).await;
    assert!(console.get("/merchants/acme/endpoints/rma/secret").await.text.contains("for 24 hours"));
    let page = console.post("/merchants/acme/endpoints/rma/secret", &NOTHING).await;
    let new = shown_secret(&page.text);
    assert!(page.location.is_empty() && new.starts_with("whsec_") && new != receiver.secret);
    let shown = console.get("/merchants/acme/endpoints/rma").await.text;
    assert!(shown.contains("Two secrets sign") && !shown.contains(&new), "{shown}");
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let arrival = receiver.systems.received_at(PATH).pop().unwrap();
    let now = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(world.app.now().timestamp()).unwrap());
    arrival.verify(&new, now).unwrap();
    arrival.verify(&receiver.secret, now).unwrap();

    world.time_passes(Duration::from_hours(25));
    console.signs_in().await;
    assert!(console.get("/merchants/acme/endpoints/rma").await.text.contains("One secret signs"));
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    let arrival = receiver.systems.received_at(PATH).pop().unwrap();
    let now = now + Duration::from_hours(25) + Duration::from_secs(30);
    arrival.verify(&new, now).unwrap();
    assert!(arrival.verify(&receiver.secret, now).is_err());
}

#[tokio::test]
async fn an_endpoint_is_paused_and_resumed_in_a_persons_name_and_nothing_is_lost() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Manager).await;
    console.post("/merchants/acme/endpoints/rma/pause", &NOTHING).await;
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.systems.count(), 0);
    let page = console.get("/merchants/acme/endpoints/rma").await.text;
    assert!(page.contains(r#"<span class="st pause">Paused</span>"#) && page.contains("state=owed\">2</a>"), "{page}");
    assert!(console.get("/merchants/acme/endpoints/rma/resume").await.text.contains("2 messages that wait, in order"));
    world.time_passes(Duration::from_secs(1));
    console.post("/merchants/acme/endpoints/rma/resume", &NOTHING).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2"]);
    let audit =
        world.database.texts("select action || ' ' || detail || ' by ' || actor from audit where actor <> 'test' order by done_at").await;
    let by = actor(&console);
    assert_eq!(audit, [format!("endpoint.paused rma by {by}"), format!("endpoint.resumed rma by {by}")]);
}

#[tokio::test]
async fn the_last_day_of_an_endpoint_is_drawn_and_told() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Viewer).await;
    assert!(
        console
            .get("/merchants/acme/endpoints/rma")
            .await
            .text
            .contains(r#"role="img" aria-label="Calls by the hour: none in the last 24 hours""#)
    );
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_hours(3));
    console.signs_in().await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-3", 1).await;
    world.deliver_all_due().await;
    let page = console.get("/merchants/acme/endpoints/rma").await.text;
    assert!(page.contains("Calls by the hour: 3 in the last 24 hours, of which 2 succeeded and 1 failed"), "{page}");
    let plot = between(&page, r#"<svg class="strip""#, "</svg>");
    assert_eq!((plot.matches("f-ok").count(), plot.matches("f-bad").count()), (1, 1));
    assert!(page.contains(r#"<span class="sc s2">200</span>"#) && page.contains(r#"<span class="sc s5">503</span>"#));
    assert!(page.contains("66.66 % of all calls") && page.contains("100.00 %"), "{page}");
    assert_eq!(page.matches("</tr><tr><td><time").count() + 1, 24, "a row for each hour");
}

#[tokio::test]
async fn what_is_wrong_with_an_endpoint_is_told_and_the_form_keeps_what_was_typed() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let set = async |fields: &[(&str, &str)]| console.post("/merchants/acme/endpoints/rma/set", fields).await;
    let refused = set(&[("url", "ftp://example.com/<x>"), ("authentication", "bearer"), ("secret", "hush-hush")]).await;
    assert!(refused.status == 422 && refused.text.contains("Nothing was changed."), "{}", refused.text);
    assert!(refused.text.contains("ftp://example.com/&#60;x&#62;") && !refused.text.contains("hush-hush"), "{}", refused.text);
    let refused = set(&[("url", "http://127.0.0.1:1/rmas"), ("authentication", "basic"), ("user", "acme")]).await;
    assert!(refused.status == 422 && refused.text.contains("This authentication needs a secret."));
    let refused = set(&[("url", "http://127.0.0.1:1/rmas"), ("per_second", "many")]).await;
    assert!(refused.status == 422 && refused.text.contains("The calls a second must be a whole number."));
    let refused = set(&[("url", "http://127.0.0.1:1/rmas"), ("slots", "0")]).await;
    assert!(refused.status == 422 && refused.text.contains("1 to 1000 concurrent calls"));
    assert_eq!(console.get("/merchants/acme/endpoints/nothing/set").await.status, 404);
    assert_eq!(console.get("/merchants/acme/endpoints/rma").await.status, 404, "it is not set");
    assert!(console.get("/merchants/acme/endpoints").await.text.contains("/merchants/acme/endpoints/rma/set"));
}

#[tokio::test]
async fn an_endpoint_is_set_after_a_preview_that_never_shows_the_secret() {
    let world = World::new().await;
    world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let (path, secret) = ("/merchants/acme/endpoints/rma/set", "hush \"hush\"");
    let fields = [("url", "http://127.0.0.1:1/rmas"), ("authentication", "api-key"), ("secret", secret), ("slots", "7")];
    let preview = console.post(path, &fields).await.page();
    for fact in ["Add the endpoint rma of", "http://127.0.0.1:1/rmas", "api key", "7", "the usual ones", "shown once, on the next page"] {
        assert!(preview.contains(fact), "{fact}: {preview}");
    }
    assert!(!preview.contains("hush"), "{preview}");
    assert_eq!(world.database.count("endpoint").await, 0, "nothing happens before the button is pressed");
    // A secret that was sealed for another merchant is none here.
    world.merchant("other").await;
    let foreign = console.post("/merchants/other/endpoints/rma/set", &hidden_fields(&preview)).await;
    assert_eq!(foreign.status, 403, "{}", foreign.text);
    let set = console.post(path, &hidden_fields(&preview)).await.page();
    assert!(shown_secret(&set).starts_with("whsec_") && !set.contains("hush"), "{set}");
    let merchant = accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap().id;
    let endpoint = endpoints::find_for(world.app.store(merchant), merchant, Interface::Rma).await.unwrap().unwrap();
    let Authentication::ApiKey { value, .. } = Secrets::open(&world.app, merchant, &endpoint).unwrap().authentication else { panic!() };
    assert_eq!((value.expose_secret(), endpoint.slots), (secret, 7));
    // A change says what it replaces.
    let preview = console.post(path, &[("url", "http://127.0.0.1:1/rmas"), ("slots", "9")]).await.page();
    for fact in ["Change the endpoint rma of", "http://127.0.0.1:1/rmas, as before", "9, instead of 7", "api key, as before"] {
        assert!(preview.contains(fact), "{fact}: {preview}");
    }
    let kept = endpoints::find_for(world.app.store(merchant), merchant, Interface::Rma).await.unwrap().unwrap();
    assert_eq!(kept.slots, 7);
}
