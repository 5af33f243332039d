//! Late messages in the console: the numbers, and the list that they lead to.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint as endpoint;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;

use super::console_messages::subjects;
use super::console_pages::get;
use crate::world::World;

const GRACE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_number_of_late_messages_leads_to_exactly_these() {
    let world = World::new().await;
    let (acme, other, paused) = (world.receiver("acme").await, world.receiver("other").await, world.receiver("paused").await);
    endpoint::pause_endpoint(&world.app, "test", paused.merchant, Interface::Rma).await.unwrap();
    let viewer = world.console(Role::Viewer).await;
    assert!(get(&viewer, "/messages?state=late").await.page().contains("No message is late"));
    for (receiver, subject) in [(&acme, "R-1"), (&acme, "R-2"), (&other, "O-1"), (&paused, "P-1")] {
        receiver.is_owed(subject, 1).await;
    }
    world.time_passes(GRACE / 2);
    acme.is_owed("R-3", 1).await;
    world.time_passes(GRACE / 2);

    let today = get(&viewer, "/").await.page();
    assert!(today.contains(r#"<a href="/messages?state=late">3 messages are past due</a>"#), "{today}");
    assert!(today.contains(r#"<span class="v"><a href="/messages?state=late">3</a></span>"#), "{today}");
    let page = get(&viewer, "/messages?state=late").await.page();
    assert!(page.contains("<h1>Late messages: 3</h1>"), "{page}");
    let mut late = subjects(&page);
    late.sort();
    assert_eq!(late, ["O-1", "R-1", "R-2"]);
    for (query, heading, listed) in [
        ("&merchant=acme", "Late messages: 2", &["R-1", "R-2"][..]),
        ("&merchant=acme&interface=rma", "Late messages: 2", &["R-1", "R-2"]),
        ("&merchant=acme&interface=outbound_asn", "Late messages: 0", &[]),
        ("&merchant=acme&subject=R-2", "Late messages: 1", &["R-2"]),
        ("&merchant=paused", "Late messages: 0", &[]),
        ("&interface=rma", "Late messages: 3", &["O-1", "R-1", "R-2"]),
        ("&until=2026-03-01T12:00:00Z", "Late messages: 0", &[]),
    ] {
        let page = get(&viewer, &format!("/messages?state=late{query}")).await.page();
        let mut late = subjects(&page);
        late.sort();
        assert_eq!(late, listed, "{query}");
        assert!(page.contains(&format!("<h1>{heading}</h1>")), "{query}: {page}");
    }
    // The merchants' pages count the same ones.
    let merchants = get(&viewer, "/merchants").await.page();
    for (handle, number) in [("acme", "2"), ("other", "1"), ("paused", "0")] {
        let link = format!("/messages?merchant={handle}&amp;state=late\">{number}</a>");
        assert!(merchants.contains(&link), "{link}: {merchants}");
    }
    let overview = get(&viewer, "/merchants/acme").await.page();
    assert!(overview.contains("/messages?merchant=acme&amp;interface=rma&amp;state=late\">2</a>"), "{overview}");
    world.deliver_all_due().await;
    assert!(get(&viewer, "/messages?state=late").await.page().contains("No message is late"));
}

#[tokio::test]
async fn late_messages_are_read_page_by_page_and_each_once() {
    let world = World::new().await;
    let (acme, other) = (world.receiver("acme").await, world.receiver("other").await);
    for number in 0..40 {
        acme.is_owed(&format!("R-{number}"), 1).await;
        other.is_owed(&format!("O-{number}"), 1).await;
    }
    world.time_passes(GRACE);
    let viewer = world.console(Role::Viewer).await;
    assert!(get(&viewer, "/").await.page().contains("80 messages are past due"));
    let (mut at, mut all, mut sizes) = ("/messages?state=late".to_owned(), Vec::new(), Vec::new());
    loop {
        let page = get(&viewer, &at).await.page();
        assert!(page.contains("<h1>Late messages: 80</h1>"), "{page}");
        let listed = subjects(&page);
        sizes.push(listed.len());
        all.extend(listed);
        match page.split("<a href=\"").find_map(|rest| rest.split_once("\">More</a>")) {
            Some((more, _)) => at = more.replace("&#38;", "&"),
            None => break,
        }
    }
    assert_eq!(sizes, [25, 25, 25, 5]);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 80);
    // More than a hundred are not counted by a page.
    for number in 40..70 {
        acme.is_owed(&format!("R-{number}"), 1).await;
    }
    world.time_passes(GRACE);
    assert!(get(&viewer, "/").await.page().contains("100 or more messages are past due"));
}
