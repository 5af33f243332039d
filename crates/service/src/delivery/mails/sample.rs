//! Samples of the mails, to be looked at: made-up facts of example.com, and no shopper's.

use chrono::{DateTime, TimeDelta, Utc};
use domain::returns::mail::Mail;
use wire::messages::mail::{AboutReturn, AboutWithdrawal, Goods, Money, ShopperMail};

use crate::platform::texts::Language;

const ORDER: &str = "A-1001";
const NAME: &str = "Pat";
const EMAIL: &str = "pat@example.com";
const LINK: &str = "https://returns.example.com/s/sample";

/// A mail of a shop called `shop` as its shopper would get it now.
#[must_use]
pub fn sample(mail: Mail, language: Language, shop: &str, now: DateTime<Utc>) -> ShopperMail {
    let facts = match mail {
        Mail::SignInLink => (None, None),
        Mail::Withdrawal => (None, Some(withdrawal(language, shop, now))),
        Mail::Confirmed
        | Mail::LabelReady
        | Mail::OnItsWay
        | Mail::Reminder
        | Mail::Refunded
        | Mail::Cancelled
        | Mail::Expired
        | Mail::ExchangePlaced
        | Mail::ExchangeSoldOut => (Some(about(mail, now)), None),
    };
    ShopperMail {
        mail: mail.as_str().to_owned(),
        to: EMAIL.to_owned(),
        language: language.code().to_owned(),
        name: (mail != Mail::SignInLink).then(|| NAME.to_owned()),
        link: Some(LINK.to_owned()),
        about: facts.0,
        withdrawal: facts.1,
    }
}

fn about(mail: Mail, now: DateTime<Utc>) -> AboutReturn {
    let is_exchanged = mail == Mail::ExchangePlaced;
    let (to_come, refunded) = if mail == Mail::Refunded { (0, 5_911) } else { (5_911, 0) };
    let goods = |title: &str, gets: &str| Goods { title: title.to_owned(), units: 1, gets: gets.to_owned() };
    AboutReturn {
        rma: "R-256P-WC8P".to_owned(),
        order: Some(ORDER.to_owned()),
        method: "mail-back".to_owned(),
        at: now,
        deadline: Some(now + TimeDelta::days(9)),
        goods: vec![
            goods("Running shoes, blue, 42", if is_exchanged { "EVEN_EXCHANGE" } else { "REFUND" }),
            goods("Wool socks, grey", "REFUND"),
        ],
        money: Some(Money { currency: "USD".to_owned(), to_come, fee: 299, refunded }),
        tracking_number: Some("1Z0000000000000001".to_owned()),
        label_ordered: true,
        waiting: !matches!(mail, Mail::OnItsWay | Mail::Refunded),
        exchange: is_exchanged.then(|| "goods".to_owned()),
        exchange_order: is_exchanged.then(|| "A-1002".to_owned()),
        by_shopper: true,
    }
}

fn withdrawal(language: Language, shop: &str, now: DateTime<Utc>) -> AboutWithdrawal {
    let fact = |key: &str, value: &str| (language.text(key), value.to_owned());
    AboutWithdrawal {
        reference: "W-256P-WC8P".to_owned(),
        at: now,
        sentence: language.text_with("withdraw-statement", [("shop", shop.into())]),
        facts: vec![
            fact("withdraw-name-label", NAME),
            fact("withdraw-order-label", ORDER),
            fact("withdraw-goods-label", &language.text("withdraw-all")),
            fact("withdraw-email-label", EMAIL),
        ],
        matched: true,
        gift: false,
        send_by: Some(now + TimeDelta::days(14)),
    }
}
