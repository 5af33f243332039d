//! Puts words around the facts of a mail. Every sentence is a text of its own, and every text may use every fact.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use domain::merchants::brand::{Wording, dialled};
use domain::money::Cents;
use domain::returns::mail::Mail;
use fluent_bundle::FluentValue;
use wire::messages::mail::{AboutReturn, AboutWithdrawal, Goods, Money, ShopperMail};

use super::letter::{Block, Footer, Letter, Look, Row};
use super::letterhead::Letterhead;
use crate::platform::texts::Languages;
use crate::platform::words::Words;

/// Composes the letter of a mail. `None` if this version does not know it, or facts are missing.
pub(super) fn compose(mail: &ShopperMail, letterhead: &Letterhead) -> Option<Letter> {
    let kind: Mail = mail.mail.parse().ok()?;
    let zone: Tz = letterhead.sender.time_zone.as_deref().and_then(|zone| zone.parse().ok()).unwrap_or(Tz::UTC);
    let words = Words { language: Languages::default().find(&mail.language).unwrap_or_default(), zone };
    let writer = Writer { kind, mail, letterhead, words, values: values(mail, letterhead, words) };
    match kind {
        Mail::SignInLink => Some(writer.sign_in_link()),
        Mail::Withdrawal => Some(writer.withdrawal(mail.withdrawal.as_ref()?)),
        Mail::Confirmed
        | Mail::LabelReady
        | Mail::OnItsWay
        | Mail::Reminder
        | Mail::Refunded
        | Mail::Cancelled
        | Mail::Expired
        | Mail::ExchangePlaced
        | Mail::ExchangeSoldOut => Some(writer.about_return(mail.about.as_ref()?)),
    }
}

struct Writer<'a> {
    kind: Mail,
    mail: &'a ShopperMail,
    letterhead: &'a Letterhead,
    words: Words,
    values: Vec<(&'static str, FluentValue<'static>)>,
}

/// The facts, as texts name them.
fn values(mail: &ShopperMail, letterhead: &Letterhead, words: Words) -> Vec<(&'static str, FluentValue<'static>)> {
    let mut values: Vec<(&'static str, FluentValue<'static>)> = vec![("shop", letterhead.sender.name.clone().into())];
    values.extend(mail.name.clone().map(|name| ("name", name.into())));
    if let Some(withdrawal) = &mail.withdrawal {
        values.extend([("reference", withdrawal.reference.clone().into()), ("moment", words.moment(withdrawal.at).into())]);
        values.extend(withdrawal.send_by.map(|day| ("day", words.day_of_year(day).into())));
    }
    let Some(about) = &mail.about else { return values };
    let units = about.goods.iter().fold(0_u32, |sum, goods| sum.saturating_add(goods.units));
    values.extend([
        ("rma", about.rma.clone().into()),
        ("order", about.order.clone().unwrap_or_default().into()),
        ("method", about.method.clone().into()),
        ("units", units.into()),
        ("moment", words.moment(about.at).into()),
        ("date", words.day(about.at).into()),
        ("what", about.exchange.clone().unwrap_or_default().into()),
        ("new_order", about.exchange_order.clone().unwrap_or_default().into()),
    ]);
    if let Some(deadline) = about.deadline {
        values.extend([
            ("weekday", words.weekday(deadline).into()),
            ("day", words.day(deadline).into()),
            ("days", days_between(about.at, deadline, words.zone).into()),
        ]);
    }
    if let Some(money) = &about.money {
        let amount = |cents: i64| words.money(Cents::new(cents).unwrap_or_default(), &money.currency);
        values.extend([
            ("refunded", amount(money.refunded).into()),
            ("to_come", amount(money.to_come).into()),
            ("fee", amount(money.fee).into()),
        ]);
    }
    values
}

/// The days from one day to the other on the shopper's calendar.
fn days_between(from: DateTime<Utc>, to: DateTime<Utc>, zone: Tz) -> i64 {
    let day = |time: DateTime<Utc>| time.with_timezone(&zone).date_naive();
    (day(to) - day(from)).num_days().max(0)
}

