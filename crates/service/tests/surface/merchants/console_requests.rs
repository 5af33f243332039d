//! The second person: one administrator asks, another one decides.

use std::time::Duration;

use backhaul::flow::merchants::operators::forget_outdated::forget_outdated;
use domain::merchants::operator::Role;
use store::merchants::operators;

use crate::messages::console_pages::{encoded, given_up, group_of, hidden};
use crate::world::console::Console;
use crate::world::receiver::impatient;
use crate::world::{World, message, order};

async fn id_of(person: &Console<'_>) -> String {
    operators::find(person.world.app.home(), &person.email).await.unwrap().unwrap().operator.id.to_string()
}

/// Asks to make somebody an administrator, and returns the path of the request.
async fn asks_for_an_admin(admin: &Console<'_>, person: &Console<'_>) -> String {
    let asked =
        admin.post(&format!("/operators/{}/role", id_of(person).await), &[("role", "admin"), ("why", "They lead the desk now.")]).await;
    assert_eq!(asked.status, 303, "{}", asked.text);
    assert!(asked.location.starts_with("/requests/"));
    asked.location
}

async fn role_of(person: &Console<'_>) -> Role {
    operators::find(person.world.app.home(), &person.email).await.unwrap().unwrap().operator.role
}

#[tokio::test]
async fn nobody_decides_what_they_asked_for() {
    let world = World::new().await;
    let (admin, second, person) = (world.console(Role::Admin).await, world.console(Role::Admin).await, world.console(Role::Manager).await);
    let request = asks_for_an_admin(&admin, &person).await;
    assert_eq!(role_of(&person).await, Role::Manager, "nothing happens until somebody decides");
    for decide in ["approve", "decline"] {
        let own = admin.post(&request, &[("decide", decide), ("reason", "because")]).await;
        assert!(own.status == 409 && own.text.contains("You asked for it, so somebody else decides."), "{}", own.text);
    }
    let page = admin.get(&request).await.page();
    assert!(page.contains("Take it back") && !page.contains(r#"value="approve""#), "{page}");
    assert_eq!(person.get(&request).await.status, 403);
    assert_eq!(person.post(&request, &[("decide", "approve")]).await.status, 403);
    // The other administrator sees it and approves.
    let list = second.get("/requests").await.page();
    assert!(list.contains("Waits for you") && list.contains(&request), "{list}");
    assert!(admin.get("/requests").await.page().contains("Nothing waits for you"));
    assert!(admin.get("/requests?show=mine").await.page().contains("Waits for somebody else"));
    assert!(second.get(&request).await.page().contains("They lead the desk now."));
    assert_eq!(second.post(&request, &[("decide", "approve"), ("reason", "")]).await.location, request);
    assert_eq!(role_of(&person).await, Role::Admin);
    assert_eq!(person.get("/operators/invite").await.status, 200);
    let page = second.get(&request).await.page();
    assert!(page.contains("Approved and done") && page.contains("Manager One is an administrator."), "{page}");
    // Decided once is decided.
    let again = second.post(&request, &[("decide", "decline"), ("reason", "no")]).await;
    assert!(again.status == 409 && again.text.contains("has been decided already: approved"), "{}", again.text);
    assert!(second.get("/requests?show=decided").await.page().contains(&request));
    let audit = world.database.texts("select action || ' ' || actor from home_audit where action like 'request.%' or action = 'operator.role_changed' order by action").await;
    assert_eq!(
        audit,
        [
            "operator.role_changed operator:admin.one@ops.example.com with operator:admin.two@ops.example.com",
            "request.approved operator:admin.two@ops.example.com",
            "request.asked operator:admin.one@ops.example.com",
            "request.carried_out operator:admin.one@ops.example.com with operator:admin.two@ops.example.com",
        ]
    );
}

#[tokio::test]
async fn a_request_is_declined_with_a_reason_or_taken_back() {
    let world = World::new().await;
    let (admin, second, person) = (world.console(Role::Admin).await, world.console(Role::Admin).await, world.console(Role::Support).await);
    let why = admin.post(&format!("/operators/{}/role", id_of(&person).await), &[("role", "admin"), ("why", " ")]).await;
    assert!(why.status == 422 && why.text.contains("Say why"), "{}", why.text);
    let request = asks_for_an_admin(&admin, &person).await;
    let silent = second.post(&request, &[("decide", "decline"), ("reason", " ")]).await;
    assert!(silent.status == 422 && silent.text.contains("Say why"), "{}", silent.text);
    assert_eq!(second.post(&request, &[("decide", "decline"), ("reason", "Too early.")]).await.status, 303);
    let page = admin.get(&request).await.page();
    assert!(page.contains("Declined") && page.contains("Too early."), "{page}");
    let other = asks_for_an_admin(&admin, &person).await;
    let theirs = second.post(&other, &[("decide", "take back")]).await;
    assert!(theirs.status == 409 && theirs.text.contains("Only the person who asked"), "{}", theirs.text);
    assert_eq!(admin.post(&other, &[("decide", "take back")]).await.status, 303);
    assert!(second.get(&other).await.page().contains("Taken back"));
    assert_eq!(second.post(&other, &[("decide", "approve")]).await.status, 409);
    assert_eq!(role_of(&person).await, Role::Support);
}

#[tokio::test]
async fn a_request_lapses_after_72_hours() {
    let world = World::new().await;
    let (admin, second, person) = (world.console(Role::Admin).await, world.console(Role::Admin).await, world.console(Role::Support).await);
    let request = asks_for_an_admin(&admin, &person).await;
    world.time_passes(Duration::from_hours(72));
    assert_eq!(second.signs_in().await.status, 303);
    let late = second.post(&request, &[("decide", "approve")]).await;
    assert!(late.status == 409 && late.text.contains("The request has lapsed"), "{}", late.text);
    assert!(second.get("/requests").await.page().contains("Nothing waits for you"));
    assert!(second.get("/requests?show=lapsed").await.page().contains(&request));
    assert_eq!(role_of(&person).await, Role::Support);
    for (days, kept) in [(396, 1), (1, 0)] {
        world.time_passes(Duration::from_hours(days * 24));
        forget_outdated(&world.app).await.unwrap();
        assert_eq!(world.database.count("operator_request").await, kept, "after {days} days");
    }
}

#[tokio::test]
async fn a_shopper_is_erased_by_two_people() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([order("O-1")])).await;
    let (admin, second) = (world.console(Role::Admin).await, world.console(Role::Admin).await);
    for (fields, fault) in [
        ([("merchant", "nobody"), ("order", "O-1"), ("why", "asked")], "There is no merchant with this handle."),
        ([("merchant", "acme"), ("order", " "), ("why", "asked")], "Name the order"),
        ([("merchant", "acme"), ("order", "O-1"), ("why", "")], "Say why"),
    ] {
        let refused = admin.post("/requests/erase", &fields).await;
        assert!(refused.status == 422 && refused.text.contains(fault), "{}", refused.text);
    }
    assert!(admin.get("/requests/erase?merchant=acme&order=O-1").await.page().contains(r#"value="O-1""#));
    let asked =
        admin.post("/requests/erase", &[("merchant", "acme"), ("order", "O-1"), ("why", "The shopper asked on 27 February.")]).await;
    assert_eq!(asked.status, 303, "{}", asked.text);
    let erased = "select count(*)::text from customer_order where snapshot like '%pat@example.com%'";
    assert_eq!(world.database.texts(erased).await, ["1"]);
    assert_eq!(second.post(&asked.location, &[("decide", "approve")]).await.status, 303);
    let page = second.get(&asked.location).await.page();
    assert!(page.contains("The order was erased."), "{page}");
    assert_eq!(world.database.texts(erased).await, ["0"]);
    assert_eq!(
        world.database.texts("select actor from audit where action = 'order.erased'").await,
        ["operator:admin.one@ops.example.com with operator:admin.two@ops.example.com"]
    );
}

#[tokio::test]
async fn an_approved_request_that_failed_can_be_carried_out_again() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (admin, second) = (world.console(Role::Admin).await, world.console(Role::Admin).await);
    let asked = admin.post("/requests/erase", &[("merchant", "acme"), ("order", "O-1"), ("why", "The shopper asked.")]).await;
    assert_eq!(second.post(&asked.location, &[("decide", "approve")]).await.status, 303);
    let page = second.get(&asked.location).await.page();
    assert!(page.contains("Approved, not done") && page.contains("the merchant has no such order"), "{page}");
    merchant.publishes(&message([order("O-1")])).await;
    let own = admin.post(&asked.location, &[("decide", "approve")]).await;
    assert_eq!(own.status, 409, "whoever asked does not carry it out either");
    assert_eq!(second.post(&asked.location, &[("decide", "approve")]).await.status, 303);
    assert!(second.get(&asked.location).await.page().contains("Approved and done"));
}

/// The failures that are still in the queue.
async fn open_failures(world: &World) -> Vec<String> {
    world.database.texts("select count(*)::text from failure where state = 'open'").await
}

/// A merchant with 101 failures of one group, and the address of the group.
async fn too_many_failures(world: &World, admin: &Console<'_>) -> String {
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 1).await;
    let more = "insert into failure (merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body)
        select merchant_id, gen_random_uuid(), endpoint_id, 1, failed_at, 6, kind, event, 'X-' || number, reason, 'open', body
        from failure, generate_series(1, 100) as number";
    sqlx::query(more).execute(&mut world.database.connect().await).await.unwrap();
    group_of(admin, "acme").await
}

