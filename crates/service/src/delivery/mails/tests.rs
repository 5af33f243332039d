//! Every mail, in both forms.

use std::collections::BTreeSet;

use domain::merchants::brand::{Brand, Colour, Radius, Wording};
use domain::returns::mail::Mail;
use domain::returns::rma::Method;
use proptest::prelude::*;
use store::merchants::brands::{BrandSettings, BrandText};
use store::merchants::mail_settings::Sender;
use wire::messages::mail::{AboutReturn, AboutWithdrawal, Goods, Money};

use super::letterhead::Logo;
use super::*;

/// The letterhead of a merchant without a brand.
fn letterhead() -> Letterhead {
    let sender = Sender {
        handle: "demo-shoes".to_owned(),
        name: "Demo Shoes".to_owned(),
        reply_to: Some("help@example.com".to_owned()),
        time_zone: Some("Europe/Berlin".to_owned()),
        host: None,
        switched_off: Vec::new(),
    };
    let (look, settings) = (Brand::default(), BrandSettings::default());
    Letterhead { sender, look, settings, texts: Vec::new(), logo: None, dark_logo: None }
}

/// The letterhead of a merchant with a brand.
fn branded(accent: &str) -> Letterhead {
    let logo = |hash: &str| Logo::shown(format!("https://returns.example.com/r/demo-shoes/brand/{hash}.png"), (240, 90));
    let settings = BrandSettings {
        help_phone: Some("+353 (0)1 555 0100".to_owned()),
        shop_url: Some("https://shop.example.com".to_owned()),
        privacy_url: Some("https://shop.example.com/privacy".to_owned()),
        ..BrandSettings::default()
    };
    let hours = |language: &str, wording: &str| BrandText {
        language: language.to_owned(),
        name: Wording::HelpHours.as_str().to_owned(),
        wording: wording.to_owned(),
    };
    Letterhead {
        look: Brand { accent: accent.parse().expect("a colour"), radius: Radius::new(3).expect("a radius"), pill_buttons: false },
        settings,
        texts: vec![hours("de", "Montags geschlossen."), hours("en", "Closed on Mondays.")],
        logo: logo("aaa"),
        dark_logo: logo("bbb"),
        ..letterhead()
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
        gift: false,
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
            let unsent = AboutWithdrawal { send_by: None, ..about.clone() };
            let unknown = AboutWithdrawal { matched: false, ..unsent.clone() };
            let gift = AboutWithdrawal { gift: true, ..unsent.clone() };
            mails.extend([unsent, unknown, gift].map(|about| ShopperMail { withdrawal: Some(about), ..full.clone() }));
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
        let Rendered { subject, text, html } = render(&mail, &letterhead()).expect("a mail");
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
        let Rendered { text, html, .. } = render(&mail, &letterhead()).expect("a mail");
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
        let Rendered { text, .. } = render(&mail, &letterhead()).expect("a mail");
        for line in text.lines() {
            assert!(line.chars().count() <= 72, "{line}");
        }
        if let Some(link) = &mail.link {
            assert!(text.lines().any(|line| line == link), "{text}");
        }
    }
}

