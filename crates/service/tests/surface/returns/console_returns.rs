//! The console's pages on returns: where the refund is, what happened, and what people can do about it.

use std::time::Duration;

use backhaul::flow::messages::retry_message::{Asker, RetryMessageError, retry_message};
use domain::merchants::operator::Role;
use domain::returns::rma::policy::Policy;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::Mood;
use serde_json::{Value, json};

use super::mails;
use crate::world::console::between;
use crate::world::{World, message, refund_for, refunded, sold};

/// The fields of a form without any.
const NOTHING: [(&str, &str); 0] = [];

const DAY: Duration = Duration::from_hours(24);

/// Everything about the shopper that an order of the tests has.
const PERSONAL: [&str; 5] = ["Pat", "Doe", "pat@example.com", "1 Main St", "555-0100"];

/// The sentence on the refund, without markup.
fn answer(page: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for letter in between(page, "<p id=\"refund\">", "</p>").chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if !in_tag => text.push(letter),
            _ => {}
        }
    }
    text
}

#[tokio::test]
async fn where_the_refund_is_stands_in_one_sentence_from_start_to_end() {
    let world = World::new().await;
    let mut shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    let support = world.console(Role::Support).await;
    let at = format!("/merchants/acme/returns/{rma}");
    let page = support.get(&at).await.page();
    assert_eq!(
        answer(&page),
        "No refund is due yet; the goods have not come back. Once a carrier has scanned them, the merchant has 14 days to refund $54.00."
    );
    shop.merchant.carrier_says(&rma, "label_issued").await;
    shop.merchant.carrier_says(&rma, "in_transit").await;
    let page = support.get(&at).await.page();
    assert_eq!(answer(&page), "Refund due by 15 Mar; the goods have come back, and the merchant owes $54.00.");
    assert!(page.contains(&format!("T-{rma}")) && page.contains("In transit") && page.contains("the carrier"), "{page}");
    world.time_passes(14 * DAY);
    assert!(support.signs_in().await.status == 303);
    let page = support.get(&at).await.page();
    assert_eq!(answer(&page), "Refund overdue since 15 Mar; the goods have come back, and the merchant still owes $54.00.");
    shop.merchant.token = shop.merchant.gets_a_token().await;
    let sent = shop.merchant.publishes(&message([refunded(sold("O-1", 1), [refund_for(&rma, "F-1", 1)])])).await;
    assert_eq!(sent.results(), ["updated"], "{}", sent.text);
    let page = support.get(&at).await.page();
    assert_eq!(answer(&page), "Refunded on 1 Feb; the merchant paid $54.00 with F-1.");
    assert!(page.contains("the merchant: F-1, $54.00"), "the time line names the cause: {page}");
}

#[tokio::test]
async fn a_units_money_is_explained_to_the_cent() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = sold("O-1", 3);
    order["discount_amount_cents"] = 1_000.into();
    order["total_amount_cents"] = 15_200.into();
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    let rma = shop.merchant.starts_a_return("O-1", 2).await;
    let page = world.console(Role::Viewer).await.get(&format!("/merchants/acme/returns/{rma}")).await.page();
    for amount in ["$50.00", "$3.34", "$3.33", "$4.00", "$50.66", "$50.67"] {
        assert!(page.contains(amount), "{amount}: {page}");
    }
    assert!(page.contains("Check: $101.33 − $0.00 − $0.00 = $101.33."), "{page}");
}

#[tokio::test]
async fn nobody_sees_a_shopper_without_the_role_and_without_the_audit() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    let (viewer, support) = (world.console(Role::Viewer).await, world.console(Role::Support).await);
    for (at, of) in [(format!("/merchants/acme/returns/{rma}"), "return"), ("/merchants/acme/orders/O-1".to_owned(), "order")] {
        for person in [&viewer, &support] {
            let page = person.get(&at).await.page();
            for personal in PERSONAL {
                assert!(!page.contains(personal), "{personal} on the page of the {of}");
            }
        }
        assert_eq!(viewer.post(&format!("{at}/shopper"), &NOTHING).await.status, 403);
        let page = support.post(&format!("{at}/shopper"), &NOTHING).await.page();
        for personal in PERSONAL {
            assert!(page.contains(personal), "{personal} on the page of the {of}");
        }
    }
    let looks = world.database.texts("select actor || ' ' || action || ' ' || detail from audit where action = 'shopper.viewed'").await;
    assert_eq!(looks, vec![format!("operator:{} shopper.viewed O-1", support.email); 2]);
}

