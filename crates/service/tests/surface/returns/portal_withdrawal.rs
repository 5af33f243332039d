//! Withdrawal from a contract: never refused, acknowledged at once, and the way back for the goods.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::pause_merchant;
use backhaul::flow::merchants::configure_portal::{PortalChange, set_portal};
use backhaul::flow::merchants::end_retention::end_retention;
use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use backhaul::flow::returns::forget_outdated::forget_outdated;
use domain::returns::withdrawal::Country;
use reqwest::Method;
use sandbox::mailbox::Mailbox;
use serde_json::{Value, json};
use store::merchants::accounts;

use super::mails::world;
use super::time::days_pass;
use crate::binary::{backhaul, err, out};
use crate::world::shopper::{Page, Shopper};
use crate::world::{Merchant, World, message, sold};

const DAY: Duration = Duration::from_hours(24);
/// A change to a shop has its effect after this time.
const LOOKED_UP_AGAIN: Duration = Duration::from_secs(5);

/// An order of two units to Germany, shipped on 19 February and delivered on the 20th. Its period ends on Friday 6 March.
pub(super) fn german() -> Value {
    let mut order = sold("A-1", 2);
    order["shipping_address"]["country_code"] = "DE".into();
    order["items"][0]["delivered_date"] = "2026-02-20T12:00:00Z".into();
    order
}

impl Shopper {
    /// Answers the first page.
    pub(super) async fn states(&self, order: &str, email: &str, what: &str) -> Page {
        self.sends("withdraw", &[("name", "Pat Doe"), ("order", order), ("email", email), ("what", what)]).await
    }

    /// Withdraws from a whole order.
    pub(super) async fn withdraws(&self, order: &str, email: &str) -> Page {
        self.states(order, email, "all").await;
        self.sends("withdraw/confirm", &[]).await
    }
}

impl Merchant<'_> {
    async fn withdrawals(&self, query: &str) -> Value {
        let listed = self.calls(Method::GET, &format!("/v1/withdrawals{query}"), |request| request).await;
        assert_eq!(listed.status, 200, "{}", listed.body);
        listed.body
    }

    /// The only statement.
    pub(super) async fn withdrawal(&self) -> Value {
        let listed = self.withdrawals("").await;
        let [only] = &listed["items"].as_array().unwrap()[..] else { panic!("one statement: {listed}") };
        only.clone()
    }

    pub(super) async fn publishes_german(&self) {
        assert_eq!(self.publishes(&message([german()])).await.results(), ["created"]);
    }
}

#[tokio::test]
async fn a_shopper_withdraws_on_three_pages_and_has_it_acknowledged_at_once() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    set_portal(
        &world.app,
        "test",
        shop.merchant.id,
        PortalChange { help_email: Some("help@acme.example".to_owned()), ..Default::default() },
    )
    .await
    .unwrap();
    shop.merchant.publishes_german().await;
    let pat = world.shopper("acme");
    assert!(pat.opens("").await.says("Withdraw from contract here"));
    assert_eq!(pat.opens("withdraw").await.heading(), "Withdraw from contract");
    let confirm = pat.states(" a-1 ", "PAT@example.com", "all").await;
    assert_eq!(confirm.heading(), "Confirm your withdrawal");
    let sentence = "To A merchant: I withdraw from my contract for the purchase of the goods in the order below.";
    for said in
        [sentence, "Name Pat Doe", "Order A-1", "Goods The whole order: Running shoe, 2 pieces", "PAT@example.com", "Confirm withdrawal"]
    {
        assert!(confirm.says(said), "{said}: {}", confirm.reads());
    }
    assert_eq!(world.database.count("withdrawal").await, 0, "nothing counts before it is confirmed");
    let done = pat.sends("withdraw/confirm", &[]).await;
    assert_eq!(done.heading(), "We have received your withdrawal");
    assert!(done.says("Received 1 March 2026 at 12:00:00 UTC"), "{}", done.reads());
    assert!(done.says("In time Yes. Your 14 days end on 6 March 2026."), "{}", done.reads());

    let kept = shop.merchant.withdrawal().await;
    let reference = kept["reference"].as_str().unwrap();
    assert!(done.says(reference));
    assert_eq!(kept["received_at"], "2026-03-01T12:00:00Z");
    assert_eq!((&kept["name"], &kept["email"], &kept["order_words"]), (&json!("Pat Doe"), &json!("PAT@example.com"), &json!("a-1")));
    assert_eq!((&kept["order_identifier"], &kept["goods"], &kept["language"]), (&json!("A-1"), &json!(null), &json!("en")));
    assert_eq!((&kept["last_day"], &kept["in_time"], &kept["rma_identifier"]), (&json!("2026-03-06"), &json!(true), &json!(null)));
    let statement = kept["statement"].as_str().unwrap();
    assert!(statement.starts_with(sentence) && statement.contains("\nName: Pat Doe\n"), "{statement}");

    // Owed in the same transaction, due at once: no clock has moved.
    world.deliver_all_due().await;
    let mails = mailbox.received();
    let mail = |to: &str| mails.iter().find(|mail| mail.envelope_to() == [to]).unwrap_or_else(|| panic!("a mail to {to}"));
    let text = mail("PAT@example.com").text().unwrap();
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [sentence, reference, "Received: 1 March 2026 at 12:00:00 UTC", "Name: Pat Doe", "back by 15 March 2026"] {
        assert!(unwrapped.contains(said), "{said}: {text}");
    }
    assert!(mail("help@acme.example").text().unwrap().contains(sentence));

    let again = pat.sends("withdraw/confirm", &[]).await;
    assert!(again.says(reference), "a second click confirms nothing more");
    assert_eq!(world.database.count("withdrawal").await, 1);
    world.deliver_all_due().await;
    assert_eq!(mailbox.received().len(), 2);
}

