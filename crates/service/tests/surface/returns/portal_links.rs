//! Links by mail: they open the orders of one e-mail address, once, for an hour, and asking for one tells nothing.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::pause_merchant;
use backhaul::flow::merchants::configure_portal::{PortalChange, set_portal};
use backhaul::flow::returns::forget_outdated::forget_outdated;
use sandbox::mailbox::Mailbox;
use store::merchants::accounts;

use super::portal_access::alike;
use crate::world::shopper::{Page, Shopper};
use crate::world::{World, message, sold};

/// The public address of the portal in these tests.
const ADDRESS: &str = "https://returns.example.com";

async fn world(mailbox: &Mailbox) -> World {
    World::with(&[
        ("BACKHAUL__MAIL__URL", &format!("{}?tls=none", mailbox.url())),
        ("BACKHAUL__MAIL__FROM", "returns@shop.example.com"),
        ("BACKHAUL__PORTAL__URL", ADDRESS),
    ])
    .await
}

impl Shopper {
    async fn asks_for_a_link(&self, email: &str) -> Page {
        self.sends("lost", &[("email", email)]).await
    }
}

/// The paths of the links in all mails so far.
async fn links(world: &World, mailbox: &Mailbox) -> Vec<String> {
    world.deliver_all_due().await;
    let link = |text: &str| text.lines().find_map(|line| line.strip_prefix(ADDRESS)).map(ToOwned::to_owned);
    mailbox.received().iter().map(|mail| link(mail.text().unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn a_link_opens_the_orders_of_its_address_once() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mut older = sold("A-1", 1);
    older["created_at"] = "2026-02-01T12:00:00Z".into();
    let mut foreign = sold("A-3", 1);
    foreign["customer"]["email"] = "sam@example.com".into();
    assert_eq!(shop.merchant.publishes(&message([older, sold("A-2", 1), foreign])).await.results(), ["created"; 3]);
    let pat = world.shopper("acme");
    assert!(pat.opens("").await.says("Get a link by e-mail"));
    let sent = pat.asks_for_a_link(" PAT@example.com ").await;
    assert!(sent.says("If we have orders for PAT@example.com , a link is on its way."), "{}", sent.reads());
    let [link] = &links(&world, &mailbox).await[..] else { panic!("one mail") };
    let mail = &mailbox.received()[0];
    assert_eq!(mail.envelope_to(), ["pat@example.com"], "the address in the order");
    let text = mail.text().unwrap();
    assert!(!text.contains("A-1") && !text.contains("A-2"), "it may reach the wrong person: {text}");

    for _ in 0..3 {
        assert_eq!(world.shopper("acme").opens(link).await.heading(), "Open your orders and returns", "scanners open links");
    }
    let orders = pat.sends(link, &[]).await;
    assert_eq!(orders.heading(), "Which order is it about?");
    assert!(orders.says("Order A-1") && orders.says("Order A-2") && !orders.says("A-3"), "{}", orders.reads());
    assert_eq!(pat.sends("orders", &[("order", "A-3")]).await.status, 404, "another shopper's order stays closed");
    let chosen = pat.sends("orders", &[("order", "A-1")]).await;
    assert_eq!(chosen.heading(), "What would you like to send back?");
    assert!(chosen.says("A-1"), "{}", chosen.reads());

    for again in [pat.sends(link, &[]).await, world.shopper("acme").opens(link).await, pat.opens("l/never-was").await] {
        assert_eq!((again.status.as_u16(), again.heading()), (410, "This link no longer works".to_owned()));
    }
}

#[tokio::test]
async fn a_link_that_is_used_twice_at_once_is_used_once() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    for _ in 0..3 {
        world.shopper("acme").asks_for_a_link("pat@example.com").await;
        let link = links(&world, &mailbox).await.pop().unwrap();
        let (one, other) = (world.shopper("acme"), world.shopper("acme"));
        let (one, other) = tokio::join!(one.sends_once(&link, &[]), other.sends_once(&link, &[]));
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 410]);
    }
}

#[tokio::test]
async fn a_link_lasts_an_hour_and_is_then_forgotten() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    world.shop("acme").await.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    for _ in 0..2 {
        pat.asks_for_a_link("pat@example.com").await;
    }
    let [first, second] = &links(&world, &mailbox).await[..] else { panic!("two mails") };
    world.time_passes(Duration::from_secs(3_599));
    assert_eq!(pat.sends(first, &[]).await.heading(), "What would you like to send back?", "one order is opened at once");
    world.time_passes(Duration::from_secs(1));
    assert_eq!(pat.sends(second, &[]).await.heading(), "This link no longer works");
    assert!(!forget_outdated(&world.app).await.unwrap());
    assert_eq!(world.database.count("portal_link").await, 0);
}