#[tokio::test]
async fn support_cancels_a_return_after_a_preview_and_the_time_line_has_the_name() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for order in ["O-1", "O-2"] {
        shop.merchant.sells(order, 1).await;
    }
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    let support = world.console(Role::Support).await;
    let at = format!("/merchants/acme/returns/{rma}");
    let preview = support.get(&format!("{at}/cancel")).await.page();
    assert!(preview.contains(&format!("backhaul returns cancel --merchant acme {rma}")), "{preview}");
    assert_eq!(shop.merchant.looks_at(&rma).await["status"], "CREATED", "a preview does nothing");
    assert_eq!(support.post(&format!("{at}/cancel"), &NOTHING).await.location, at);
    assert_eq!(shop.merchant.looks_at(&rma).await["cancel_reason"], "canceled_by_operator");
    let page = support.get(&at).await.page();
    assert!(page.contains(&format!("an operator cancelled it · operator:{}", support.email)), "{page}");
    assert_eq!(answer(&page), "No refund; the return was cancelled: an operator cancelled it.");

    let moved = shop.merchant.starts_a_return("O-2", 1).await;
    shop.merchant.carrier_says(&moved, "label_issued").await;
    shop.merchant.carrier_says(&moved, "in_transit").await;
    let at = format!("/merchants/acme/returns/{moved}");
    assert!(support.get(&at).await.page().contains("Not possible: the return cannot be cancelled: the carrier has scanned it."));
    assert_eq!(support.post(&format!("{at}/cancel"), &NOTHING).await.status, 422);
    assert_eq!(support.post(&format!("{at}/resend"), &NOTHING).await.location, at);
    let events = shop.receives_events().await;
    assert_eq!(events.last().map(String::as_str), Some("rma.resent"));
    let page = support.get(&at).await.page();
    assert!(page.contains("<code>rma.resent</code>"), "{page}");
    let actors = world.database.texts("select actor from audit where action in ('return.canceled', 'return.resent')").await;
    assert_eq!(actors, vec![format!("operator:{}", support.email); 2]);
}

#[tokio::test]
async fn an_exchange_that_was_given_up_has_three_ways_out() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(503));
    let (placed, converted) = (boutique.exchanges("O-1").await, boutique.exchanges("O-2").await);
    world.deliver_all_due().await;
    let support = world.console(Role::Support).await;
    let (at, other) = (format!("/merchants/acme/returns/{placed}"), format!("/merchants/acme/returns/{converted}"));
    let page = support.get(&at).await.page();
    assert!(page.contains("tried again by itself") && !page.contains("/retry\"") && !page.contains("/exchange/convert"), "{page}");
    assert_eq!(support.post(&format!("{at}/exchange/convert"), &NOTHING).await.status, 409, "no conversion while it is owed");
    boutique.everything_is_tried().await;
    let page = support.get(&at).await.page();
    assert!(page.contains("/retry\"") && page.contains("/exchange/placed") && page.contains("/exchange/convert"), "{page}");

    assert!(support.get(&format!("{at}/exchange/placed")).await.page().contains("Record the exchange as placed?"));
    assert_eq!(support.post(&format!("{at}/exchange/placed"), &[("order", " ")]).await.status, 422);
    assert_eq!(support.post(&format!("{at}/exchange/placed"), &[("order", "E-1")]).await.location, at);
    assert_eq!(boutique.exchange_of(&placed).await, ("placed".to_owned(), Some("E-1".to_owned())));
    let page = support.get(&at).await.page();
    assert_eq!(answer(&page), "No refund; the shopper gets an exchange, the order E-1.");
    assert!(page.contains(&format!("E-1 · operator:{}", support.email)), "{page}");
    let again = support.post(&format!("{at}/exchange/placed"), &[("order", "E-2")]).await;
    assert!(again.status == 409 && again.text.contains("already known as E-1"), "{}", again.text);

    assert!(support.get(&format!("{other}/exchange/convert")).await.page().contains("Refund 1 unit"));
    assert_eq!(support.post(&format!("{other}/exchange/convert"), &NOTHING).await.location, other);
    assert_eq!(boutique.refunds_of(&converted).await, [("REFUND".to_owned(), 5_400)]);
    let actors = "select actor || ' ' || action from audit where action like 'exchange.%' order by action desc";
    let person = format!("operator:{}", support.email);
    assert_eq!(world.database.texts(actors).await, [format!("{person} exchange.recorded"), format!("{person} exchange.converted")]);
}

