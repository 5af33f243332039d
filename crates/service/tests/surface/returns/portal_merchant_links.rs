//! Links that the merchant makes: they sign a shopper in to one order, once, for ten minutes, and support in the shopper's place.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::pause_merchant;
use backhaul::flow::merchants::configure_portal::{PortalChange, set_portal};
use backhaul::flow::returns::forget_outdated::forget_outdated;
use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy};
use reqwest::{Method, StatusCode, redirect};
use sandbox::mailbox::Mailbox;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::merchants::accounts;

use crate::world::shopper::{Page, Shopper};
use crate::world::{Merchant, Reply, World, message, sold};

/// The public address of the portal in these tests.
const ADDRESS: &str = "https://returns.example.com";
const RETURNS_IN_AUDIT: &str = "select actor || ' ' || action from audit where action like 'return.%' order by audit_id";

async fn world() -> World {
    World::with(&[("BACKHAUL__PORTAL__URL", ADDRESS)]).await
}

impl Merchant<'_> {
    async fn asks_for_a_link(&self, wanted: &Value) -> Reply {
        self.calls(Method::POST, "/v1/portal_links", |request| request.json(wanted)).await
    }

    /// The path of a new link.
    async fn makes_a_link(&self, wanted: &Value) -> String {
        let reply = self.asks_for_a_link(wanted).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["url"].as_str().unwrap().strip_prefix(ADDRESS).unwrap().to_owned()
    }
}

fn to(order: &str) -> Value {
    json!({ "order_identifier": order })
}

fn by_kim(order: &str) -> Value {
    json!({ "order_identifier": order, "support": "Kim <b>Lee" })
}

fn is_over(page: &Page) -> bool {
    page.status == StatusCode::GONE && page.heading() == "This link no longer works" && page.says("Go back to the shop and try again")
}

#[tokio::test]
async fn a_merchant_link_signs_a_shopper_in_to_one_order_once() {
    let world = world().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_label("A-1").await;
    carried.shop.merchant.sells("A-2", 1).await;
    let reply = carried.shop.merchant.asks_for_a_link(&to("A-1")).await;
    assert_eq!((reply.status.as_u16(), &reply.body["expires_at"]), (200, &json!("2026-03-01T12:10:00Z")));
    let path = reply.body["url"].as_str().unwrap().strip_prefix(ADDRESS).unwrap();
    let secret = path.strip_prefix("/r/acme/m/").unwrap();
    let hash: String = Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert_eq!(world.database.texts("select encode(link_hash, 'hex') from portal_link").await, [hash]);
    assert!(world.database.texts("select portal_link::text from portal_link").await.iter().all(|row| !row.contains(secret)));

    let pat = world.shopper("acme");
    let signed_in = pat.asks(Method::GET, path, |request| request).await;
    assert_eq!((signed_in.status.as_u16(), signed_in.headers["location"].as_bytes()), (303, &b"/r/acme/returns"[..]));
    assert_eq!(signed_in.headers["cache-control"], "no-store");
    assert_eq!(pat.opens("returns").await.heading(), "Waiting for you to send it");
    let label = pat.opens(&format!("returns/{rma}/label")).await;
    assert_eq!(
        (label.status.as_u16(), label.headers["content-type"].as_bytes()),
        (200, &b"application/pdf"[..]),
        "no postcode is asked for"
    );
    assert_eq!(pat.sends("orders", &[("order", "A-2")]).await.status, 404, "no other order is opened");
    assert!(!pat.opens("returns").await.says("acting"));

    assert!(is_over(&pat.opens(path).await));
    assert_eq!(pat.opens("returns").await.status, 200, "the session goes on");
    assert!(is_over(&world.shopper("acme").opens("m/never-was").await));
    assert_eq!(world.database.count("portal_link").await, 0);
    assert_eq!(world.database.texts("select 'made' from audit where action = 'portal.link_made'").await, [""; 0]);
}