#[tokio::test]
async fn a_withdrawal_leads_into_a_return_that_cannot_expire_whatever_the_policy_says() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let mut shop = world.shop("acme").await;
    let mut order = german();
    order["items"][0]["tags"] = json!(["final sale"]);
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    let pat = world.shopper("acme");
    assert!(pat.finds("A-1", "pat@example.com").await.says("Final sale"));
    pat.withdraws("A-1", "pat@example.com").await;
    let reference = shop.merchant.withdrawal().await["reference"].as_str().unwrap().to_owned();
    // After the merchant's own window, in another session.
    days_pass(&mut shop, 60).await;
    let sam = world.shopper("acme");
    let shown = sam.finds("A-1", "pat@example.com").await;
    assert_eq!(shown.heading(), "We have received your withdrawal", "who comes back goes on where they were");
    let how = sam.sends(&format!("withdrawals/{reference}"), &[]).await;
    assert_eq!(how.heading(), "How would you like to send it back?");
    let check = sam.sends("how", &[("how", "mail-back")]).await;
    assert!(check.says("Running shoe, 2 pieces") && !check.says("Exchange"), "{}", check.reads());
    let done = sam.confirms(&check).await;
    assert_eq!(done.heading(), "Your return is confirmed");
    let rma = done.rma();
    assert_eq!(shop.merchant.withdrawal().await["rma_identifier"], rma.as_str());
    let told = shop.receives().await.remove(0).1;
    assert!(
        told["items"].as_array().unwrap().iter().all(|item| item["return_reason"] == "NOT_GIVEN" && item["refund_type"] == "REFUND"),
        "{told}"
    );
    days_pass(&mut shop, 400).await;
    assert_eq!(shop.merchant.looks_at(&rma).await["status"], "CREATED", "it cannot expire");
    assert_eq!(shop.merchant.cancels(&rma).await.status, 200);
    assert_eq!(shop.merchant.withdrawal().await["rma_identifier"], json!(null), "the goods may come back again");
}

#[tokio::test]
async fn some_of_the_goods_are_chosen_and_no_others_are_released() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    let pat = world.shopper("acme");
    let goods = pat.states("A-1", "pat@example.com", "some").await;
    assert_eq!(goods.heading(), "Which goods do you withdraw from?");
    let none = pat.sends("withdraw/goods", &[("what", "some")]).await;
    assert!(none.says("Choose at least one item, or the whole order"), "{}", none.reads());
    let confirm = pat.sends("withdraw/goods", &[("what", "some"), ("line", "L1"), ("quantity-1", "1")]).await;
    assert!(confirm.says("Goods Running shoe") && !confirm.says("pieces"), "{}", confirm.reads());
    pat.sends("withdraw/confirm", &[]).await;
    let kept = shop.merchant.withdrawal().await;
    assert_eq!(kept["goods"], json!([{ "order_line_item_identifier": "L1", "quantity": 1 }]));
    world.time_passes(60 * DAY);
    let sam = world.shopper("acme");
    sam.finds("A-1", "pat@example.com").await;
    sam.sends(&format!("withdrawals/{}", kept["reference"].as_str().unwrap()), &[]).await;
    let items = sam.opens("items").await;
    assert!(items.says("1 of 2 can come back"), "{}", items.reads());
}