#[tokio::test]
async fn an_exchange_that_was_given_up_goes_to_another_address() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(503));
    let rma = boutique.exchanges("O-1").await;
    world.deliver_all_due().await;
    let support = world.console(Role::Support).await;
    let at = format!("/merchants/acme/returns/{rma}");
    let there = [("name", "Sam Sample"), ("street1", "2 Example Street"), ("city", "Newtown"), ("country_code", "US")];
    assert!(!support.get(&at).await.page().contains("/exchange/address"), "it is tried again by itself");
    assert_eq!(support.post(&format!("{at}/exchange/address"), &there).await.status, 409, "somebody may be placing it");
    boutique.everything_is_tried().await;
    let old: uuid::Uuid = world.database.texts("select message_id::text from exchange_order").await[0].parse().unwrap();

    assert!(support.get(&at).await.page().contains(&format!("{at}/exchange/address")));
    assert!(support.get(&format!("{at}/exchange/address")).await.page().contains("Send the exchange to another address?"));
    let faulty = support.post(&format!("{at}/exchange/address"), &there[..3]).await;
    assert!(faulty.status == 422 && faulty.text.contains("capital letters") && faulty.text.contains("2 Example Street"), "{}", faulty.text);
    boutique.orders.mood(Mood::Willing);
    let before = boutique.asked();
    assert_eq!(support.post(&format!("{at}/exchange/address"), &there).await.location, at);
    let retried = retry_message(&world.app, Asker::Operator("test"), boutique.shop.merchant.id, old).await;
    assert!(matches!(retried, Err(RetryMessageError::Replaced)), "it would go to the old address");

    world.deliver_all_due().await;
    let asked = boutique.asked();
    let (first, last) = (before.first().unwrap(), asked.last().unwrap());
    assert_ne!(last.message_id(), first.message_id(), "what was sent with an id is never altered");
    let (was, is): (Value, Value) = (serde_json::from_slice(first.body()).unwrap(), serde_json::from_slice(last.body()).unwrap());
    assert_eq!((&is["shipping_address"]["street1"], &is["shipping_address"]["city"]), (&json!("2 Example Street"), &json!("Newtown")));
    for key in ["original_order_id", "items", "customer", "billing_address", "rma_identifier", "currency"] {
        assert_eq!(is[key], was[key], "{key}");
    }
    assert_eq!(is["payment"]["transaction_id"], json!(last.message_id()));
    assert_eq!(boutique.exchange_of(&rma).await, ("placed".to_owned(), Some("X-O-1".to_owned())));
    assert_eq!(support.post(&format!("{at}/exchange/address"), &there).await.status, 409, "it is placed");
    let audit = "select actor || ' ' || action || ' ' || detail from audit where action = 'exchange.readdressed'";
    assert_eq!(world.database.texts(audit).await, [format!("operator:{} exchange.readdressed {rma}", support.email)]);
}

#[tokio::test]
async fn a_conversion_is_asked_about_twice_if_the_order_may_exist() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(503));
    let rma = boutique.exchanges("O-1").await;
    world.deliver_all_due().await;
    let cut_off = "update attempt set status = null, outcome = 'unknown' where message_id in (select message_id from exchange_order)";
    sqlx::raw_sql(cut_off).execute(&mut world.database.connect().await).await.unwrap();
    boutique.everything_is_tried().await;
    let support = world.console(Role::Support).await;
    let at = format!("/merchants/acme/returns/{rma}");
    let doubt = support.post(&format!("{at}/exchange/convert"), &NOTHING).await.page();
    assert!(doubt.contains("Ask the merchant first") && doubt.contains("An attempt has no recorded answer"), "{doubt}");
    assert_eq!(boutique.exchange_of(&rma).await.0, "pending", "nothing was done");
    assert_eq!(support.post(&format!("{at}/exchange/convert?confirmed=true"), &NOTHING).await.location, at);
    assert_eq!(boutique.exchange_of(&rma).await.0, "converted");
}

#[tokio::test]
async fn support_sends_a_mail_again_and_acts_for_the_shopper() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = mails::world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 1).await;
    shop.merchant.sells("O-2", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    let other = shop.merchant.starts_a_return("O-2", 1).await;
    world.deliver_all_due().await;
    let support = world.console(Role::Support).await;
    let at = format!("/merchants/acme/returns/{rma}");
    let page = support.get(&at).await.page();
    assert!(page.contains("<code>confirmed</code>"), "{page}");
    let mail = between(&page, &format!("href=\"{at}/mails/"), "\"").to_owned();
    assert!(support.get(&format!("{at}/mails/{mail}")).await.page().contains("Send the mail “confirmed” again?"));
    assert_eq!(support.get(&format!("/merchants/acme/returns/{other}/mails/{mail}")).await.status, 404, "the mail of another return");
    let sent = support.post(&format!("{at}/mails/{mail}"), &NOTHING).await;
    assert_eq!(sent.location, at, "{}", sent.text);
    world.deliver_all_due().await;
    assert_eq!(mailbox.received().len(), 3);
    assert!(support.get(&format!("{at}/act")).await.page().contains("Make the link"));
    let made = support.post(&format!("{at}/act"), &NOTHING).await.page();
    assert!(made.contains("https://returns.example.com/r/acme/m/"), "{made}");
    let person = format!("operator:{}", support.email);
    let audit = "select actor || ' ' || action from audit where action in ('mail.resent', 'portal.link_made') order by action";
    assert_eq!(world.database.texts(audit).await, [format!("{person} mail.resent"), format!("{person} portal.link_made")]);
}

