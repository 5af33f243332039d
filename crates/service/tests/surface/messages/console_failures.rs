//! The failure queue in the console: groups, work, retries, discarding and exports.

use std::time::Duration;

use backhaul::flow::messages::discard_failures::{Bound, discard_failures};
use backhaul::flow::messages::retry_message::{Asker, retry_message};
use domain::merchants::operator::Role;
use sandbox::merchant::Answer;
use store::messages::failure_selection::Selection;
use uuid::Uuid;

use super::console_pages::{a_second_passes, encoded, get, given_up, group_of, hidden, post, the_job_ends};
use crate::world::World;
use crate::world::receiver::{PATH, impatient};

#[tokio::test]
async fn the_queue_lists_groups_of_all_merchants_and_the_address_filters_them() {
    let world = World::new().await;
    let (acme, other) = (world.receiver_with("acme", impatient()).await, world.receiver_with("other", impatient()).await);
    let ids = given_up(&acme, 3).await;
    given_up(&other, 1).await;
    let support = world.console(Role::Support).await;
    let all = get(&support, "/failures").await.page();
    assert!(all.contains("merchant=acme&#38;endpoint=") && all.contains("merchant=other&#38;endpoint="), "{all}");
    assert!(all.contains("4 messages were given up and wait for somebody: 2 groups at 2 endpoints."), "{all}");
    let acmes = get(&support, "/failures?merchant=acme").await.page();
    assert!(acmes.contains("merchant=acme&#38;") && !acmes.contains("merchant=other&#38;endpoint="), "{acmes}");
    assert!(acmes.contains("backhaul failures list --merchant acme"), "{acmes}");
    assert!(get(&support, "/failures?interface=rma").await.page().contains("2 groups"));
    assert!(get(&support, "/failures?interface=outbound_asn").await.page().contains("No failure fits these filters"));
    assert!(get(&support, "/failures?merchant=nobody-knows").await.page().contains("There is no merchant with this handle."));
    assert!(get(&support, "/failures?internal=yes").await.page().contains("The failure queue is empty"));

    // Owners: nobody has any yet; then one of three is mine.
    assert!(get(&support, "/failures?owner=me").await.page().contains("No failure fits these filters"));
    let group = group_of(&support, "acme").await;
    let me = all.split_once(">Me (").unwrap().1.split_once(')').unwrap().0;
    let fields = [hidden(&group), encoded(&[("id", &ids[0].to_string()), ("owner", me)])].concat();
    assert_eq!(post(&support, "/failures/work", &fields).await.status, 303);
    let mine = get(&support, "/failures?owner=me").await.page();
    assert!(mine.contains("1 group at 1 endpoint") && mine.contains("; 2 without"), "{mine}");
    assert!(get(&support, "/failures?owner=nobody").await.page().contains("2 groups"));
}

#[tokio::test]
async fn a_group_is_read_page_by_page() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 60).await;
    let viewer = world.console(Role::Viewer).await;
    let group = group_of(&viewer, "acme").await;
    let first = get(&viewer, &group).await.page();
    assert_eq!(first.matches("<tr data-row>").count(), 50);
    let next = first.split("<a href=\"").find_map(|rest| rest.split_once("\">Next</a>")).unwrap().0.replace("&#38;", "&");
    let second = get(&viewer, &next).await.page();
    assert_eq!(second.matches("<tr data-row>").count(), 10);
    for subject in 0..60 {
        let cell = format!("<code>R-{subject}</code>");
        assert!(first.contains(&cell) != second.contains(&cell), "R-{subject} is on one of the pages");
    }
}

#[tokio::test]
async fn the_work_on_a_group_and_on_a_selection_is_kept_as_a_history() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 3).await;
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let with = |more: &[(&str, &str)]| {
        [hidden(&group), more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Vec<_>>()].concat()
    };
    assert_eq!(post(&support, "/failures/work", &with(&[])).await.status, 422, "nothing was filled in");
    let saved = post(&support, "/failures/work", &with(&[("owner", "Sam"), ("note", "their firewall"), ("contacted", "yes")])).await;
    assert_eq!((saved.status, saved.location), (303, group.clone()));
    world.time_passes(Duration::from_mins(1));
    let one = ids[1].to_string();
    post(&support, "/failures/work", &with(&[("id", &one), ("note", "called back")])).await;
    let page = get(&support, &group).await.page();
    for seen in ["their firewall", "called back", "Sam", "Contacted", "for 3 of those shown"] {
        assert!(page.contains(seen), "{seen}: {page}");
    }
    let newest = world.database.texts("select subject || ' ' || owner || ' ' || note || ' ' || state from failure order by subject").await;
    assert_eq!(newest, ["R-0 Sam their firewall contacted", "R-1 Sam called back contacted", "R-2 Sam their firewall contacted"]);
    let notes = world.database.texts("select kind || ' ' || count(*) from failure_note group by kind order by kind").await;
    assert_eq!(notes, ["contacted 3", "note 4", "owner 3"]);
    let audit = "select distinct split_part(actor, ':', 1) || ' ' || action from audit where action like 'failures.%' order by 1";
    assert_eq!(world.database.texts(audit).await, ["operator failures.contacted", "operator failures.noted", "operator failures.owned"]);
    let message = get(&support, &format!("/merchants/acme/messages/{one}")).await.page();
    assert!(message.contains("called back") && message.contains("their firewall"), "{message}");
}

