//! Shoppers in the portal: whole roads, from finding the order to the refund.

use domain::money::Cents;
use domain::returns::rma::Method;
use domain::returns::rma::policy::{Offer, Policy};
use reqwest::Method as Http;
use serde_json::{Value, json};

use crate::world::shopper::{Page, Shopper};
use crate::world::{World, and_socks, message, refund_for, refunded, sold};

impl Shopper {
    /// Ticks these lines of the order.
    async fn ticks(&self, lines: &[&str]) -> Page {
        self.sends("items", &lines.iter().map(|line| ("line", *line)).collect::<Vec<_>>()).await
    }

    /// Answers everything for one unit that is refunded.
    pub async fn wants_a_refund(&self, how: &str) -> Page {
        self.ticks(&["L1"]).await;
        let asked = self.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
        if asked.heading() == "What would you like instead?" {
            self.sends("items/1/instead", &[("instead", "refund")]).await;
        }
        self.sends("how", &[("how", how)]).await
    }
}

#[tokio::test]
async fn a_shopper_returns_a_unit_for_a_refund_and_follows_it_to_the_end() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let pat = world.shopper("acme");
    let items = pat.finds("A-1", "pat@example.com").await;
    assert_eq!(items.heading(), "What would you like to send back?");
    assert!(items.says("$54.00 each") && items.says("Return by 21 March"), "{}", items.reads());
    let reason = pat.sends("items", &[("line", "L1"), ("quantity-1", "1")]).await;
    assert_eq!(reason.heading(), "Why is it going back?");
    let how = pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    assert_eq!(how.heading(), "How would you like to send it back?", "a merchant without exchanges offers a refund only");
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    assert_eq!(check.heading(), "Check before you confirm");
    assert!(check.says("Price $50.00 Tax $4.00") && check.says("Estimated refund $54.00"), "{}", check.reads());
    let done = pat.confirms(&check).await;
    assert_eq!(done.heading(), "Your return is confirmed");
    let rma = done.rma();
    assert_eq!(shop.receives_events().await, ["rma.created"]);

    let status = pat.opens(&format!("returns/{rma}")).await;
    assert_eq!(status.heading(), "Waiting for you to send it");
    assert!(status.says("You have until Tuesday 31 March"), "{}", status.reads());
    shop.merchant.carrier_says(&rma, "label_issued").await;
    shop.merchant.carrier_says(&rma, "in_transit").await;
    let status = pat.opens("returns").await;
    assert_eq!(status.heading(), "Your parcel is on its way to us", "an order with one return shows it at once");
    assert!(status.says("Done: Label made 1 March at 12:00") && status.says("Done: On its way 1 March at 12:00"), "{}", status.reads());
    assert!(status.says("can’t be cancelled any more"));
    let refund = refunded(sold("A-1", 2), [refund_for(&rma, "F-1", 1)]);
    assert_eq!(shop.merchant.publishes(&message([refund])).await.results(), ["updated"]);
    let status = pat.opens("returns").await;
    assert_eq!(status.heading(), "Your return is complete");
    assert!(status.says("Refunded $54.00"), "{}", status.reads());
}

#[tokio::test]
async fn a_shopper_exchanges_one_item_and_takes_a_gift_card_for_another() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    assert_eq!(merchant.publishes(&message([and_socks(sold("A-1", 1), 1)])).await.results(), ["created"]);
    let pat = world.shopper("acme");
    let items = pat.finds("A-1", "pat@example.com").await;
    let lines: Vec<String> =
        items.html.split(r#"name="line" value=""#).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(lines.len(), 2);
    let reason = pat.ticks(&[&lines[0], &lines[1]]).await;
    assert!(reason.says("Step 2 of 5 · item 1 of 2"), "{}", reason.reads());
    let instead = pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    assert!(instead.says("Another size or colour Free") && instead.says("Gift card $59.00"), "{}", instead.reads());
    let which = pat.sends("items/1/instead", &[("instead", "exchange")]).await;
    assert_eq!(which.heading(), "Which one would you like?");
    assert!(which.says("41 in stock") && which.says("43 in stock"), "{}", which.reads());
    let reason = pat.sends("items/1/exchange", &[("sku", "SHOE-43")]).await;
    assert!(reason.says("item 2 of 2"), "{}", reason.reads());
    // No reason is given.
    pat.sends("items/2/reason", &[]).await;
    pat.sends("items/2/instead", &[("instead", "gift-card")]).await;
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    assert!(check.says("Exchange for 43") && check.says("I’d rather not say"), "{}", check.reads());
    assert!(check.says("Gift card, with $5.00 on top"), "{}", check.reads());
    let rma = pat.confirms(&check).await.rma();
    let shown = merchant.looks_at(&rma).await;
    let kinds: Vec<&Value> = shown["items"].as_array().unwrap().iter().map(|item| &item["refund_type"]).collect();
    assert_eq!(kinds, [&json!("EVEN_EXCHANGE"), &json!("UNEVEN_EXCHANGE")]);
    assert_eq!(shown["items"][0]["exchange_sku"], "SHOE-43");
    assert_eq!(shown["items"][1]["return_reason"], "NOT_GIVEN");
    assert!(pat.opens(&format!("returns/{rma}")).await.says("We are ordering the new one"));
    boutique.everything_is_tried().await;
    assert!(pat.opens(&format!("returns/{rma}")).await.says("Done: The new one and your gift card are ordered"));
}

