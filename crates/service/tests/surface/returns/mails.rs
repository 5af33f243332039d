//! Mails to shoppers: each change that is news to them is told once, by the merchant, as text and HTML.

use std::time::Duration;

use backhaul::flow::merchants::configure_mails::{ConfigureMailsError, MailChange, set_mails};
use backhaul::flow::returns::resend_mail::{ResendMailError, list_mails, read_mail, resend_mail};
use domain::returns::mail::Mail;
use mail_parser::MessageParser;
use sandbox::mailbox::{Answer, Mailbox};
use sandbox::merchant::Answer as Reply;
use serde_json::{Value, json};
use store::messages::log::State;

use crate::binary::{backhaul, err, out};
use crate::world::{World, mail_back, message, refund_for, refunded, sold};

/// A world with a mail server and a public portal.
pub async fn world(mailbox: &Mailbox) -> World {
    World::with(&[
        ("BACKHAUL__MAIL__URL", &format!("{}?tls=none", mailbox.url())),
        ("BACKHAUL__MAIL__FROM", "returns@shop.example.com"),
        ("BACKHAUL__PORTAL__URL", "https://returns.example.com"),
    ])
    .await
}

/// The subjects of all mails so far, once everything is delivered.
async fn subjects(world: &World, mailbox: &Mailbox) -> Vec<String> {
    world.deliver_all_due().await;
    mailbox.received().iter().map(|mail| mail.subject().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_confirmation_is_text_and_html_in_the_merchants_name() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let change = MailChange {
        sender_name: Some("Acme \"Shoes\", Köln".to_owned()),
        reply_to: Some("help@acme.example".to_owned()),
        ..MailChange::default()
    };
    set_mails(&world.app, "test", shop.merchant.id, change).await.unwrap();
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    assert_eq!(subjects(&world, &mailbox).await, ["Your return is confirmed: send it by 31 March"]);
    let mails = mailbox.received();
    let mail = MessageParser::default().parse(mails[0].raw()).unwrap();
    let from = mail.from().unwrap().first().unwrap();
    assert_eq!((from.name(), from.address()), (Some("Acme \"Shoes\", Köln"), Some("returns@shop.example.com")));
    assert_eq!(mail.reply_to().unwrap().first().unwrap().address(), Some("help@acme.example"));
    assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-generated"));
    assert_eq!((mail.text_body_count(), mail.html_body_count(), mail.attachment_count()), (1, 1, 0));
    let (text, html) = (mail.body_text(0).unwrap(), mail.body_html(0).unwrap());
    for form in [&text, &html] {
        assert!(form.contains(&rma) && form.contains("Hello Pat,") && form.contains("Acme"), "{form}");
        assert!(form.contains("https://returns.example.com/r/acme/s/"), "{form}");
        assert!(form.contains("nothing to unsubscribe from"), "{form}");
    }
    assert!(text.contains("Send all 2 items back by Tuesday 31 March."), "{text}");
}

#[tokio::test]
async fn each_step_is_told_once() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    world.time_passes(Duration::from_mins(11));
    for event in ["label_issued", "label_issued", "in_transit", "in_transit", "delivered"] {
        shop.merchant.carrier_says(&rma, event).await;
    }
    let first = refunded(sold("A-1", 2), [refund_for(&rma, "F1", 1)]);
    shop.merchant.publishes(&message([first.clone()])).await;
    shop.merchant.publishes(&message([first.clone()])).await;
    let both = refunded(first, [refund_for(&rma, "F1", 1), refund_for(&rma, "F2", 1)]);
    shop.merchant.publishes(&message([both])).await;
    let expected = [
        "Your return is confirmed: send it by 31 March",
        "Your return label is ready",
        "Your return is on its way",
        "We refunded $54.00",
        "We refunded $54.00",
    ];
    assert_eq!(subjects(&world, &mailbox).await, expected);
    let mails = mailbox.received();
    assert!(mails[3].text().unwrap().contains("Still to come: About $54.00"), "{}", mails[3].text().unwrap());
    assert!(!mails[4].text().unwrap().contains("Still to come"), "{}", mails[4].text().unwrap());
}

#[tokio::test]
async fn a_label_that_comes_at_once_is_not_announced() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let carried = world.shop_with_a_carrier("acme").await;
    let rma = carried.has_a_return("A-1", 1).await;
    world.time_passes(Duration::from_mins(9));
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    assert_eq!(subjects(&world, &mailbox).await.len(), 1, "the confirmation leads to it");
    let mails = mailbox.received();
    assert!(mails[0].text().unwrap().contains("1. Open your return to get the label."), "{}", mails[0].text().unwrap());
    carried.shop.merchant.cancels(&rma).await;
    assert_eq!(subjects(&world, &mailbox).await.last().unwrap(), "Your return is cancelled");
}

