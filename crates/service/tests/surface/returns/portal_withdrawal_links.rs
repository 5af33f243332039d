//! The link in the acknowledgement of a withdrawal: it shows that statement, for 90 days, and nothing else. Statements that are
//! confirmed at once or erased.

use std::time::Duration;

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use backhaul::flow::returns::forget_outdated::forget_outdated;
use sandbox::mailbox::Mailbox;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::mails::world;
use super::portal_withdrawal::german;
use crate::world::{World, message};

const ADDRESS: &str = "https://returns.example.com";
const DAY: Duration = Duration::from_hours(24);

/// The text of the last mail to this address, and the path of its link.
async fn acknowledged(world: &World, mailbox: &Mailbox, to: &str) -> (String, String) {
    world.deliver_all_due().await;
    let mails = mailbox.received();
    let mail = mails.iter().rfind(|mail| mail.envelope_to() == [to]).unwrap_or_else(|| panic!("a mail to {to}"));
    let text = mail.text().unwrap().to_owned();
    let link = text.lines().find_map(|line| line.strip_prefix(ADDRESS)).unwrap_or_else(|| panic!("no link: {text}")).to_owned();
    (text, link)
}

#[tokio::test]
async fn the_acknowledgement_links_to_exactly_its_statement() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    let pat = world.shopper("acme");
    let done = pat.withdraws("A-1", "pat@example.com").await;
    let reference = shop.merchant.withdrawal().await["reference"].as_str().unwrap().to_owned();
    let (text, link) = acknowledged(&world, &mailbox, "pat@example.com").await;
    assert!(link.starts_with("/r/acme/w/") && text.contains("Open my withdrawal:"), "{text}");
    let secret = link.rsplit('/').next().unwrap();
    let hashes = "select encode(link_hash, 'hex') from withdrawal_link";
    let hash: String = Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert_eq!(world.database.texts(hashes).await, [hash], "the secret is not kept");

    // Mail programs open links to check them, perhaps before the shopper does.
    for _ in 0..3 {
        let page = world.shopper("acme").opens(&link).await;
        assert_eq!((page.status.as_u16(), page.heading()), (200, "Your withdrawal".to_owned()));
        let sentence = "To A merchant: I withdraw from my contract for the purchase of the goods in the order below.";
        let said = [
            sentence,
            "Name Pat Doe",
            "Order A-1",
            "Goods The whole order: Running shoe, 2 pieces",
            "Received 1 March 2026 at 12:00:00 UTC",
        ];
        for said in said.into_iter().chain([&*reference]) {
            assert!(page.says(said) && done.says(said), "{said}: {} {}", page.reads(), done.reads());
        }
        assert_eq!(page.headers["cache-control"], "no-store");
        assert!(page.html.contains(r#"<a class="btn" href="/r/acme">"#), "the usual way in: {}", page.html);
    }
    let sam = world.shopper("acme");
    sam.opens(&link).await;
    assert_eq!(sam.cookie(), None, "it opens no session");
    for closed in ["items", "returns", &format!("withdrawals/{reference}")] {
        assert_eq!(sam.opens(closed).await.status, 401, "{closed}");
    }
    let own = pat.opens(&link).await;
    let onward = format!("/r/acme/withdrawals/{reference}");
    assert!(own.html.contains(&format!(r#"href="{onward}""#)), "who has found the order goes on there: {}", own.html);
    assert_eq!(pat.opens(&onward).await.status, 200);

    // What changes afterwards does not change what was acknowledged.
    let before = world.shopper("acme").opens(&link).await.html;
    pat.sends(&format!("withdrawals/{reference}"), &[]).await;
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    pat.confirms(&check).await;
    assert_eq!(world.shopper("acme").opens(&link).await.html, before);
    let (one, other) = (world.shopper("acme"), world.shopper("acme"));
    let (first, second) = tokio::join!(one.opens(&link), other.opens(&link));
    assert_eq!([first.html, second.html], [before.clone(), before]);
}

#[tokio::test]
async fn a_statement_about_no_order_has_its_link_too_and_in_the_language_of_its_reader() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    world.shopper("acme").withdraws("Blue shoes", "sam@example.com").await;
    let (_, link) = acknowledged(&world, &mailbox, "sam@example.com").await;
    let page = world.shopper("acme").opens(&format!("{link}?lang=fr")).await;
    assert_eq!(page.heading(), "Votre rétractation");
    assert!(
        page.says("Blue shoes") && page.html.contains(r#"<dl class="qa" lang="en">"#),
        "the statement is as it was made: {}",
        page.html
    );
    drop(shop);
}

#[tokio::test]
async fn a_link_to_a_statement_lasts_90_days_and_is_then_forgotten() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let bolt = world.shop("bolt").await;
    shop.merchant.publishes_german().await;
    let pat = world.shopper("acme");
    pat.withdraws("A-1", "pat@example.com").await;
    let (_, link) = acknowledged(&world, &mailbox, "pat@example.com").await;
    let foreign = link.replace("/acme/", "/bolt/");
    assert_eq!(world.shopper("bolt").opens(&foreign).await.status, 410, "another merchant's");
    world.time_passes((90 * DAY).saturating_sub(Duration::from_secs(1)));
    assert_eq!(pat.opens(&link).await.status, 200);
    world.time_passes(Duration::from_secs(1));
    for over in [pat.opens(&link).await, pat.opens("w/never-was").await] {
        assert_eq!((over.status.as_u16(), over.heading()), (410, "This link no longer works".to_owned()));
        assert!(over.says("Your withdrawal counts all the same"), "{}", over.reads());
    }
    assert!(!forget_outdated(&world.app).await.unwrap());
    assert_eq!(world.database.count("withdrawal_link").await, 0);
    drop(bolt);
}

#[tokio::test]
async fn erasing_a_shopper_deletes_the_links_and_the_drafts_of_their_statements() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    let (pat, again, sam) = (world.shopper("acme"), world.shopper("acme"), world.shopper("acme"));
    pat.withdraws("A-1", "pat@example.com").await;
    sam.withdraws("A-9", "sam@example.com").await;
    let (_, link) = acknowledged(&world, &mailbox, "pat@example.com").await;
    assert_eq!(again.states("A-1", "pat@example.com", "all").await.heading(), "Confirm your withdrawal");
    sam.states("A-9", "sam@example.com", "all").await;
    erase_shopper(&world.app, "test", shop.merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
    assert_eq!(pat.opens(&link).await.status, 410);
    assert_eq!(world.database.count("withdrawal_link").await, 1, "that of the other statement");
    let drafts = world.database.texts("select statement from withdrawal_draft").await;
    assert!(drafts.len() == 1 && drafts[0].contains("sam@example.com"), "{drafts:?}");
    assert_eq!(again.sends("withdraw/confirm", &[]).await.heading(), "Withdraw from contract", "there is nothing left to confirm");
}

#[tokio::test]
async fn the_buyer_of_a_gift_is_not_asked_to_send_back_what_others_have() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mut gift = german();
    gift["tags"] = json!(["gift"]);
    assert_eq!(shop.merchant.publishes(&message([gift])).await.results(), ["created"]);
    let done = world.shopper("acme").withdraws("A-1", "pat@example.com").await;
    let (text, _) = acknowledged(&world, &mailbox, "pat@example.com").await;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [done.reads(), text] {
        assert!(said.contains("The order was a gift, so you may not have the items."), "{said}");
        for wrong in ["Send the items back", "you sent them", "Choose how to send it back"] {
            assert!(!said.contains(wrong), "{wrong}: {said}");
        }
    }
    assert!(!done.html.contains("<ol class=\"next\">"), "one step has no number: {}", done.html);
}

#[tokio::test]
async fn only_goods_that_were_shipped_are_to_be_sent_back() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mut order = german();
    let mut waiting = order["items"][0].clone();
    waiting["identifier"] = "L2".into();
    waiting["quantity_shipped"] = 0.into();
    waiting["delivered_date"] = json!(null);
    waiting["shipped_date"] = json!(null);
    waiting["product_amount_cents"] = 0.into();
    waiting["tax_amount_cents"] = 0.into();
    order["items"].as_array_mut().unwrap().push(waiting);
    assert_eq!(shop.merchant.publishes(&message([order])).await.results(), ["created"]);
    for (line, sends) in [("L2", false), ("L1", true)] {
        let pat = world.shopper("acme");
        pat.states("A-1", "pat@example.com", "some").await;
        pat.sends("withdraw/goods", &[("what", "some"), ("line", line)]).await;
        let done = pat.sends("withdraw/confirm", &[]).await;
        let (text, _) = acknowledged(&world, &mailbox, "pat@example.com").await;
        assert_eq!(done.says("Send the items back by"), sends, "{line}: {}", done.reads());
        assert_eq!(done.html.contains("<ol class=\"next\">"), sends, "{line}");
        assert_eq!((text.contains("Send the items back by"), text.contains("\n1. ")), (sends, sends), "{line}: {text}");
        assert!(done.says("You get your money by 15 March 2026"), "{}", done.reads());
    }
}

#[tokio::test]
async fn a_statement_that_is_confirmed_many_times_at_once_is_one_withdrawal() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    let pat = world.shopper("acme");
    pat.states("A-1", "pat@example.com", "all").await;
    let confirm = || pat.sends("withdraw/confirm", &[]);
    let (one, two, three, four) = tokio::join!(confirm(), confirm(), confirm(), confirm());
    let reference = shop.merchant.withdrawal().await["reference"].as_str().unwrap().to_owned();
    for page in [one, two, three, four] {
        assert!(page.says(&reference), "everybody sees the same statement: {}", page.reads());
    }
    assert_eq!((world.database.count("withdrawal").await, world.database.count("withdrawal_link").await), (1, 1));
    world.deliver_all_due().await;
    assert_eq!(mailbox.received().iter().filter(|mail| mail.envelope_to() == ["pat@example.com"]).count(), 1);
}

#[tokio::test]
async fn goods_that_are_changed_while_the_statement_is_confirmed_leave_it_as_it_is() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes_german().await;
    for round in 1..=10 {
        let pat = world.shopper("acme");
        pat.states("A-1", "pat@example.com", "some").await;
        let goods = [("what", "some"), ("line", "L1"), ("quantity-1", "1")];
        pat.sends("withdraw/goods", &goods).await;
        let confirm = || pat.sends_once("withdraw/confirm", &[]);
        let (changed, confirmed) = tokio::join!(pat.sends_once("withdraw/goods", &goods), confirm());
        for page in [changed, confirmed, confirm().await] {
            assert_eq!(page.status, 303, "round {round}: {}", page.html);
        }
        assert_eq!(world.database.count("withdrawal").await, round, "round {round}");
        assert_eq!(world.database.count("withdrawal_draft").await, 0, "nothing is left to confirm");
    }
}