#[tokio::test]
async fn a_merchant_link_works_for_ten_minutes_and_is_then_forgotten() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let (first, second) = (shop.merchant.makes_a_link(&to("A-1")).await, shop.merchant.makes_a_link(&to("A-1")).await);
    world.time_passes(Duration::from_secs(599));
    assert_eq!(world.shopper("acme").opens(&first).await.heading(), "What would you like to send back?");
    world.time_passes(Duration::from_secs(1));
    assert!(is_over(&world.shopper("acme").opens(&second).await));
    world.time_passes(Duration::from_mins(50));
    assert!(!forget_outdated(&world.app).await.unwrap());
    assert_eq!(world.database.count("portal_link").await, 0);
}

#[tokio::test]
async fn a_merchant_link_is_not_used_up_by_a_browser_that_fetches_ahead() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let path = shop.merchant.makes_a_link(&to("A-1")).await;
    let pat = world.shopper("acme");
    for (name, value) in
        [("Sec-Purpose", "prefetch"), ("Sec-Purpose", "prefetch;prerender"), ("Purpose", "prefetch"), ("X-Moz", "prefetch")]
    {
        let ahead = pat.asks(Method::GET, &path, |request| request.header(name, value)).await;
        assert_eq!((ahead.status.as_u16(), pat.cookie()), (403, None), "{name}: {value}");
    }
    assert_eq!(pat.asks(Method::HEAD, &path, |request| request).await.status, 403);
    assert_eq!(pat.sends_once(&path, &[]).await.status, 404, "there is no button");
    assert_eq!(pat.opens(&path).await.heading(), "What would you like to send back?");
}

#[tokio::test]
async fn a_merchant_link_is_made_for_the_merchants_own_orders_only() {
    let world = world().await;
    let (acme, bolt) = (world.shop("acme").await, world.shop("bolt").await);
    acme.merchant.sells("A-1", 1).await;
    let unknown = bolt.merchant.asks_for_a_link(&to("A-2")).await;
    let foreign = bolt.merchant.asks_for_a_link(&to("A-1")).await;
    assert_eq!((unknown.faults(), &unknown.body["errors"]), (vec!["order_identifier invalid".to_owned()], &foreign.body["errors"]));
    for (wanted, fault) in [
        (json!({}), "order_identifier missing_field"),
        (json!({ "order_identifier": "A-1", "support": "" }), "support invalid"),
        (json!({ "order_identifier": "A-1", "support": "K".repeat(101) }), "support invalid"),
        (json!({ "order_identifier": "A-1", "support": null }), "support invalid_type"),
    ] {
        assert_eq!(acme.merchant.asks_for_a_link(&wanted).await.faults(), [fault], "{wanted}");
    }
    assert_eq!(world.database.count("portal_link").await, 0);

    let path = acme.merchant.makes_a_link(&to("A-1")).await;
    let secret = path.rsplit('/').next().unwrap();
    assert!(is_over(&world.shopper("bolt").opens(&format!("m/{secret}")).await), "it opens nothing at another merchant");
    assert_eq!(world.shopper("acme").opens(&format!("l/{secret}")).await.status, 404, "it is no mailed link");
    assert_eq!(world.shopper("acme").opens(&path).await.status, 200);
}

#[tokio::test]
async fn a_merchant_link_does_not_open_while_the_merchant_is_paused() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let path = shop.merchant.makes_a_link(&to("A-1")).await;
    let account = accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap();
    pause_merchant(&world.app, "test", &account).await.unwrap();
    world.time_passes(Duration::from_secs(5));
    assert!(is_over(&world.shopper("acme").opens(&path).await));
    assert_eq!(shop.merchant.asks_for_a_link(&to("A-1")).await.status, 403);
}

#[tokio::test]
async fn a_merchant_link_leads_to_the_portals_public_address_in_the_language_that_was_asked_for() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    for (language, query) in [("de-AT", "?lang=de"), ("tlh", ""), ("", ""), ("de&x=1", "")] {
        let path = shop.merchant.makes_a_link(&json!({ "order_identifier": "A-1", "language": language })).await;
        assert_eq!(path.find('?').map_or("", |at| &path[at..]), query, "{language}");
    }
    let path = shop.merchant.makes_a_link(&json!({ "order_identifier": "A-1", "language": "fr" })).await;
    let pat = world.shopper("acme");
    assert_eq!(pat.opens(&path).await.heading(), "Que souhaitez-vous retourner ?");
    assert!(pat.cookie().unwrap().contains("backhaul_language=fr"));

    let change = PortalChange { hosts: ["returns.acme.example".parse().unwrap()].into(), ..PortalChange::default() };
    set_portal(&world.app, "test", shop.merchant.id, change).await.unwrap();
    let reply = shop.merchant.asks_for_a_link(&to("A-1")).await;
    assert!(reply.body["url"].as_str().unwrap().starts_with("https://returns.acme.example/m/"), "{}", reply.text);
}