#[tokio::test]
async fn whoever_asks_for_a_link_learns_nothing() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let (shop, paused) = (world.shop("acme").await, world.shop("paused").await);
    shop.merchant.sells("A-1", 1).await;
    paused.merchant.sells("A-1", 1).await;
    let account = accounts::find(world.app.cell(), &"paused".parse().unwrap()).await.unwrap().unwrap();
    pause_merchant(&world.app, "test", &account).await.unwrap();
    let known = world.shopper("acme").asks_for_a_link("pat@example.com").await;
    let unknown = world.shopper("acme").asks_for_a_link("sam@example.com").await;
    let (mut unknown, known) = (alike(&unknown), alike(&known));
    unknown.2 = unknown.2.replace("sam@example.com", "pat@example.com");
    assert_eq!(known, unknown);
    world.shopper("paused").asks_for_a_link("pat@example.com").await;
    assert_eq!(links(&world, &mailbox).await.len(), 1);
    for wrong in ["", "pat", "pat@", "<b>@example.com"] {
        let page = world.shopper("acme").asks_for_a_link(wrong).await;
        assert!(page.says("Enter an e-mail address, like name@example.com"), "{wrong}: {}", page.reads());
    }
}

#[tokio::test]
async fn an_address_is_sent_five_links_an_hour_and_a_link_works_whatever_limit_is_used_up() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    world.shop("acme").await.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    for asked in 1..=10 {
        let page = pat.asks_for_a_link("pat@example.com").await;
        assert_eq!(page.heading(), "Check your e-mail", "the {asked}th time");
    }
    let sent = links(&world, &mailbox).await;
    assert_eq!(sent.len(), 5);
    let refused = pat.asks_for_a_link("pat@example.com").await;
    assert_eq!(refused.status, 429);
    assert_eq!(pat.sends(&sent[0], &[]).await.heading(), "What would you like to send back?");
    world.time_passes(Duration::from_hours(1));
    pat.asks_for_a_link("pat@example.com").await;
    assert_eq!(links(&world, &mailbox).await.len(), 6);
}

#[tokio::test]
async fn a_link_leads_to_the_merchants_own_host_name_and_never_to_the_one_that_was_asked() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    let evil = |request: reqwest::RequestBuilder| {
        let request = request.header("Host", "evil.example.net").header("X-Forwarded-Host", "evil.example.net");
        request.header("Sec-Fetch-Site", "same-origin").form(&[("email", "pat@example.com")])
    };
    pat.asks(reqwest::Method::POST, "/r/acme/lost", evil).await;
    world.deliver_all_due().await;
    let own = "https://returns.acme.example";
    let change = PortalChange { hosts: ["returns.acme.example".parse().unwrap()].into(), ..PortalChange::default() };
    set_portal(&world.app, "test", shop.merchant.id, change).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    pat.asks_for_a_link("pat@example.com").await;
    world.deliver_all_due().await;
    let mails = mailbox.received();
    let texts: Vec<&str> = mails.iter().map(|mail| mail.text().unwrap()).collect();
    assert!(texts[0].contains(&format!("{ADDRESS}/r/acme/l/")) && texts[1].contains(&format!("{own}/l/")), "{texts:?}");
}

#[tokio::test]
async fn without_a_mail_server_or_an_address_no_link_is_offered() {
    let mailbox = Mailbox::start().await.unwrap();
    let mail = [("BACKHAUL__MAIL__URL", &*format!("{}?tls=none", mailbox.url())), ("BACKHAUL__MAIL__FROM", "returns@shop.example.com")];
    for settings in [&mail[..], &[("BACKHAUL__PORTAL__URL", ADDRESS)]] {
        let world = World::with(settings).await;
        world.shop("acme").await.merchant.sells("A-1", 1).await;
        let pat = world.shopper("acme");
        assert!(!pat.opens("").await.says("Get a link"));
        assert_eq!(pat.opens("lost").await.status, 404);
        assert_eq!(pat.asks_for_a_link("pat@example.com").await.status, 404);
    }
}