#[tokio::test]
async fn received_units_stand_with_their_condition() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    yard.merchant.sells("O-1", 2).await;
    let rma = yard.merchant.starts_a_return("O-1", 2).await;
    yard.merchant.receives_for(&rma, &["LP-1"]).await;
    let page = world.console(Role::Viewer).await.get(&format!("/merchants/acme/returns/{rma}")).await.page();
    assert!(page.contains("1 received, 2 expected") && page.contains("LP-1") && page.contains("RECEIVED · 1"), "{page}");
    assert!(answer(&page).starts_with("Refund due by 15 Mar;"), "{page}");
}

#[tokio::test]
async fn the_list_of_returns_goes_over_all_merchants_by_filters_in_the_address() {
    let world = World::new().await;
    let (acme, pebble) = (world.shop("acme").await, world.shop("pebble").await);
    let mut returns = Vec::new();
    for (shop, order) in [(&acme, "O-1"), (&pebble, "P-1"), (&acme, "O-2")] {
        shop.merchant.sells(order, 1).await;
        returns.push(shop.merchant.starts_a_return(order, 1).await);
        world.time_passes(Duration::from_mins(1));
    }
    assert_eq!(acme.merchant.cancels(&returns[2]).await.status, 200);
    let viewer = world.console(Role::Viewer).await;
    let shown = async |query: &str| {
        let page = viewer.get(&format!("/returns{query}")).await.page();
        let mut found: Vec<(usize, usize)> =
            returns.iter().enumerate().filter_map(|(at, rma)| Some((page.find(&format!("<code>{rma}</code>"))?, at))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, at)| at).collect::<Vec<_>>()
    };
    assert_eq!(shown("").await, [2, 1, 0], "newest first");
    assert_eq!(shown("?status=open").await, [1, 0]);
    assert_eq!(shown("?status=CANCELED").await, [2]);
    assert_eq!(shown("?merchant=acme").await, [2, 0]);
    assert_eq!(shown("?merchant=acme&status=open").await, [0]);
    assert_eq!(shown("?merchant=acme&order=O-2").await, [2]);
    assert_eq!(shown("?since=2026-03-01T12:01&until=2026-03-01T12:02").await, [1]);
    assert_eq!(shown("?merchant=nobody").await, [0; 0]);
    let page = viewer.get("/returns?order=O-1&since=never").await.page();
    assert!(page.contains("name the merchant") && page.contains("cannot be read"), "{page}");
}

#[tokio::test]
async fn a_long_list_of_returns_has_pages() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 60).await;
    for _ in 0..60 {
        shop.merchant.starts_a_return("O-1", 1).await;
    }
    let viewer = world.console(Role::Viewer).await;
    for query in ["", "?merchant=acme&status=open"] {
        let first = viewer.get(&format!("/returns{query}")).await.page();
        assert!(first.contains("50 shown"), "{first}");
        let older = between(&first, "50 shown</span><a href=\"", "\"").replace("&amp;", "&").replace("&#38;", "&");
        let second = viewer.get(&older).await.page();
        assert!(second.contains("10 shown") && !second.contains(">Older<"), "{second}");
    }
}

#[tokio::test]
async fn from_an_e_mail_address_to_the_refund_it_takes_three_steps() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    shop.merchant.carrier_says(&rma, "in_transit").await;
    let support = world.console(Role::Support).await;
    let found = support.post("/search", &[("q", "pat@example.com")]).await.location;
    let list = support.get(&found).await.page();
    let at = between(&list, "<a class=\"plain\" href=\"", "\"");
    assert_eq!(at, format!("/merchants/acme/returns/{rma}"), "the shopper's returns come first");
    assert_eq!(answer(&support.get(at).await.page()), "Refund due by 15 Mar; the goods have come back, and the merchant owes $54.00.");
    let typed = rma.to_lowercase().replace('-', "");
    assert!(support.get(&format!("/search?q={typed}")).await.page().contains(at), "however the number is typed");
    world.time_passes(14 * DAY);
    assert!(support.signs_in().await.status == 303);
    assert!(support.get("/refunds").await.page().contains(&format!("href=\"{at}\"")));
}