#[tokio::test]
async fn a_strangers_statement_is_taken_and_shows_nothing_of_an_order() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    for (order, email) in [("A-1", "sam@example.com"), ("A-9", "pat@example.com"), ("Blue shoes, beginning of March", "sam@example.com")] {
        let sam = world.shopper("acme");
        let words = sam.states(order, email, "some").await;
        assert!(!words.says("Running shoe"), "{}", words.reads());
        let confirm = sam.sends("withdraw/goods", &[("what", "some"), ("words", "the left one")]).await;
        assert!(confirm.says("Goods the left one") && !confirm.says("Running shoe") && !confirm.says("Ordered"), "{}", confirm.reads());
        let done = sam.sends("withdraw/confirm", &[]).await;
        assert!(done.says("We could not match it to an order by ourselves"), "{}", done.reads());
        assert_eq!(sam.opens("items").await.status, 401, "no order is opened");
    }
    let listed = shop.merchant.withdrawals("").await;
    assert!(listed["items"].as_array().unwrap().iter().all(|kept| kept["order_identifier"].is_null() && kept["in_time"].is_null()));
    let cases = shop.merchant.calls(Method::GET, "/v1/work_items", |request| request).await.body;
    let cases = cases["items"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    assert!(cases.iter().all(|case| case["kind"] == "withdrawal_unmatched" && !case["reason"].as_str().unwrap().contains("sam")));

    // Support finds the order.
    let reference = listed["items"][2]["reference"].as_str().unwrap();
    let matches = |order: &'static str| ["withdrawals", "match", "--merchant", "acme", reference, order];
    assert!(err(&backhaul(&world.database, &matches("A-8"))).contains("has no order A-8"));
    assert_eq!(out(&backhaul(&world.database, &matches("A-1"))), format!("The withdrawal {reference} is about order A-1.\n"));
    let of_order = shop.merchant.withdrawals("?order_identifier=A-1").await;
    assert_eq!((&of_order["items"][0]["reference"], &of_order["items"][0]["in_time"]), (&json!(reference), &json!(true)));
    assert_eq!(world.database.texts("select subject from work_item where closed_at is null order by 1").await.len(), 2);
    assert_eq!(world.database.texts("select detail from audit where action = 'withdrawal.matched'").await, [format!("{reference} A-1")]);
}

#[tokio::test]
async fn no_limit_refuses_a_withdrawal() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    let sam = world.shopper("acme");
    for _ in 0..11 {
        sam.finds("A-1", "sam@example.com").await;
    }
    assert_eq!(sam.finds("A-1", "pat@example.com").await.status, 429, "this address has guessed too often");
    let done = sam.withdraws("A-1", "pat@example.com").await;
    assert!(done.says("We could not match it to an order"), "taken, and it tells nothing: {}", done.reads());
    for _ in 0..11 {
        assert_eq!(sam.withdraws("A-2", "sam@example.com").await.status, 200);
    }
    world.deliver_all_due().await;
    let mails = || mailbox.received().iter().filter(|mail| mail.envelope_to() == ["sam@example.com"]).count();
    assert_eq!(mails(), 10, "the others wait");
    world.time_passes(Duration::from_hours(1));
    world.deliver_all_due().await;
    assert_eq!(mails(), 11, "none is lost");
}