#[tokio::test]
async fn an_exchange_is_placed_or_sold_out() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let boutique = world.boutique("acme").await;
    boutique.exchanges("A-1").await;
    assert_eq!(subjects(&world, &mailbox).await, ["Your return is confirmed", "We ordered your new item"]);
    let mails = mailbox.received();
    assert!(mails[1].text().unwrap().contains("The number of the new order is X-A-1."), "{}", mails[1].text().unwrap());
    mailbox.clear();
    boutique.shop.systems.answer(crate::world::EXCHANGE_ORDERS, Reply::status(400));
    let rma = boutique.exchanges("A-2").await;
    boutique.everything_is_tried().await;
    boutique.is_converted(&rma).await.unwrap();
    assert_eq!(subjects(&world, &mailbox).await, ["Your return is confirmed", "Sold out: you get a refund instead"]);
    let mails = mailbox.received();
    assert!(mails[1].text().unwrap().contains("Estimated refund: About $54.00"), "{}", mails[1].text().unwrap());
}

#[tokio::test]
async fn the_buyer_of_a_gift_learns_nothing_of_its_return() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mut gift = sold("A-1", 1);
    gift["tags"] = json!(["gift"]);
    shop.merchant.publishes(&message([gift.clone()])).await;
    let mut wanted = mail_back("A-1", 1);
    wanted["giftee_email"] = "sam@example.com".into();
    let rma = shop.merchant.starts(&wanted).await.body["rma_identifier"].as_str().unwrap().to_owned();
    shop.merchant.publishes(&message([refunded(gift, [refund_for(&rma, "F1", 1)])])).await;
    assert_eq!(subjects(&world, &mailbox).await, ["Your return is confirmed: send it by 31 March", "Your return is settled"]);
    for mail in mailbox.received() {
        assert_eq!(mail.envelope_to(), ["sam@example.com"]);
        let text = mail.text().unwrap();
        assert!(!text.contains("A-1") && !text.contains('$') && !text.contains("Pat"), "{text}");
    }
    let settled = mailbox.received().pop().unwrap();
    assert!(!settled.text().unwrap().contains("bank"), "it is a gift card: {}", settled.text().unwrap());

    // The link shows the return to whoever was mailed it, and to nobody else.
    let text = settled.text().unwrap();
    let link = text.lines().find_map(|line| line.trim().strip_prefix("https://returns.example.com")).unwrap();
    let sam = world.shopper("acme");
    let status = sam.sends(link, &[]).await;
    assert_eq!(status.heading(), "Your return is complete");
    assert!(!status.html.contains('$') && !status.html.contains("A-1"), "{}", status.reads());
    let buyer = world.shopper("acme");
    buyer.finds("A-1", "pat@example.com").await;
    assert_eq!(buyer.opens(&format!("returns/{rma}")).await.status, 404);
}

#[tokio::test]
async fn a_mail_is_in_the_language_of_the_answers() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    pat.opens("/r/acme?lang=de").await;
    pat.finds("A-1", "pat@example.com").await;
    pat.sends("items", &[("line", "L1")]).await;
    pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    let rma = pat.confirms(&check).await.rma();
    shop.merchant.cancels(&rma).await;
    shop.merchant.sells("A-2", 1).await;
    let mut wanted = mail_back("A-2", 1);
    wanted["language"] = "fr-CH".into();
    assert_eq!(shop.merchant.starts(&wanted).await.status, 201);
    let subjects = subjects(&world, &mailbox).await;
    assert_eq!(subjects.len(), 3, "{subjects:?}");
    assert_eq!(subjects.iter().filter(|subject| subject.starts_with("Ihre Rücksendung")).count(), 2, "{subjects:?}");
    assert_eq!(subjects.iter().filter(|subject| subject.starts_with("Votre retour")).count(), 1, "{subjects:?}");
}

#[tokio::test]
async fn nobody_is_written_to_without_an_address_or_against_the_merchants_wish() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mut nobody = sold("A-1", 1);
    nobody["customer"]["email"] = "not an address".into();
    shop.merchant.publishes(&message([nobody, sold("A-2", 1)])).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    let change = |off: &[Mail], on: &[Mail]| MailChange {
        off: off.iter().copied().collect(),
        on: on.iter().copied().collect(),
        ..MailChange::default()
    };
    let set = async |change| set_mails(&world.app, "test", shop.merchant.id, change).await;
    set(change(&[Mail::Confirmed, Mail::Reminder], &[])).await.unwrap();
    let settings = set(change(&[], &[Mail::Reminder])).await.unwrap();
    assert_eq!(settings.switched_off, [Mail::Confirmed]);
    let rma = shop.merchant.starts_a_return("A-2", 1).await;
    shop.merchant.cancels(&rma).await;
    assert_eq!(subjects(&world, &mailbox).await, ["Your return is cancelled"]);
    assert!(matches!(set(change(&[Mail::SignInLink], &[])).await, Err(ConfigureMailsError::NotOptional(Mail::SignInLink))));
    assert!(matches!(set(change(&[Mail::Expired], &[Mail::Expired])).await, Err(ConfigureMailsError::OnAndOff(Mail::Expired))));
    assert!(matches!(set(MailChange::default()).await, Err(ConfigureMailsError::Nothing)));
    let wrong = MailChange { reply_to: Some("help".to_owned()), ..MailChange::default() };
    assert!(matches!(set(wrong).await, Err(ConfigureMailsError::ReplyTo(_))));
}

