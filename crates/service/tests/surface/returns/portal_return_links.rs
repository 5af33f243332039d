//! The link in a mail about a return: it opens that return, for 90 days, and nothing else.

use std::time::Duration;

use backhaul::flow::returns::forget_outdated::forget_outdated;
use sandbox::mailbox::Mailbox;

use super::mails::world;
use crate::world::World;

/// The path of the link in the last mail.
async fn link(world: &World, mailbox: &Mailbox) -> String {
    world.deliver_all_due().await;
    let mails = mailbox.received();
    let text = mails.last().unwrap().text().unwrap();
    text.lines().find_map(|line| line.trim().strip_prefix("https://returns.example.com")).unwrap().to_owned()
}

#[tokio::test]
async fn a_link_opens_one_return_and_asks_for_the_postcode_before_an_address() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_label("A-1").await;
    let link = link(&world, &mailbox).await;
    let pat = world.shopper("acme");
    for _ in 0..3 {
        let page = world.shopper("acme").opens(&link).await;
        assert_eq!(page.heading(), "Open your return", "scanners open links");
        assert!(page.says(&rma));
    }
    assert_eq!(pat.opens(&format!("returns/{rma}")).await.status, 401, "opening the link opens nothing yet");
    let status = pat.sends(&link, &[]).await;
    assert_eq!(status.heading(), "Waiting for you to send it");
    assert!(!status.says("Return something else"), "{}", status.reads());
    for page in ["orders", "items", "how", "check", "returns"] {
        let closed = pat.opens(page).await;
        assert_eq!((closed.status.as_u16(), closed.heading()), (401, "Find your order first".to_owned()), "{page}");
    }
    assert_eq!(pat.opens(&format!("returns/{rma}/done")).await.status, 200);
    let label = format!("returns/{rma}/label");
    assert_eq!(pat.opens(&label).await.heading(), "Enter the postcode to see the label");
    assert!(pat.sends(&label, &[("postcode", "99999")]).await.says("Check the postcode"));
    assert_eq!(pat.sends_once(&label, &[("postcode", "10001")]).await.status, 303);
    assert_eq!(pat.opens(&label).await.status, 200);
    assert_eq!(pat.opens("items").await.status, 200, "the postcode shows as much as finding the order does");

    let sam = world.shopper("acme");
    assert_eq!(sam.sends(&link, &[]).await.heading(), "Waiting for you to send it", "a link is not used up");
    assert_eq!(sam.opens(&label).await.heading(), "Enter the postcode to see the label", "what one showed does not help another");
}

#[tokio::test]
async fn a_link_does_not_open_another_return_of_the_order() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let other = shop.merchant.starts_a_return("A-1", 1).await;
    world.deliver_all_due().await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    let link = link(&world, &mailbox).await;
    let pat = world.shopper("acme");
    assert!(pat.sends(&link, &[]).await.says(&rma));
    for page in ["", "/done", "/label", "/cancel", "/code"] {
        assert_eq!(pat.opens(&format!("returns/{other}{page}")).await.status, 404, "{page}");
    }
    assert_eq!(pat.sends(&format!("returns/{other}/cancel"), &[]).await.status, 404);
    let cancelled = pat.sends(&format!("returns/{rma}/cancel"), &[]).await;
    assert_eq!(cancelled.heading(), "This return is cancelled");
    assert_eq!(shop.merchant.looks_at(&other).await["status"], "CREATED");
}

#[tokio::test]
async fn a_link_that_is_opened_twice_at_once_opens_the_return_for_both() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    let link = link(&world, &mailbox).await;
    let (one, other) = (world.shopper("acme"), world.shopper("acme"));
    let (first, second) = tokio::join!(one.sends(&link, &[]), other.sends(&link, &[]));
    assert_eq!([first.heading(), second.heading()], ["Waiting for you to send it"; 2]);
}

#[tokio::test]
async fn a_link_lasts_90_days_and_is_then_forgotten() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    let link = link(&world, &mailbox).await;
    let pat = world.shopper("acme");
    world.time_passes(Duration::from_secs(90 * 86_400 - 1));
    assert_eq!(pat.opens(&link).await.heading(), "Open your return");
    world.time_passes(Duration::from_secs(1));
    for over in [pat.opens(&link).await, pat.sends(&link, &[]).await, pat.opens("s/never-was").await] {
        assert_eq!((over.status.as_u16(), over.heading()), (410, "This link no longer works".to_owned()));
    }
    assert!(!forget_outdated(&world.app).await.unwrap());
    assert_eq!(world.database.count("return_link").await, 0);
}