#[tokio::test]
async fn the_size_that_the_shopper_has_is_neither_shown_nor_taken() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.sells("A-1", 1).await;
    let sized = |size: &str| sandbox::merchant::OnShelf::new(&format!("SHOE-{size}"), size, 5_000);
    boutique.shop.systems.has_variants("V-SHOE", [sized("41"), sized("42"), sized("43")]);
    let pat = world.shopper("acme");
    let items = pat.finds("A-1", "pat@example.com").await;
    let line = items.html.split(r#"name="line" value=""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    pat.ticks(&[&line]).await;
    pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    let which = pat.sends("items/1/instead", &[("instead", "exchange")]).await;
    assert!(which.says("41 in stock") && which.says("43 in stock"), "{}", which.reads());
    assert!(!which.html.contains("SHOE-42"), "{}", which.html);
    let again = pat.sends("items/1/exchange", &[("sku", "SHOE-42")]).await;
    assert_eq!(again.heading(), "Which one would you like?", "{}", again.reads());
}

#[tokio::test]
async fn a_merchant_that_does_not_answer_blocks_nobody() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", "100")]).await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.sells("A-1", 1).await;
    boutique.shop.systems.answer("/sku", sandbox::merchant::Answer::status(500));
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    pat.ticks(&["L1"]).await;
    let instead = pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    assert!(instead.says("We can’t see what is in stock right now."), "{}", instead.reads());
    pat.sends("items/1/instead", &[("instead", "refund")]).await;
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    assert_eq!(pat.confirms(&check).await.heading(), "Your return is confirmed");
}

#[tokio::test]
async fn a_return_is_started_once_however_often_it_is_confirmed() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let check = pat.wants_a_refund("mail-back").await;
    let fields = [("draft", check.field("draft")), ("revision", check.field("revision"))];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let clicks = futures::future::join_all((0..20).map(|_| pat.sends_once("check", &fields))).await;
    let places: std::collections::BTreeSet<String> =
        clicks.iter().map(|click| click.headers["location"].to_str().unwrap().to_owned()).collect();
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(places.first().unwrap().ends_with("/done"));
    assert_eq!(world.database.count("rma").await, 1);
    // A page that was left open confirms nothing new.
    assert_eq!(pat.sends("check", &fields).await.heading(), "Your return is confirmed");
    assert_eq!(world.database.count("rma").await, 1);
}

#[tokio::test]
async fn answers_that_were_changed_in_another_tab_are_shown_before_they_are_confirmed() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let seen = pat.wants_a_refund("mail-back").await;
    pat.sends("items", &[("line", "L1"), ("quantity-1", "2")]).await;
    let shown = pat.confirms(&seen).await;
    assert_eq!(shown.heading(), "Check before you confirm");
    assert!(shown.says("2 of 2"), "{}", shown.reads());
    assert_eq!(world.database.count("rma").await, 0);
    pat.confirms(&shown).await;
    assert_eq!(world.database.count("rma_item").await, 2);
}