#[tokio::test]
async fn the_limit_of_requests_does_not_refuse_a_withdrawal() {
    let world = World::with(&[("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "10")]).await;
    let shop = world.shop("acme").await;
    let pat = world.shopper("acme");
    for _ in 0..10 {
        pat.opens("").await;
    }
    assert_eq!(pat.opens("").await.status, 429);
    assert_eq!(pat.withdraws("A-1", "pat@example.com").await.heading(), "We have received your withdrawal");
    assert_eq!(world.database.count("withdrawal").await, 1);
    drop(shop);
}

#[tokio::test]
async fn a_withdrawal_is_taken_while_the_merchant_is_paused_and_when_it_is_late_or_nothing_was_shipped() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let (shop, paused) = (world.shop("acme").await, world.shop("paused").await);
    let account = accounts::find(world.app.cell(), &"paused".parse().unwrap()).await.unwrap().unwrap();
    paused.merchant.publishes_german().await;
    pause_merchant(&world.app, "test", &account).await.unwrap();
    assert_eq!(world.shopper("paused").withdraws("A-1", "pat@example.com").await.heading(), "We have received your withdrawal");
    assert_eq!(world.database.count("withdrawal").await, 1);

    let mut unshipped = german();
    unshipped["identifier"] = "A-2".into();
    unshipped["status"] = "Created".into();
    unshipped["items"][0]["quantity_shipped"] = 0.into();
    unshipped["items"][0]["product_amount_cents"] = 0.into();
    unshipped["items"][0]["tax_amount_cents"] = 0.into();
    assert_eq!(shop.merchant.publishes(&message([german(), unshipped])).await.results(), ["created"; 2]);
    let open = world.shopper("acme").withdraws("A-2", "pat@example.com").await;
    assert!(open.says("Your 14 days begin when everything has arrived") && !open.says("Choose how to send it back"), "{}", open.reads());
    world.time_passes(6 * DAY);
    let late = world.shopper("acme").withdraws("A-1", "pat@example.com").await;
    assert!(late.says("Your 14 days ended on 6 March 2026. The shop checks it and writes to you."), "{}", late.reads());
}

#[tokio::test]
async fn only_a_legal_ground_exempts_goods_or_a_shop() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mut order = german();
    order["items"][0]["tags"] = json!(["custom"]);
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    let set = |option: &'static str, value: &'static str| ["portal", "set", "--merchant", "acme", option, value];
    assert!(err(&backhaul(&world.database, &set("--exempt", "because=custom"))).contains("name the legal ground"));
    assert!(out(&backhaul(&world.database, &set("--exempt", "made_to_order=custom"))).contains("made_to_order=custom"));
    world.time_passes(LOOKED_UP_AGAIN);
    let pat = world.shopper("acme");
    let goods = pat.states("A-1", "pat@example.com", "some").await;
    assert!(goods.says("Running shoe It was made to your order."), "{}", goods.reads());
    out(&backhaul(&world.database, &set("--exempt", "no_consumers")));
    world.time_passes(LOOKED_UP_AGAIN);
    assert_eq!(pat.opens("withdraw").await.status, 404);
    assert!(!pat.opens("").await.says("Withdraw from contract here"));
    out(&backhaul(&world.database, &set("--not-exempt", "no_consumers")));
    world.time_passes(LOOKED_UP_AGAIN);
    assert!(pat.opens("").await.says("Withdraw from contract here"));
}

#[tokio::test]
async fn a_statement_is_erased_with_its_order_and_ends_with_the_merchants_retention() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    world.shopper("acme").withdraws("A-1", "pat@example.com").await;
    world.shopper("acme").withdraws("A-9", "sam@example.com").await;
    world.shopper("acme").states("A-9", "sam@example.com", "all").await;
    world.deliver_all_due().await;
    erase_shopper(&world.app, "test", shop.merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
    let personal = "select email from withdrawal where email <> '' or statement <> '' or name <> ''";
    assert_eq!(world.database.texts(personal).await, ["sam@example.com"]);
    let bodies = "select body from message where kind = 'mail' and body like '%pat@example.com%'";
    assert_eq!(world.database.texts(bodies).await, [""; 0], "the acknowledgement is erased too");
    world.time_passes(7 * DAY);
    forget_outdated(&world.app).await.unwrap();
    assert_eq!(world.database.count("withdrawal_draft").await, 0, "what nobody confirmed");
    world.time_passes(394 * DAY);
    end_retention(&world.app).await.unwrap();
    assert_eq!(world.database.count("withdrawal").await, 1, "the one without an order is gone");
}

#[tokio::test]
async fn a_statement_needs_a_name_an_order_and_an_address() {
    let world = World::new().await;
    world.shop("acme").await;
    let empty = world.shopper("acme").sends("withdraw", &[("email", "pat")]).await;
    for fault in
        ["Enter your name", "Enter the order number, or what you ordered and when", "Enter an e-mail address, like name@example.com"]
    {
        assert!(empty.says(fault), "{fault}: {}", empty.reads());
    }
    for page in ["withdraw/goods", "withdraw/confirm", "withdraw/done"] {
        assert_eq!(world.shopper("acme").opens(page).await.heading(), "Withdraw from contract", "{page} without a statement");
    }
}

#[test]
fn every_countrys_time_zone_is_known() {
    for country in Country::ALL {
        for zone in [country.zones().arrives, country.zones().ends] {
            assert!(zone.parse::<chrono_tz::Tz>().is_ok(), "{country:?}: {zone}");
        }
    }
}