#[tokio::test]
async fn a_group_is_retried_after_a_preview_and_the_job_is_followed_to_its_end() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 5).await;
    // One with another reason stays where it is.
    receiver.systems.answer(PATH, Answer::status(422));
    receiver.is_owed("other", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    assert!(group.contains("reason=503"), "{group}");
    let preview = get(&support, &group.replace("/failures/group", "/failures/retry")).await.page();
    assert!(preview.contains("Retry 5 messages?") && preview.contains("backhaul failures retry --endpoint rma --reason"), "{preview}");
    let fields = [hidden(&group), encoded(&[("per_second", "3"), ("expected", "5")])].concat();
    let started = post(&support, "/failures/retry", &fields).await;
    assert_eq!(started.status, 303, "{}", started.text);
    let before = get(&support, &started.location).await.page();
    assert!(before.contains("0 of 5 released") && before.contains("data-renew") && before.contains("Runs"), "{before}");
    assert_eq!(post(&support, "/failures/retry", &fields).await.status, 409, "one job for an endpoint at a time");
    a_second_passes(&world, "3").await;
    assert!(get(&support, &started.location).await.page().contains("3 of 5 released"));
    a_second_passes(&world, "5").await;
    the_job_ends(&world).await;
    let after = get(&support, &started.location).await.page();
    assert!(after.contains("5 of 5 released") && after.contains("Done") && !after.contains("data-renew"), "{after}");
    assert!(get(&support, "/failures/jobs").await.page().contains("operator:"));
    assert_eq!(world.database.texts("select subject from failure where state = 'open'").await, ["other"]);
    let audit = world.database.texts("select split_part(actor, ':', 1) from audit where action = 'retry_job.made'").await;
    assert_eq!(audit, ["operator"]);
}

#[tokio::test]
async fn a_selection_and_what_failed_since_a_time_are_retried() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 4).await;
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let two = encoded(&[("id", &ids[1].to_string()), ("id", &ids[3].to_string())]);
    let query = serde_urlencoded::to_string([hidden(&group), two.clone()].concat()).unwrap();
    assert!(get(&support, &format!("/failures/retry?{query}")).await.page().contains("Retry 2 messages?"));
    let fields = [hidden(&group), two, encoded(&[("expected", "2"), ("per_second", "100")])].concat();
    let started = post(&support, "/failures/retry", &fields).await;
    assert!(get(&support, &started.location).await.page().contains("selected one by one"));
    a_second_passes(&world, "2").await;
    the_job_ends(&world).await;
    let mut arrived = receiver.arrived().split_off(24);
    arrived.sort();
    assert_eq!(arrived, ["R-1 1", "R-3 1"]);

    world.time_passes(Duration::from_mins(30));
    let since = wire::time::write(world.app.now());
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("later", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    let late = [hidden(&group), encoded(&[("since", &since)])].concat();
    let query = serde_urlencoded::to_string(&late).unwrap();
    assert!(get(&support, &format!("/failures/retry?{query}")).await.page().contains("Retry 1 message?"));
    let started = post(&support, "/failures/retry", &[late, encoded(&[("expected", "1")])].concat()).await;
    assert_eq!(started.status, 303, "{}", started.text);
    a_second_passes(&world, "1").await;
    assert_eq!(receiver.arrived().last().unwrap(), "later 1");
    assert_eq!(world.database.texts("select subject from failure where state = 'open' order by subject").await, ["R-0", "R-2"]);
}

#[tokio::test]
async fn a_job_is_cancelled_after_a_preview_and_only_once() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 10).await;
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let chosen: Vec<(String, String)> = ids.iter().map(|id| ("id".to_owned(), id.to_string())).collect();
    let fields = [hidden(&group), chosen, encoded(&[("per_second", "4"), ("expected", "10")])].concat();
    let job = post(&support, "/failures/retry", &fields).await.location;
    a_second_passes(&world, "4").await;
    let preview = get(&support, &format!("{job}/cancel")).await.page();
    assert!(preview.contains("Cancel the job?") && preview.contains("<b>6</b> messages"), "{preview}");
    assert_eq!(post(&support, &format!("{job}/cancel"), &[]).await.status, 303);
    let again = post(&support, &format!("{job}/cancel"), &[]).await;
    assert!(again.status == 409 && again.text.contains("somebody has cancelled it"), "{}", again.text);
    world.time_passes(Duration::from_secs(5));
    world.deliver_all_due().await;
    assert!(get(&support, &job).await.page().contains("Cancelled"));
    assert_eq!(world.database.texts("select count(*)::text from failure where state = 'resolved'").await, ["4"]);
}

