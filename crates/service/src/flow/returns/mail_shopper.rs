//! Owes shoppers the mails about their returns, in the transaction of the change that a mail tells of.
//!
//! Nobody is written to without a mail server, without an address, or if the merchant has switched that mail off. The buyer of a gift
//! must not learn of its return, so the mails on it go to whoever returns it, or to nobody.

use chrono::{DateTime, Utc};
use domain::messages::message::{Internal, Kind};
use domain::money::Cents;
use domain::returns::mail::{LABEL_IS_EXPECTED, Mail, news};
use domain::returns::rma::policy::{BY_SHOPPER, EXPIRED, EXPIRES_AFTER};
use domain::returns::rma::{Method, RefundType, Rma};
use secrecy::ExposeSecret as _;
use store::merchants::mail_settings::{self, Sender};
use store::messages::outbox::Message;
use store::orders::snapshots;
use store::returns::return_links;
use store::returns::rmas::Return;
use store::{Failed, Tx};
use wire::messages::mail::{AboutReturn, Goods, Money, ShopperMail, write_shopper};
use wire::orders::order::{OrderIn, read_stored};

use crate::app::App;
use crate::delivery::mails::portal_address;
use crate::platform::keys::bearer;
use crate::platform::texts::Language;

/// What the mails of one change say beyond the return itself.
#[derive(Clone, Copy, Default)]
struct Extra {
    label_ordered: bool,
    /// What the merchant refunded just now.
    refunded: Cents,
}

/// Confirms a new return.
pub(super) async fn mail_confirmed(
    app: &App,
    tx: &mut Tx,
    new: &Return,
    order: &OrderIn<'_>,
    label_ordered: bool,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    if !is_told(app, new) {
        return Ok(());
    }
    owe(app, tx, new, order, &[Mail::Confirmed], Extra { label_ordered, ..Extra::default() }, now).await
}

/// Tells the shopper what has changed since `before`.
pub(super) async fn mail_change(app: &App, tx: &mut Tx, before: &Rma, kept: &Return, now: DateTime<Utc>) -> Result<(), Failed> {
    mail(app, tx, kept, &mails_on(before, kept, now), Extra::default(), now).await
}

/// The mails that tell what has changed since `before`.
fn mails_on(before: &Rma, kept: &Return, now: DateTime<Utc>) -> Vec<Mail> {
    let expired = kept.cancel_reason.as_deref() == Some(EXPIRED);
    news(before, &kept.rma, expired, now < kept.created_at + LABEL_IS_EXPECTED)
}

/// True if the shopper may have a mail about what has changed since the return was read.
pub(super) fn is_news(app: &App, kept: &Return, now: DateTime<Utc>) -> bool {
    is_told(app, kept) && kept.before().is_some_and(|before| !mails_on(before, kept, now).is_empty())
}

/// Reminds the shopper of a return.
pub(super) async fn mail_reminder(app: &App, tx: &mut Tx, kept: &Return, now: DateTime<Utc>) -> Result<(), Failed> {
    mail(app, tx, kept, &[Mail::Reminder], Extra::default(), now).await
}

/// Tells the shopper that a refund over `refunded` covers these units. Exchanged ones are the merchant's business with the service.
pub(in crate::flow) async fn mail_refund(
    app: &App,
    tx: &mut Tx,
    kept: &Return,
    units: &[usize],
    refunded: Cents,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    let is_theirs = |at: &usize| kept.rma.units.get(*at).is_some_and(|unit| unit.refunded && unit.refund_type == RefundType::Refund);
    if refunded <= Cents::default() || !units.iter().any(is_theirs) {
        return Ok(());
    }
    mail(app, tx, kept, &[Mail::Refunded], Extra { refunded, ..Extra::default() }, now).await
}

/// False if nobody is told of the return in any case.
pub(super) fn is_told(app: &App, kept: &Return) -> bool {
    app.mailer.has_server() && (!kept.gift || kept.giftee_email.is_some())
}

async fn mail(app: &App, tx: &mut Tx, kept: &Return, mails: &[Mail], extra: Extra, now: DateTime<Utc>) -> Result<(), Failed> {
    if mails.is_empty() || !is_told(app, kept) {
        return Ok(());
    }
    let Some(snapshot) = snapshots::snapshot(tx, &kept.order).await? else { return Ok(()) };
    let Some(order) = read_stored(&snapshot) else { return Ok(()) };
    owe(app, tx, kept, &order, mails, extra, now).await
}