#[tokio::test]
async fn without_a_public_address_no_merchant_link_is_made() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let reply = shop.merchant.asks_for_a_link(&to("A-1")).await;
    assert_eq!(reply.status, 409);
    assert!(reply.text.contains("Ask your operator to set `portal.url`, or a host name of yours."), "{}", reply.text);
}

#[tokio::test]
async fn support_acts_by_a_merchant_link_under_its_own_name() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let kim = world.shopper("acme");
    let items = kim.opens(&shop.merchant.makes_a_link(&by_kim("A-1")).await).await;
    assert!(items.html.contains("<bdi>Kim &lt;b&gt;Lee</bdi> is acting for the shopper."), "{}", items.html);
    for (language, notice) in [
        ("de", "handelt für die Kundin oder den Kunden."),
        ("es", "actúa en nombre del cliente."),
        ("fr", "agit au nom du client."),
        ("en", "is acting for the shopper."),
    ] {
        assert!(kim.opens(&format!("items?lang={language}")).await.says(notice), "{language}");
    }
    let check = kim.wants_a_refund("mail-back").await;
    assert!(check.says("is acting for the shopper."));
    assert_eq!(world.database.texts(RETURNS_IN_AUDIT).await, [""; 0], "nothing has changed yet");
    world.time_passes(Duration::from_secs(1));
    let done = kim.confirms(&check).await;
    let rma = done.rma();
    assert!(done.says("is acting for the shopper."));
    kim.confirms(&check).await;
    world.time_passes(Duration::from_secs(1));
    kim.sends(&format!("returns/{rma}/cancel"), &[]).await;
    assert_eq!(shop.merchant.looks_at(&rma).await["cancel_reason"], "canceled_by_support");
    let audit = "select actor || ' ' || action || ' ' || detail from audit where actor like 'support%' order by audit_id";
    assert_eq!(
        world.database.texts(audit).await,
        [
            "support: Kim <b>Lee portal.link_made A-1".to_owned(),
            format!("support: Kim <b>Lee return.started {rma}"),
            format!("support: Kim <b>Lee return.canceled {rma}"),
        ]
    );
    let pat = world.shopper("acme");
    assert!(!pat.finds("A-1", "pat@example.com").await.says("acting"), "the name is the session's alone");
}

#[tokio::test]
async fn support_chooses_another_way_back_by_a_merchant_link_under_its_own_name() {
    let world = world().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let keep = Offer { method: Way::CustomerKeep, fee: Cents::default(), deducted: false };
    merchant.has_policy(&Policy { offers: vec![Offer { method: Way::MailBack, ..keep }, keep], ..Policy::default() }).await;
    let mut order = sold("A-1", 1);
    order["shipping_address"]["street1"] = "".into();
    assert_eq!(merchant.publishes(&message([order])).await.results(), ["created"]);
    let kim = world.shopper("acme");
    kim.opens(&merchant.makes_a_link(&by_kim("A-1")).await).await;
    let check = kim.wants_a_refund("mail-back").await;
    let first = kim.confirms(&check).await.rma();
    for wait in [0, 6, 45] {
        world.time_passes(Duration::from_secs(wait));
        world.deliver_all_due().await;
    }
    kim.sends(&format!("returns/{first}/another"), &[]).await;
    world.time_passes(Duration::from_secs(1));
    let check = kim.sends("how", &[("how", "customer-keep")]).await;
    kim.confirms(&check).await;
    assert_eq!(merchant.looks_at(&first).await["cancel_reason"], "canceled_by_support");
    let name = "support: Kim <b>Lee";
    let acted = ["return.started", "return.canceled", "return.started"].map(|action| format!("{name} {action}"));
    assert_eq!(world.database.texts(RETURNS_IN_AUDIT).await, acted);
}