#[tokio::test]
async fn what_has_changed_since_the_choice_is_said_with_the_nearest_choice() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let merchant = &boutique.shop.merchant;
    merchant.sells("A-1", 2).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    pat.sends("items", &[("line", "L1"), ("quantity-1", "2")]).await;
    pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    pat.sends("items/1/exchange", &[("sku", "SHOE-43")]).await;
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    assert_eq!(check.heading(), "Check before you confirm", "{}", check.reads());
    // Somebody else takes a unit, and the size is sold out.
    merchant.starts_a_return("A-1", 1).await;
    let changed = pat.confirms(&check).await;
    assert_eq!(changed.heading(), "Something has changed");
    assert!(changed.says("We did not start the return"), "{}", changed.reads());
    assert!(changed.says("Only 1 of 2 can still come back. Already in another return."), "{}", changed.reads());
    let check = pat.sends("changed", &[]).await;
    assert_eq!(check.heading(), "Check before you confirm");
    world.time_passes(std::time::Duration::from_secs(61));
    let sized = |size: &str, stock| sandbox::merchant::OnShelf::new(&format!("SHOE-{size}"), size, 5_000).stock(stock);
    boutique.shop.systems.has_variants("V-SHOE", [sized("41", 5), sized("43", 0), sized("44", 5)]);
    let changed = pat.confirms(&check).await;
    assert!(changed.says("It has just sold out.") && changed.says("Exchange for 44"), "{}", changed.reads());
    let check = pat.sends("changed", &[("instead-1", "variant:SHOE-44")]).await;
    assert_eq!(check.heading(), "Check before you confirm", "{}", check.reads());
    assert_eq!(pat.confirms(&check).await.heading(), "Your return is confirmed");
}

#[tokio::test]
async fn what_cannot_come_back_says_why() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = and_socks(sold("A-1", 2), 1);
    order["items"][1]["tags"] = json!(["final-sale"]);
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    shop.merchant.starts_a_return("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "10001").await;
    let items = pat.opens("items").await;
    assert!(items.says("1 of 2 can come back. Already in another return."), "{}", items.reads());
    assert!(items.says("Final sale. This was marked when you bought it."), "{}", items.reads());
    world.time_passes(std::time::Duration::from_hours(24 * 40));
    let pat = world.shopper("acme");
    pat.finds("A-1", "10001").await;
    let items = pat.opens("items").await;
    assert_eq!(items.heading(), "Nothing in this order can come back");
    assert!(items.says("The time for returns ended on 21 March 2026."), "{}", items.reads());
}

#[tokio::test]
async fn a_shopper_cancels_a_return_until_it_is_on_its_way() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let check = pat.wants_a_refund("mail-back").await;
    let rma = pat.confirms(&check).await.rma();
    let ask = pat.opens(&format!("returns/{rma}/cancel")).await;
    assert_eq!(ask.heading(), "Cancel this return?");
    let status = pat.sends(&format!("returns/{rma}/cancel"), &[]).await;
    assert_eq!(status.heading(), "This return is cancelled");
    let shown = shop.merchant.looks_at(&rma).await;
    assert_eq!((&shown["status"], &shown["cancel_reason"]), (&json!("CANCELED"), &json!("canceled_by_shopper")));

    let check = pat.wants_a_refund("mail-back").await;
    let second = pat.confirms(&check).await.rma();
    assert_eq!(pat.opens("returns").await.heading(), "You have 2 returns for this order");
    shop.merchant.carrier_says(&second, "label_issued").await;
    shop.merchant.carrier_says(&second, "in_transit").await;
    assert_eq!(pat.sends(&format!("returns/{second}/cancel"), &[]).await.heading(), "It can’t be cancelled any more");
}

#[tokio::test]
async fn a_label_comes_by_itself_and_is_shown_to_whoever_knows_the_postcode() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let check = pat.wants_a_refund("mail-back").await;
    let done = pat.confirms(&check).await;
    assert!(done.says("Your label is being made."), "{}", done.reads());
    let rma = done.rma();
    carried.receives_events().await;
    let done = pat.opens(&format!("returns/{rma}/done")).await;
    assert!(done.says("Open the label (PDF)") && !done.says("being made"), "{}", done.reads());
    let asked = pat.opens(&format!("returns/{rma}/label")).await;
    assert_eq!(asked.heading(), "Enter the postcode to see the label");
    assert!(!asked.says("Main St"), "the address is not shown");
    let missed = pat.sends(&format!("returns/{rma}/label"), &[("postcode", "99999")]).await;
    assert!(missed.says("Check the postcode"), "{}", missed.reads());
    let label = pat.sends(&format!("returns/{rma}/label"), &[("postcode", "10001")]).await;
    assert_eq!(label.headers["content-type"], "application/pdf");
    // Whoever came with the postcode is not asked again.
    let other = world.shopper("acme");
    other.finds("A-1", "10001-1234").await;
    let label = other.asks(Http::GET, &format!("/r/acme/returns/{rma}/label"), |request| request).await;
    assert_eq!(label.headers["content-type"], "application/pdf");
}