async fn owe(
    app: &App,
    tx: &mut Tx,
    kept: &Return,
    order: &OrderIn<'_>,
    mails: &[Mail],
    extra: Extra,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    let buyer = || order.customer.email.as_ref().map(|email| email.0.to_string());
    let to = kept.giftee_email.clone().or_else(buyer).filter(|to| app.mailer.can_write_to(to));
    let Some(to) = to else { return Ok(()) };
    let sender = mail_settings::sender(tx).await?;
    for mail in mails.iter().filter(|mail| !sender.switched_off.contains(mail)) {
        let body = ShopperMail {
            mail: mail.as_str().to_owned(),
            to: to.clone(),
            language: kept.language.clone().unwrap_or_else(|| Language::default().code().to_owned()),
            name: order.customer.first_name.as_ref().map(|name| name.0.trim().to_owned()).filter(|name| !kept.gift && !name.is_empty()),
            link: link(app, tx, &sender, kept, now).await?,
            about: Some(about(kept, order, *mail, extra, now)),
            withdrawal: None,
        };
        tx.owe(message(app, *mail, &body, &kept.identifier, kept.sequence)?);
    }
    Ok(())
}

/// The message with a mail.
pub(in crate::flow) fn message(app: &App, mail: Mail, body: &ShopperMail, subject: &str, sequence: i64) -> Result<Message, Failed> {
    Ok(Message {
        id: app.mint(),
        kind: Kind::Internal(Internal::Mail),
        event: mail.as_str(),
        subject: subject.to_owned(),
        sequence,
        body: write_shopper(body).ok_or(Failed::Internal("a mail could not be written"))?,
        due_at: app.now(),
    })
}

/// A new link to the return; `None` if there is no portal to link to.
async fn link(app: &App, tx: &mut Tx, sender: &Sender, kept: &Return, now: DateTime<Utc>) -> Result<Option<String>, Failed> {
    let Some(portal) = portal_address(app, sender) else { return Ok(None) };
    let secret = bearer::new_secret(&app.entropy);
    return_links::insert(tx, &bearer::hash(secret.expose_secret()), kept.id, now).await?;
    Ok(Some(format!("{portal}/s/{}", secret.expose_secret())))
}

/// The facts of a return that a mail tells.
fn about(kept: &Return, order: &OrderIn<'_>, mail: Mail, extra: Extra, now: DateTime<Utc>) -> AboutReturn {
    let has = |wanted| kept.rma.units.iter().any(|unit| unit.refund_type == wanted);
    let exchange = match (has(RefundType::EvenExchange), has(RefundType::UnevenExchange)) {
        (true, true) => Some("both"),
        (false, true) => Some("card"),
        (true, false) => Some("goods"),
        (false, false) => None,
    };
    let expires_at = kept.created_at + EXPIRES_AFTER;
    AboutReturn {
        rma: kept.identifier.clone(),
        order: (!kept.gift).then(|| kept.order.clone()),
        method: kept.rma.method.as_str().to_owned(),
        at: now,
        deadline: (mail == Mail::Expired || kept.wakes_at.is_some()).then_some(expires_at),
        goods: goods(kept),
        money: (!kept.gift).then(|| money(kept, &order.currency.0, extra.refunded)),
        tracking_number: kept.rma.units.iter().find_map(|unit| unit.parcel.number()).map(ToString::to_string),
        label_ordered: extra.label_ordered,
        waiting: kept.rma.method != Method::CustomerKeep && !kept.rma.has_moved(),
        exchange: exchange.map(ToOwned::to_owned),
        exchange_order: kept.items.iter().find_map(|item| item.exchange_order.clone()),
        by_shopper: kept.cancel_reason.as_deref() == Some(BY_SHOPPER),
    }
}

/// The units of a line that end in the same way are one entry.
fn goods(kept: &Return) -> Vec<Goods> {
    let mut lines: Vec<(&str, Goods)> = Vec::new();
    for (unit, item) in kept.units() {
        let gets = unit.refund_type.as_str();
        if let Some((_, goods)) = lines.iter_mut().find(|(line, goods)| *line == unit.line && goods.gets == gets) {
            goods.units += 1;
        } else {
            let title = item.title.clone().unwrap_or_else(|| item.sku.clone());
            lines.push((&unit.line, Goods { title, units: 1, gets: gets.to_owned() }));
        }
    }
    lines.into_iter().map(|(_, goods)| goods).collect()
}

fn money(kept: &Return, currency: &str, refunded: Cents) -> Money {
    let none = (Cents::default(), Cents::default());
    let open = kept.units().filter(|(unit, _)| !unit.refunded);
    let (to_come, fee) =
        open.fold(none, |(to_come, fee), (_, item)| (to_come.plus(item.financials.shopper), fee.plus(item.financials.fee)));
    Money { currency: currency.to_owned(), to_come: to_come.get(), fee: fee.get(), refunded: refunded.get() }
}
