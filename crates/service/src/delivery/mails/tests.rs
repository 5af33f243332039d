//! Every mail, in both forms.

use std::collections::BTreeSet;

use domain::returns::mail::Mail;
use domain::returns::rma::Method;
use proptest::prelude::*;
use wire::messages::mail::{AboutReturn, AboutWithdrawal, Goods, Money};

use super::*;

fn sender() -> Sender {
    Sender {
        handle: "demo-shoes".to_owned(),
        name: "Demo Shoes".to_owned(),
        reply_to: Some("help@example.com".to_owned()),
        time_zone: Some("Europe/Berlin".to_owned()),
        host: None,
        switched_off: Vec::new(),
    }
}

fn about() -> AboutReturn {
    let goods = |title: &str, units, gets: &str| Goods { title: title.to_owned(), units, gets: gets.to_owned() };
    AboutReturn {
        rma: "R-F779-W5W2".to_owned(),
        order: Some("DS-10482".to_owned()),
        method: "mail-back".to_owned(),
        at: "2026-12-06T10:30:00Z".parse().expect("a time"),
        deadline: Some("2026-12-15T12:00:00Z".parse().expect("a time")),
        goods: vec![goods("Harbour Runner, blue, EU 42", 1, "REFUND"), goods("Court Classic, white", 2, "REFUND")],
        money: Some(Money { currency: "EUR".to_owned(), to_come: 5_911, fee: 299, refunded: 6_900 }),
        tracking_number: Some("EP000044712".to_owned()),
        label_ordered: true,
        waiting: true,
        exchange: None,
        exchange_order: None,
        by_shopper: true,
    }
}

fn withdrawal() -> AboutWithdrawal {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    AboutWithdrawal {
        reference: "W-F779-W5W2".to_owned(),
        at: "2026-12-06T10:30:05Z".parse().expect("a time"),
        sentence: "To Demo Shoes: I withdraw from my contract for the purchase of the goods in the order below.".to_owned(),
        facts: vec![fact("Name", "Pat Doe"), fact("Order", "DS-10482"), fact("Goods", "The whole order: Court Classic, white")],
        matched: true,
        send_by: Some("2026-12-20T10:30:05Z".parse().expect("a time")),
    }
}

fn mail(kind: Mail) -> ShopperMail {
    ShopperMail {
        mail: kind.as_str().to_owned(),
        to: "pat@example.com".to_owned(),
        language: "en".to_owned(),
        name: Some("Pat".to_owned()),
        link: Some("https://returns.example.com/r/demo-shoes/s/k7Qm2x".to_owned()),
        about: (!matches!(kind, Mail::SignInLink | Mail::Withdrawal)).then(about),
        withdrawal: (kind == Mail::Withdrawal).then(withdrawal),
    }
}

/// Every mail in every form that it takes: with and without a link, a deadline, a name and money, for every method.
fn every_mail() -> Vec<ShopperMail> {
    let mut mails = Vec::new();
    for kind in Mail::ALL {
        let full = mail(*kind);
        mails.push(ShopperMail { link: None, name: None, ..full.clone() });
        if let Some(about) = &full.withdrawal {
            let unknown = AboutWithdrawal { matched: false, send_by: None, ..about.clone() };
            mails.push(ShopperMail { withdrawal: Some(unknown), ..full.clone() });
        }
        let Some(about) = full.about.clone() else {
            mails.push(full);
            continue;
        };
        for method in Method::ALL {
            let method = method.as_str().to_owned();
            let goods: Vec<Goods> = about.goods.iter().take(1).cloned().collect();
            let variants = [
                AboutReturn { method: method.clone(), ..about.clone() },
                AboutReturn { method: method.clone(), goods: goods.clone(), label_ordered: false, by_shopper: false, ..about.clone() },
                AboutReturn { method: method.clone(), order: None, money: None, ..about.clone() },
                AboutReturn { method, exchange: Some("both".to_owned()), exchange_order: Some("DS-9".to_owned()), ..about.clone() },
            ];
            mails.extend(variants.map(|about| ShopperMail { about: Some(about), ..full.clone() }));
        }
        // Only these are sent without a day by which the goods must be handed over.
        if !matches!(kind, Mail::Reminder | Mail::Expired) {
            mails.push(ShopperMail { about: Some(AboutReturn { deadline: None, ..about }), ..full });
        }
    }
    mails
}