#[tokio::test]
async fn support_sees_the_mails_of_a_return_and_sends_one_again() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let merchant = shop.merchant.id;
    shop.merchant.sells("A-1", 1).await;
    mailbox.answer_next([Answer::TryLater]);
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    world.deliver_all_due().await;
    let [sent] = &list_mails(&world.app, merchant, &rma).await.unwrap()[..] else { panic!("one mail") };
    assert_eq!((sent.mail.as_str(), sent.state), ("confirmed", State::Owed));
    assert!(matches!(resend_mail(&world.app, "test", merchant, sent.id).await, Err(ResendMailError::StillOwed)));
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    let [first, repeat] = &mailbox.received()[..] else { panic!("two mails") };
    assert_eq!(first.message_id(), repeat.message_id(), "a repeat is the same mail");

    let read = read_mail(&world.app, merchant, sent.id).await.unwrap();
    let read_text = first.text().unwrap().replace("\r\n", "\n");
    let secret = read_text.lines().find_map(|line| line.rsplit_once("/s/")).unwrap().1;
    assert_eq!(read.text.trim_end(), read_text.replace(secret, "…").trim_end(), "what the shopper read, without the link's secret");
    let new = resend_mail(&world.app, "test", merchant, sent.id).await.unwrap();
    world.deliver_all_due().await;
    let again = mailbox.received().remove(2);
    assert_eq!(again.message_id(), Some(&*format!("<{new}@shop.example.com>")), "a mail of its own");
    assert_eq!((again.text(), again.html()), (first.text(), first.html()));
    let states: Vec<State> = list_mails(&world.app, merchant, &rma).await.unwrap().iter().map(|mail| mail.state).collect();
    assert_eq!(states, [State::Delivered; 2]);
    let audit = "select action || ' ' || split_part(detail, ',', 1) from audit where action = 'mail.resent'";
    assert_eq!(world.database.texts(audit).await, [format!("mail.resent confirmed of {rma}")]);

    let other = world.shop("other").await.merchant.id;
    assert!(matches!(read_mail(&world.app, other, sent.id).await, Err(ResendMailError::NoSuchMail)));
    shop.merchant.erases("A-1").await.unwrap();
    assert!(matches!(resend_mail(&world.app, "test", merchant, sent.id).await, Err(ResendMailError::Erased)));
    assert_eq!(world.database.count("return_link").await, 0, "the links are erased too");
}

#[tokio::test]
async fn the_command_sets_lists_reads_and_resends() {
    let mailbox = Mailbox::start().await.unwrap();
    let world = world(&mailbox).await;
    let shop = world.shop("acme").await;
    let mails = |words: &[&str]| backhaul(&world.database, &[&["mails", words[0], "--merchant", "acme"], &words[1..]].concat());
    let json_of = |words: &[&str]| -> Value { serde_json::from_str(&out(&mails(words))).unwrap() };
    let defaults = json!({ "merchant": "acme", "sender_name": "A merchant", "reply_to": null, "off": [] });
    assert_eq!(json_of(&["show", "-o", "json"]), defaults);
    let set = ["set", "--sender-name", "Acme", "--reply-to", "help@example.com", "--off", "label-ready", "--off", "reminder", "-o", "json"];
    let expected = json!({ "merchant": "acme", "sender_name": "Acme", "reply_to": "help@example.com", "off": ["label_ready", "reminder"] });
    assert_eq!(json_of(&set), expected);
    assert!(err(&mails(&["set", "--off", "birthday"])).contains("write one of these: confirmed, label_ready"));
    assert!(err(&mails(&["set", "--off", "sign-in-link"])).contains("cannot be switched off"));

    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    world.deliver_all_due().await;
    let listed = json_of(&["list", &rma.to_lowercase(), "-o", "json"]);
    let id = listed["items"][0]["message_id"].as_str().unwrap();
    assert_eq!((&listed["items"][0]["mail"], &listed["items"][0]["state"]), (&json!("confirmed"), &json!("delivered")));
    assert!(out(&mails(&["list", &rma])).contains("confirmed"));
    let read = out(&mails(&["read", id]));
    assert!(read.starts_with("To: pat@example.com\nSubject: Your return is confirmed") && read.contains("/r/acme/s/…"), "{read}");
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    assert!(out(&mails(&["resend", id])).contains("sent again as message"));
    assert_eq!(world.owed().await, 1);
    let unknown = err(&mails(&["read", "019ca945-0a7b-7000-8000-000000000000"]));
    assert!(unknown.contains("no such mail"), "{unknown}");
}