/// Asks to discard the group, and returns the path of the request.
async fn asks_to_discard(admin: &Console<'_>, group: &str) -> String {
    let fields = [hidden(group), encoded(&[("why", "Their system is gone.")])].concat();
    let asked = admin.post("/failures/discard/request?merchant=acme", &fields).await;
    assert!(asked.status == 303 && asked.location.starts_with("/requests/"), "{}", asked.text);
    asked.location
}

#[tokio::test]
async fn more_than_a_hundred_failures_are_discarded_by_two_people() {
    let world = World::new().await;
    let (admin, second) = (world.console(Role::Admin).await, world.console(Role::Admin).await);
    let group = too_many_failures(&world, &admin).await;
    let request = asks_to_discard(&admin, &group).await;
    assert_eq!(open_failures(&world).await, ["101"], "nothing happens until somebody decides");
    assert!(second.get("/").await.page().contains("1 request needs you as the second person"));
    assert!(!admin.get("/").await.page().contains("you as the second person"), "not the one who asked");
    let own = admin.post(&request, &[("decide", "approve"), ("reason", "")]).await;
    assert!(own.status == 409 && own.text.contains("You asked for it, so somebody else decides."), "{}", own.text);
    assert_eq!(open_failures(&world).await, ["101"]);
    // What fails after the request is not covered by it.
    world.time_passes(Duration::from_mins(1));
    let later = "insert into failure (merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body)
        select merchant_id, gen_random_uuid(), endpoint_id, 1, failed_at + interval '1 hour', 6, kind, event, 'later', reason, 'open', body
        from failure where subject = 'R-0'";
    sqlx::query(later).execute(&mut world.database.connect().await).await.unwrap();
    let page = second.get(&request).await.page();
    assert!(page.contains("Discard 101 failures") && page.contains("Their system is gone."), "{page}");
    assert_eq!(second.post(&request, &[("decide", "approve"), ("reason", "")]).await.location, request);
    assert!(second.get(&request).await.page().contains("101 were discarded."));
    assert_eq!(world.database.texts("select subject from failure where state = 'open'").await, ["later"]);
    let both = "operator:admin.one@ops.example.com with operator:admin.two@ops.example.com";
    assert_eq!(world.database.texts("select actor from audit where action = 'failures.discarded'").await, [both]);
    let audit = world.database.texts("select action || ' ' || actor from home_audit where action like 'request.%' order by action").await;
    assert_eq!(
        audit,
        [
            "request.approved operator:admin.two@ops.example.com".to_owned(),
            "request.asked operator:admin.one@ops.example.com".to_owned(),
            format!("request.carried_out {both}"),
        ]
    );
    // Decided once is decided.
    assert_eq!(second.post(&request, &[("decide", "approve"), ("reason", "")]).await.status, 409);
}