impl Writer<'_> {
    fn say(&self, key: &str) -> String {
        self.words.language.text_with(key, self.values.iter().cloned())
    }

    /// A text of this kind of mail.
    fn own(&self, part: &str) -> String {
        self.say(&format!("mail-{}-{part}", self.kind.short().replace('_', "-")))
    }

    fn row(&self, name: &str, value: String) -> Row {
        Row { name: self.say(name), value }
    }

    fn hello(&self) -> Block {
        Block::Paragraph(self.say(if self.mail.name.is_some() { "mail-hello" } else { "mail-hello-nobody" }))
    }

    fn button(&self) -> Option<Block> {
        Some(Block::Button { words: self.own("button"), link: self.mail.link.clone()? })
    }

    fn letter(&self, subject: String, heading: String, blocks: Vec<Block>, why: String) -> Letter {
        let Letterhead { sender, look, logo, dark_logo, .. } = self.letterhead;
        Letter {
            language: self.words.language,
            shop: sender.name.clone(),
            subject,
            preview: self.own("preview"),
            heading,
            blocks,
            footer: self.footer(why),
            look: Look::new(*look, logo.clone(), dark_logo.clone()),
        }
    }

    /// Whom to ask, why the mail came, and the merchant's own pages.
    fn footer(&self, why: String) -> Vec<Footer> {
        let Letterhead { sender, settings, .. } = self.letterhead;
        let questions = if sender.reply_to.is_some() { "mail-questions-answer" } else { "mail-questions-shop" };
        let phone = settings.help_phone.as_ref().map(|phone| Footer::Phone {
            words: self.say("help-call"),
            phone: phone.clone(),
            dialled: dialled(phone),
        });
        let hours = self.letterhead.text(self.words.language, Wording::HelpHours).map(|hours| Footer::Words(hours.to_owned()));
        let pages = [("link-shop", &settings.shop_url), ("link-privacy", &settings.privacy_url), ("link-terms", &settings.terms_url)];
        let links: Vec<Row> = pages.into_iter().filter_map(|(name, url)| Some(self.row(name, url.clone()?))).collect();
        let links = (!links.is_empty()).then_some(Footer::Links(links));
        let [questions, why, no_advertising] =
            [self.say(questions), why, self.say("mail-no-advertising")].map(|words| Some(Footer::Words(words)));
        [questions, phone, hours, why, no_advertising, links].into_iter().flatten().collect()
    }

    fn sign_in_link(&self) -> Letter {
        let blocks = [Some(Block::Paragraph(self.say("mail-hello-nobody"))), Some(Block::Paragraph(self.own("lede"))), self.button()];
        let notes = [Block::Paragraph(self.own("continue")), Block::Note(self.own("unasked"))];
        let blocks = blocks.into_iter().flatten().chain(notes).collect();
        self.letter(self.own("subject"), self.own("heading"), blocks, self.say("mail-why-link"))
    }

    fn withdrawal(&self, about: &AboutWithdrawal) -> Letter {
        let facts = about.facts.iter().map(|(name, value)| Row { name: name.clone(), value: value.clone() });
        let received = self.row("withdraw-received", self.words.exact_moment(about.at));
        let receipt = vec![received, self.row("withdraw-reference", about.reference.clone())];
        let next: &[&str] = match (about.matched, about.gift, about.send_by, &self.mail.link) {
            (false, ..) => &["person"],
            (true, true, ..) => &["gift"],
            (true, false, None, _) => &["refund-unsent"],
            (true, false, Some(_), None) => &["send", "refund"],
            (true, false, Some(_), Some(_)) => &["send-linked", "refund"],
        };
        let next = next.iter().map(|step| self.own(step)).collect();
        let blocks = [
            Some(self.hello()),
            Some(Block::Paragraph(self.own("lede"))),
            Some(Block::Rows(receipt)),
            Some(Block::Paragraph(about.sentence.clone())),
            Some(Block::Rows(facts.collect())),
            Some(Block::Steps { heading: self.say("next-heading"), steps: next }),
            self.button(),
        ];
        let blocks = blocks.into_iter().flatten().collect();
        self.letter(self.own("subject"), self.own("heading"), blocks, self.say("mail-why-withdrawal"))
    }

    fn about_return(&self, about: &AboutReturn) -> Letter {
        let code = || Some(Block::Code { label: self.say("mail-code"), code: about.rma.clone() });
        let note = |part: &str| Some(Block::Note(self.own(part)));
        let rows = |rows: Vec<Row>| Some(rows).filter(|rows| !rows.is_empty()).map(Block::Rows);
        let steps = |steps: Vec<String>, heading: &str| {
            Some(steps).filter(|steps| !steps.is_empty()).map(|steps| Block::Steps { heading: self.say(heading), steps })
        };
        let ways_on = || ["sent", "again", "happy"].map(|way| self.own(way)).into();
        let dated = if about.deadline.is_some() { "" } else { "-open" };
        let body = match self.kind {
            Mail::Confirmed => vec![
                code(),
                self.button(),
                rows(self.goods(about).into_iter().chain(self.to_come(about)).collect()),
                steps(self.next_steps(about), "next-heading"),
            ],
            Mail::LabelReady => vec![
                self.button(),
                code(),
                rows(self.until(about).into_iter().chain(self.tracking_number(about)).collect()),
                steps(["box", "stick", "keep"].map(|step| self.own(step)).into(), "mail-label-ready-steps")
                    .filter(|_| about.method == "mail-back"),
            ],
            Mail::OnItsWay => {
                vec![rows(self.goods(about).into_iter().chain(self.to_come(about)).collect()), self.button()]
            }
            Mail::Refunded => {
                let refunded = about.money.as_ref().map(|_| self.row("mail-refunded-row", self.say("mail-amount-refunded")));
                vec![rows(refunded.into_iter().chain(self.to_come(about)).collect()), self.button()]
            }
            Mail::Reminder => vec![code(), self.button(), note("sent"), note("keep")],
            Mail::Cancelled => vec![
                rows(vec![self.goods_in_one(about), self.row("mail-code", self.say("mail-code-over"))]),
                self.button(),
                note("not-you").filter(|_| about.by_shopper && self.letterhead.sender.reply_to.is_some()),
            ],
            Mail::Expired => vec![
                rows(vec![self.goods_in_one(about), self.row("mail-code", self.say("mail-code-over"))]),
                steps(ways_on(), "mail-expired-steps"),
                self.button(),
            ],
            Mail::ExchangePlaced => vec![
                Some(Block::Paragraph(self.own("order"))).filter(|_| about.exchange_order.is_some()),
                Some(Block::Paragraph(self.own("old"))).filter(|_| about.waiting),
                self.button(),
            ],
            Mail::ExchangeSoldOut => {
                vec![rows(self.to_come(about).into_iter().chain(self.until(about)).collect()), self.button(), note("keep")]
            }
            // Not about a return.
            Mail::SignInLink | Mail::Withdrawal => Vec::new(),
        };
        let part = |name: &str| match self.kind {
            Mail::Confirmed => self.own(&format!("{name}{dated}")),
            Mail::Refunded if about.money.is_none() => self.own(&format!("{name}-gift")),
            Mail::Cancelled if name == "lede" && about.by_shopper => self.own("lede-by-shopper"),
            Mail::LabelReady
            | Mail::OnItsWay
            | Mail::Reminder
            | Mail::Refunded
            | Mail::Cancelled
            | Mail::Expired
            | Mail::ExchangePlaced
            | Mail::ExchangeSoldOut
            | Mail::SignInLink
            | Mail::Withdrawal => self.own(name),
        };
        let heading = if self.kind == Mail::Confirmed { self.own("heading") } else { part("heading") };
        let blocks = [self.hello(), Block::Paragraph(part("lede"))].into_iter().chain(body.into_iter().flatten()).collect();
        let why = self.say(if about.order.is_some() { "mail-why" } else { "mail-why-gift" });
        let letter = self.letter(part("subject"), heading, blocks, why);
        match self.kind {
            // No bank has to do with a gift.
            Mail::Refunded if about.money.is_none() => Letter { preview: part("lede"), ..letter },
            _ => letter,
        }
    }

    fn title(&self, goods: &Goods) -> String {
        if goods.units < 2 {
            return goods.title.clone();
        }
        self.words.language.text_with("bill-units", [("title", goods.title.as_str().into()), ("units", goods.units.into())])
    }

    /// The goods with what the shopper gets for each. Who returns a gift does not learn that.
    fn goods(&self, about: &AboutReturn) -> Vec<Row> {
        if about.money.is_none() {
            return vec![self.goods_in_one(about)];
        }
        let gets = |goods: &Goods| match goods.gets.as_str() {
            "EVEN_EXCHANGE" => self.say("instead-exchanged"),
            "UNEVEN_EXCHANGE" => self.say("instead-gift-card"),
            _ => self.say("instead-refund"),
        };
        about.goods.iter().map(|goods| Row { name: self.title(goods), value: gets(goods) }).collect()
    }

    fn goods_in_one(&self, about: &AboutReturn) -> Row {
        self.row("mail-goods", about.goods.iter().map(|goods| self.title(goods)).collect::<Vec<_>>().join("; "))
    }

    /// The refund that is still to come.
    fn to_come(&self, about: &AboutReturn) -> Option<Row> {
        let money = about.money.as_ref().filter(|money| money.to_come > 0)?;
        let value = match (self.kind, money) {
            (Mail::Refunded, _) | (_, Money { fee: 0, .. }) => "mail-amount-to-come",
            _ => "mail-amount-after-fee",
        };
        let name = if self.kind == Mail::Refunded { "mail-to-come" } else { "mail-estimated" };
        Some(self.row(name, self.say(value)))
    }

    fn until(&self, about: &AboutReturn) -> Option<Row> {
        about.deadline.map(|_| self.row("mail-until", self.say("mail-until-day")))
    }

    fn tracking_number(&self, about: &AboutReturn) -> Option<Row> {
        Some(self.row("mail-tracking-number", about.tracking_number.clone()?))
    }

    fn next_steps(&self, about: &AboutReturn) -> Vec<String> {
        let keep = about.method == "customer-keep";
        let label = match (keep, about.label_ordered, self.mail.link.is_some()) {
            (true, ..) | (false, false, false) => None,
            (false, true, true) => Some(self.own("label")),
            (false, true, false) => Some(self.own("label-unlinked")),
            (false, false, true) => Some(self.own("label-of-shop")),
        };
        let send = (!keep).then(|| self.own("send"));
        let exchange = about.exchange.as_ref().map(|_| self.own("exchange"));
        let refund = about.money.as_ref().filter(|money| money.to_come > 0).map(|_| self.own("refund"));
        [label, send, exchange, refund].into_iter().flatten().collect()
    }
}