#[test]
fn no_mail_lacks_a_text_or_a_value() {
    let mut subjects = BTreeSet::new();
    for mail in every_mail() {
        let Rendered { subject, text, html } = render(&mail, &sender()).expect("a mail");
        for form in [&subject, &text, &html] {
            assert!(!form.contains("mail-") || form.replace("mail-back", "").matches("mail-").count() == 0, "{}: {form}", mail.mail);
            assert!(!form.contains("{$") && !form.contains("{ $"), "{}: {form}", mail.mail);
        }
        assert!(text.contains("nothing to unsubscribe from") && html.contains("nothing to unsubscribe from"), "{text}");
        subjects.insert(subject);
    }
    assert!(subjects.len() > Mail::ALL.len(), "{subjects:?}");
}

#[test]
fn both_forms_say_the_same() {
    for mail in every_mail() {
        let Rendered { text, html, .. } = render(&mail, &sender()).expect("a mail");
        let body = html.split("class=\"pad\"").nth(1).expect("a card").to_owned() + html.split("class=\"pad\"").nth(2).expect("a footer");
        let mut shown = String::new();
        let mut in_tag = true;
        for letter in body.chars() {
            match letter {
                '<' => in_tag = true,
                '>' => {
                    in_tag = false;
                    shown.push(' ');
                }
                letter if !in_tag => shown.push(letter),
                _ => {}
            }
        }
        let shown = shown.replace("&#39;", "'").replace("&amp;", "&").to_lowercase();
        for word in text.to_lowercase().split_whitespace() {
            let word = word.trim_end_matches([':', '.', ',']);
            let is_drawn = word.chars().all(|letter| "=-".contains(letter) || letter.is_ascii_digit()) || word.starts_with("https://");
            assert!(is_drawn || shown.contains(word), "{}: {word:?} is not in {shown}", mail.mail);
        }
    }
}

#[test]
fn the_text_fits_in_72_columns_and_a_link_stays_whole() {
    for mail in every_mail() {
        let Rendered { text, .. } = render(&mail, &sender()).expect("a mail");
        for line in text.lines() {
            assert!(line.chars().count() <= 72, "{line}");
        }
        if let Some(link) = &mail.link {
            assert!(text.lines().any(|line| line == link), "{text}");
        }
    }
}

#[test]
fn who_returns_a_gift_learns_neither_the_order_nor_its_prices() {
    for kind in Mail::ALL.iter().filter(|kind| !matches!(kind, Mail::SignInLink | Mail::Withdrawal)) {
        let gift = AboutReturn { order: None, money: None, ..about() };
        let Rendered { subject, text, html } = render(&ShopperMail { about: Some(gift), ..mail(*kind) }, &sender()).expect("a mail");
        for form in [&subject, &text, &html] {
            assert!(!form.contains('€') && !form.contains("DS-10482"), "{form}");
        }
    }
}

#[test]
fn a_mail_of_a_newer_version_or_without_its_facts_is_not_written() {
    let unknown = ShopperMail { mail: "mail.birthday".to_owned(), ..mail(Mail::Confirmed) };
    assert!(render(&unknown, &sender()).is_none());
    assert!(render(&ShopperMail { about: None, ..mail(Mail::Confirmed) }, &sender()).is_none());
}

#[test]
fn every_mail_reads_well() {
    for kind in Mail::ALL {
        let Rendered { subject, text, .. } = render(&mail(*kind), &sender()).expect("a mail");
        insta::assert_snapshot!(kind.short(), format!("Subject: {subject}\n\n{text}"));
    }
}

proptest! {
    #[test]
    fn nothing_in_a_mail_becomes_markup(title in "\\PC{0,40}", name in "\\PC{1,20}", shop in "\\PC{1,20}") {
        let mut facts = mail(Mail::Confirmed);
        facts.name = Some(format!("<b>{name}"));
        if let Some(about) = &mut facts.about {
            about.goods = vec![Goods { title: format!("<img src=x>{title}"), units: 1, gets: "REFUND".to_owned() }];
        }
        let sender = Sender { name: format!("\"><script>{shop}"), ..sender() };
        let Rendered { html, .. } = render(&facts, &sender).expect("a mail");
        prop_assert!(!html.contains("<b>") && !html.contains("<img") && !html.contains("<script"), "{html}");
    }
}