#[tokio::test]
async fn a_request_to_discard_is_taken_back_or_lapses_and_nothing_is_discarded() {
    let world = World::new().await;
    let (admin, second) = (world.console(Role::Admin).await, world.console(Role::Admin).await);
    let group = too_many_failures(&world, &admin).await;
    let taken_back = asks_to_discard(&admin, &group).await;
    assert_eq!(second.post(&taken_back, &[("decide", "take back"), ("reason", "")]).await.status, 409, "only by the one who asked");
    assert_eq!(admin.post(&taken_back, &[("decide", "take back"), ("reason", "")]).await.status, 303);
    assert!(second.get(&taken_back).await.page().contains("Taken back"));
    assert_eq!(second.post(&taken_back, &[("decide", "approve"), ("reason", "")]).await.status, 409);
    let lapsing = asks_to_discard(&admin, &group).await;
    world.time_passes(Duration::from_hours(72));
    assert_eq!(second.signs_in().await.status, 303);
    let late = second.post(&lapsing, &[("decide", "approve"), ("reason", "")]).await;
    assert!(late.status == 409 && late.text.contains("The request has lapsed"), "{}", late.text);
    assert!(!second.get("/").await.page().contains("you as the second person"), "nobody is asked for it any more");
    assert_eq!(open_failures(&world).await, ["101"]);
    assert!(world.database.texts("select actor from audit where action = 'failures.discarded'").await.is_empty());
}