#[tokio::test]
async fn one_person_discards_up_to_a_hundred_and_no_more() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 2).await;
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let one = encoded(&[("id", &ids[0].to_string())]);
    let query = serde_urlencoded::to_string([hidden(&group), one.clone()].concat()).unwrap();
    let preview = get(&support, &format!("/failures/discard?{query}")).await.page();
    assert!(preview.contains("Discard 1 message?") && preview.contains(&format!("backhaul failures discard {}", ids[0])), "{preview}");
    let done = post(&support, "/failures/discard", &[hidden(&group), one, encoded(&[("expected", "1")])].concat()).await;
    assert_eq!((done.status, done.location.as_str()), (303, "/failures?merchant=acme&discarded=1"));
    assert!(get(&support, &done.location).await.page().contains("1 message was discarded."));
    // A hundred more in the same group make 101.
    let more = "insert into failure (merchant_id, message_id, endpoint_id, sequence, failed_at, attempts, kind, event, subject, reason, state, body)
        select merchant_id, gen_random_uuid(), endpoint_id, 1, failed_at, 6, kind, event, 'X-' || number, reason, 'open', body
        from failure, generate_series(1, 100) as number where state = 'open'";
    sqlx::query(more).execute(&mut world.database.connect().await).await.unwrap();
    let preview = get(&support, &group.replace("/failures/group", "/failures/discard")).await.page();
    assert!(preview.contains("These are more than 100.") && !preview.contains(">Discard 101 messages<"), "{preview}");
    let refused = post(&support, "/failures/discard", &[hidden(&group), encoded(&[("expected", "101")])].concat()).await;
    assert!(refused.status == 422 && refused.text.contains("second person"), "{}", refused.text);
    assert_eq!(world.database.texts("select count(*)::text from failure where state = 'open'").await, ["101"]);
    // An administrator asks a second person, whose decision discards them all.
    assert_eq!(post(&support, "/failures/discard/request", &hidden(&group)).await.status, 403);
    let admin = world.console(Role::Admin).await;
    let preview = get(&admin, &group.replace("/failures/group", "/failures/discard")).await.page();
    assert!(preview.contains("Ask to discard 101 messages"), "{preview}");
    assert_eq!(post(&admin, "/failures/discard/request", &hidden(&group)).await.status, 422, "somebody has to say why");
    let asked = post(&admin, "/failures/discard/request", &[hidden(&group), encoded(&[("why", "their system is gone")])].concat()).await;
    assert!(asked.status == 303 && asked.location.starts_with("/requests/"), "{}", asked.text);
    assert!(get(&admin, &asked.location).await.page().contains("Discard 101 failures"));
    // The flow that a second person's decision uses discards as many as it is told to, and leaves an audit row for each time.
    let [merchant, endpoint] = [
        "select merchant_id::text from endpoint where interface = 'rma'",
        "select endpoint_id::text from endpoint where interface = 'rma'",
    ];
    assert_eq!(world.database.texts(merchant).await, [receiver.merchant.0.to_string()]);
    let endpoint: Uuid = world.database.texts(endpoint).await[0].parse().unwrap();
    let everything =
        Selection::Group { endpoint: domain::id::EndpointId(endpoint), reason: "503".to_owned(), since: None, until: world.app.now() };
    let mut discarded = Vec::new();
    while let Ok(count) =
        discard_failures(&world.app, "operator:b@example.com", receiver.merchant, &everything, Bound { most: 60, expected: None }).await
    {
        discarded.push(count);
    }
    assert_eq!(discarded, [60, 41]);
    let audit = world.database.texts("select left(detail, 2) from audit where action = 'failures.discarded' order by detail").await;
    assert_eq!(audit, ["1:", "41", "60"]);
}