#[tokio::test]
async fn goods_that_are_kept_are_refunded_without_being_sent() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let keep = Offer { method: Method::CustomerKeep, fee: Cents::default(), deducted: false };
    shop.merchant.has_policy(&Policy { offers: vec![keep], ..Policy::default() }).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let check = pat.wants_a_refund("customer-keep").await;
    let done = pat.confirms(&check).await;
    assert_eq!(done.heading(), "All done. It is yours to keep");
    assert!(done.says("$54.00"), "{}", done.reads());
}

#[tokio::test]
async fn html_in_an_order_is_shown_as_text() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let evil = "<script>alert(1)</script><b>\"'&";
    let mut order = sold("A-1", 2);
    order["items"][0]["title"] = evil.into();
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    let pat = world.shopper("acme");
    let mut pages = vec![pat.finds("A-1", "pat@example.com").await];
    pages.push(pat.ticks(&["L1"]).await);
    pages.push(pat.sends("items/1/reason", &[]).await);
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    let rma = pat.confirms(&check).await.rma();
    pages.push(check);
    pages.push(pat.opens(&format!("returns/{rma}")).await);
    pages.push(pat.opens(&format!("returns/{rma}/cancel")).await);
    for page in pages {
        assert!(page.says(evil), "{}", page.html);
        assert!(!page.html.contains("<script>alert"), "{}", page.html);
    }
}

#[tokio::test]
async fn a_shopper_who_drops_goods_off_gets_the_carriers_code() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let check = pat.wants_a_refund("express-returns").await;
    let rma = pat.confirms(&check).await.rma();
    carried.receives_events().await;
    let done = pat.opens(&format!("returns/{rma}/done")).await;
    assert!(done.says("Show this at the counter"), "{}", done.reads());
    let path = format!("/r/acme/returns/{rma}/code");
    assert!(done.html.contains(&format!(r#"<img src="{path}""#)), "{}", done.html);
    let code = pat.asks(Http::GET, &path, |request| request).await;
    assert_eq!((code.status.as_u16(), &code.headers["content-type"]), (200, &"image/png".parse().unwrap()));
    assert_eq!(world.shopper("acme").asks(Http::GET, &path, |request| request).await.status, 401, "nobody else's");
}

#[tokio::test]
async fn a_label_that_the_carrier_refuses_lets_the_shopper_choose_another_way_back() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let keep = Offer { method: Method::CustomerKeep, fee: Cents::default(), deducted: false };
    let mail = Offer { method: Method::MailBack, ..keep };
    merchant.has_policy(&Policy { offers: vec![mail, keep], ..Policy::default() }).await;
    let mut order = sold("A-1", 1);
    order["shipping_address"]["street1"] = "".into();
    assert_eq!(merchant.publishes(&message([order])).await.results(), ["created"]);
    let pat = world.shopper("acme");
    pat.finds("A-1", "pat@example.com").await;
    let check = pat.wants_a_refund("mail-back").await;
    let first = pat.confirms(&check).await.rma();
    for wait in [0, 6, 45] {
        world.time_passes(std::time::Duration::from_secs(wait));
        world.deliver_all_due().await;
    }
    let done = pat.opens(&format!("returns/{first}/done")).await;
    assert_eq!(done.heading(), "Your return is confirmed, but the carrier makes no label");
    let how = pat.sends(&format!("returns/{first}/another"), &[]).await;
    assert_eq!(how.heading(), "Send it back, or keep it?");
    assert_eq!(merchant.looks_at(&first).await["status"], "CANCELED");
    let check = pat.sends("how", &[("how", "customer-keep")]).await;
    assert!(check.says("Too small"), "the answers are kept: {}", check.reads());
    assert_eq!(pat.confirms(&check).await.heading(), "All done. It is yours to keep");
}

#[tokio::test]
async fn the_refund_that_is_still_to_come_leaves_out_what_was_refunded() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    let pat = world.shopper("acme");
    assert!(pat.finds("A-1", "pat@example.com").await.says("Refund of about $108.00"));
    let refund = refunded(sold("A-1", 2), [refund_for(&rma, "F-1", 1)]);
    assert_eq!(shop.merchant.publishes(&message([refund])).await.results(), ["updated"]);
    let status = pat.opens("returns").await;
    assert!(status.says("Refunded $54.00") && status.says("Refund of about $54.00"), "{}", status.reads());
}