#[test]
fn a_brand_gives_mails_their_logo_colours_contact_and_links() {
    for kind in Mail::ALL {
        let Rendered { text, html, .. } = render(&mail(*kind), &branded("#7a1fa2")).expect("a mail");
        let logo = r#"src="https://returns.example.com/r/demo-shoes/brand/aaa.png" alt="Demo Shoes" width="80" height="30""#;
        for part in [logo, "brand/bbb.png", "background:#7a1fa2", "border-radius:3px", r#"href="tel:+35315550100""#] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("#2340c7"), "{html}");
        assert!(html.contains(r#"href="https://shop.example.com/privacy""#) && html.contains(">Privacy</a>"), "{html}");
        let said = ["Call +353 (0)1 555 0100.", "Closed on Mondays.", "Back to Demo Shoes: https://shop.example.com\n"];
        for said in said.into_iter().chain(["Privacy: https://shop.example.com/privacy\n"]) {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.starts_with("Demo Shoes\n"), "a text has no logo: {text}");
    }
    let german = ShopperMail { language: "de".to_owned(), ..mail(Mail::Confirmed) };
    let Rendered { text, .. } = render(&german, &branded("#7a1fa2")).expect("a mail");
    assert!(text.contains("Montags geschlossen.") && !text.contains("Closed"), "{text}");
    let Rendered { html, .. } = render(&mail(Mail::Confirmed), &letterhead()).expect("a mail");
    assert!(!html.contains("<img") && html.contains(">Demo Shoes</p>"), "{html}");
}

/// The colour behind this text.
fn colour_behind(html: &str, text: &str) -> Colour {
    let (_, rest) = html.split_once(text).unwrap_or_else(|| panic!("no {text} in {html}"));
    rest[..7].parse().expect("a colour")
}

#[test]
fn whatever_the_accent_buttons_and_links_can_be_read_in_light_and_dark() {
    let grounds = |page: &str, card: &str| [page, card].map(|ground| ground.parse::<Colour>().expect("a colour"));
    for accent in ["#000000", "#ffffff", "#ffd21f", "#f08a24", "#6a1b9a", "#777777", "#00ff00", "#2340c7", "#e63946"] {
        let Rendered { html, .. } = render(&mail(Mail::Confirmed), &branded(accent)).expect("a mail");
        let (style, body) = html.split_once("</style>").expect("a style");
        let (light, dark) = style.split_once("prefers-color-scheme:dark").expect("a dark style");
        let button = body.split_once("class=\"btn\"").expect("a button").1;
        let pairs = [
            (colour_behind(button, ";color:"), vec![colour_behind(button, "background:")]),
            (colour_behind(light, "a{color:"), grounds("#f6f6f3", "#ffffff").into()),
            (colour_behind(dark, "a,.out{color:"), grounds("#121316", "#1b1d21").into()),
            (colour_behind(dark.split_once(".btn{").expect("a button").1, ";color:"), vec![colour_behind(dark, ".btn{background:")]),
        ];
        for (text, grounds) in pairs {
            for ground in grounds {
                assert!(text.contrast(ground) >= 4.5, "{accent}: {text} on {ground}");
            }
        }
    }
}

#[test]
fn a_single_step_has_no_number() {
    let alone = |gift| AboutWithdrawal { gift, send_by: None, ..withdrawal() };
    for about in [alone(true), alone(false), AboutWithdrawal { matched: false, ..alone(false) }] {
        let Rendered { text, html, .. } =
            render(&ShopperMail { withdrawal: Some(about), ..mail(Mail::Withdrawal) }, &letterhead()).expect("a mail");
        assert!(text.contains("WHAT HAPPENS NEXT\n\n") && !text.contains("\n1. ") && !html.contains("<ol"), "{text}");
    }
    let Rendered { text, html, .. } = render(&mail(Mail::Withdrawal), &letterhead()).expect("a mail");
    assert!(text.contains("\n1. ") && text.contains("\n2. ") && html.contains("<ol"), "{text}");
}

#[test]
fn the_buyer_of_a_gift_is_not_told_to_send_it_back() {
    let gift = AboutWithdrawal { gift: true, send_by: None, ..withdrawal() };
    let Rendered { text, html, .. } =
        render(&ShopperMail { withdrawal: Some(gift), ..mail(Mail::Withdrawal) }, &letterhead()).expect("a mail");
    for form in [text, html] {
        assert!(
            form.contains("The order was a gift") && !form.contains("Send the items back") && !form.contains("you sent them"),
            "{form}"
        );
    }
}

#[test]
fn who_returns_a_gift_learns_neither_the_order_nor_its_prices() {
    for kind in Mail::ALL.iter().filter(|kind| !matches!(kind, Mail::SignInLink | Mail::Withdrawal)) {
        let gift = AboutReturn { order: None, money: None, ..about() };
        let Rendered { subject, text, html } = render(&ShopperMail { about: Some(gift), ..mail(*kind) }, &letterhead()).expect("a mail");
        for form in [&subject, &text, &html] {
            assert!(!form.contains('€') && !form.contains("DS-10482"), "{form}");
        }
    }
}

#[test]
fn a_mail_of_a_newer_version_or_without_its_facts_is_not_written() {
    let unknown = ShopperMail { mail: "mail.birthday".to_owned(), ..mail(Mail::Confirmed) };
    assert!(render(&unknown, &letterhead()).is_none());
    assert!(render(&ShopperMail { about: None, ..mail(Mail::Confirmed) }, &letterhead()).is_none());
}

#[test]
fn every_mail_reads_well() {
    for kind in Mail::ALL {
        let Rendered { subject, text, .. } = render(&mail(*kind), &letterhead()).expect("a mail");
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
        let mut letterhead = letterhead();
        letterhead.sender.name = format!("\"><script>{shop}");
        let Rendered { html, .. } = render(&facts, &letterhead).expect("a mail");
        prop_assert!(!html.contains("<b>") && !html.contains("<img") && !html.contains("<script"), "{html}");
    }
}