#[tokio::test]
async fn whoever_comes_second_is_told_that_somebody_was_faster() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 3).await;
    let (support, manager) = (world.console(Role::Support).await, world.console(Role::Manager).await);
    let group = group_of(&support, "acme").await;
    let all = encoded(&[("expected", "3")]);
    let two = encoded(&[("id", &ids[0].to_string()), ("id", &ids[1].to_string()), ("expected", "2")]);
    assert_eq!(
        post(&manager, "/failures/discard", &[hidden(&group), encoded(&[("id", &ids[0].to_string()), ("expected", "1")])].concat())
            .await
            .status,
        303
    );
    for (at, fields) in [("/failures/discard", &all), ("/failures/discard", &two), ("/failures/retry", &all), ("/failures/retry", &two)] {
        let late = post(&support, at, &[hidden(&group), fields.clone()].concat()).await;
        assert!(
            late.status == 409 && late.text.contains("Somebody was faster") && late.text.contains("has changed since you looked"),
            "{at}: {}",
            late.text
        );
    }
    assert_eq!(world.database.texts("select state from failure order by subject").await, ["discarded", "open", "open"]);
    // A message that is being retried already is no longer there to select.
    retry_message(&world.app, Asker::Operator("test"), receiver.merchant, ids[1]).await.unwrap();
    let fields = [hidden(&group), encoded(&[("id", &ids[1].to_string()), ("expected", "1")])].concat();
    assert_eq!(post(&support, "/failures/retry", &fields).await.status, 409);
    let gone = encoded(&[("id", &ids[0].to_string()), ("note", "late")]);
    assert_eq!(post(&support, "/failures/work", &[hidden(&group), gone].concat()).await.status, 409);
    assert_eq!(world.database.count("retry_job").await, 0);
}

#[tokio::test]
async fn an_export_holds_exact_times_and_no_formulas() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("=HYPERLINK(\"x\")", 1).await;
    receiver.is_owed("@sum", 1).await;
    world.five_retries_pass().await;
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let fields = [hidden(&group), encoded(&[("owner", "+Sam"), ("note", "-1, \"two\"\nlines")])].concat();
    post(&support, "/failures/work", &fields).await;
    let text = get(&support, &group.replace("/failures/group", "/failures/group.csv")).await.page();
    assert!(text.starts_with("message_id,given_up_at,interface,event,subject,"), "{text}");
    assert!(text.contains("\"'=HYPERLINK(\"\"x\"\")\"") && text.contains(",'@sum,"), "{text}");
    assert!(text.contains(",'+Sam,\"'-1, \"\"two\"\"\nlines\","), "{text}");
    assert!(text.contains(",2026-03-01T12:00:10Z,rma,rma.created,"), "{text}");
}

#[tokio::test]
async fn viewers_read_the_queue_and_change_nothing() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 1).await;
    let viewer = world.console(Role::Viewer).await;
    let group = group_of(&viewer, "acme").await;
    let page = get(&viewer, &group).await.page();
    assert!(!page.contains("type=\"checkbox\"") && !page.contains("Retry"), "{page}");
    for at in ["/failures/retry", "/failures/discard", "/failures/work"] {
        assert_eq!(get(&viewer, &group.replace("/failures/group", at)).await.status, 403, "{at}");
        let fields = [hidden(&group), encoded(&[("id", &ids[0].to_string()), ("expected", "1"), ("note", "x")])].concat();
        assert_eq!(post(&viewer, at, &fields).await.status, 403, "{at}");
    }
    assert_eq!(world.database.texts("select state from failure").await, ["open"]);
}

#[tokio::test]
async fn erased_messages_are_left_out_of_a_retry_and_their_notes_lose_their_text() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 3).await;
    let support = world.console(Role::Support).await;
    let group = group_of(&support, "acme").await;
    let note = encoded(&[("owner", "Sam"), ("note", "pat@example.com called")]);
    post(&support, "/failures/work", &[hidden(&group), note].concat()).await;
    let mut tx = world.app.begin(receiver.merchant).await.unwrap();
    store::merchants::erasures::erase_messages(&mut tx, &ids[..1], "{}").await.unwrap();
    world.app.commit(tx).await.unwrap();
    let preview = get(&support, &group.replace("/failures/group", "/failures/retry")).await.page();
    assert!(preview.contains("Retry 2 messages?") && preview.contains("1 erased with a shopper"), "{preview}");
    let started = post(&support, "/failures/retry", &[hidden(&group), encoded(&[("expected", "2"), ("per_second", "9")])].concat()).await;
    a_second_passes(&world, "2").await;
    assert!(get(&support, &started.location).await.page().contains("2 of 2 released"));
    assert_eq!(world.database.texts("select subject || coalesce(note, '') from failure where state = 'open'").await, ["R-0"]);
    let texts = "select count(*) || ' ' || count(text) from failure_note group by message_id order by 1";
    assert_eq!(world.database.texts(texts).await, ["2 0", "2 2", "2 2"]);
    let message = get(&support, &format!("/merchants/acme/messages/{}", ids[0])).await.page();
    assert!(!message.contains("pat@example.com") && message.contains("it cannot be sent again"), "{message}");
}