#[tokio::test]
async fn a_shopper_whose_return_support_cancels_is_not_told_that_they_did() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = super::mails::world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    for (wanted, said) in [(by_kim("A-1"), "This return was cancelled on"), (to("A-1"), "You cancelled this return on")] {
        let rma = shop.merchant.starts_a_return("A-1", 1).await;
        let kim = world.shopper("acme");
        kim.opens(&shop.merchant.makes_a_link(&wanted).await).await;
        kim.sends(&format!("returns/{rma}/cancel"), &[]).await;
        world.deliver_all_due().await;
        let mails = mailbox.received();
        assert!(mails.last().unwrap().text().unwrap().contains(said), "{}", mails.last().unwrap().text().unwrap());
    }
}

#[tokio::test]
async fn a_merchant_link_that_is_opened_twice_at_once_opens_once() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    for _ in 0..5 {
        let link = shop.merchant.makes_a_link(&to("A-1")).await;
        let (one, other) = (world.shopper("acme"), world.shopper("acme"));
        let open = async |shopper: Shopper| shopper.asks(Method::GET, &link, |request| request).await.status;
        let mut statuses = <[StatusCode; 2]>::from(tokio::join!(open(one), open(other)));
        statuses.sort();
        assert_eq!(statuses, [StatusCode::SEE_OTHER, StatusCode::GONE]);
    }
}

#[tokio::test]
async fn a_shopper_who_comes_by_a_merchant_link_is_audited_as_any_other() {
    let world = world().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let before = world.database.count("audit").await;
    let pat = world.shopper("acme");
    pat.opens(&shop.merchant.makes_a_link(&to("A-1")).await).await;
    let check = pat.wants_a_refund("mail-back").await;
    let rma = pat.confirms(&check).await.rma();
    assert_eq!(world.database.count("audit").await, before);
    pat.sends(&format!("returns/{rma}/cancel"), &[]).await;
    assert_eq!(world.database.texts(RETURNS_IN_AUDIT).await, ["shopper return.canceled"]);
}

#[tokio::test]
async fn the_sample_button_opens_a_customers_own_order_by_a_merchant_link() {
    let world = world().await;
    let shop = world.shop("acme").await;
    for order in ["1001", "1002"] {
        shop.merchant.sells(order, 1).await;
    }
    let mut sample = Command::new("python3")
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/returns_button.py"), "0"])
        .envs([("BACKHAUL", &*world.base), ("PORTAL", &format!("{ADDRESS}/r/acme"))])
        .envs([("CLIENT_ID", &shop.merchant.client_id), ("CLIENT_SECRET", &shop.merchant.client_secret)])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("python3: {error}; `make setup` installs it"));
    let mut line = String::new();
    BufReader::new(sample.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let base = format!("http://127.0.0.1:{}", line.trim().strip_prefix("listening on port ").unwrap());
    let browser = reqwest::Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    let presses = async |order: &str, session: &str| {
        let request = browser.post(format!("{base}/orders/{order}/return")).header("Cookie", format!("session={session}"));
        let answer = request.send().await.unwrap();
        let location = answer.headers().get("location").map(|location| location.to_str().unwrap().to_owned());
        (answer.status().as_u16(), location.unwrap_or_default())
    };
    let page = browser.get(format!("{base}/orders/1001")).header("Cookie", "session=8c1f0f5e").send().await.unwrap();
    assert!(page.text().await.unwrap().contains(r#"<form method="post" action="/orders/1001/return">"#));
    let (status, url) = presses("1001", "8c1f0f5e").await;
    let others = [presses("1002", "8c1f0f5e").await, presses("1001", "guessed").await];
    let unknown = presses("1003", "8c1f0f5e").await;
    sample.kill().unwrap();
    sample.wait().unwrap();
    assert_eq!(status, 303);
    let items = world.shopper("acme").opens(url.strip_prefix(ADDRESS).unwrap()).await;
    assert_eq!(items.heading(), "Was möchten Sie zurücksenden?", "{}", items.reads());
    assert_eq!(others.map(|(status, _)| status), [404, 404], "another customer's order, and nobody's session");
    assert_eq!(unknown, (303, format!("{ADDRESS}/r/acme")), "an order that is not there yet");
}
