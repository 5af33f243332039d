//! A shopper withdraws from a contract: states it, confirms it, and sends the goods back.
//!
//! A statement is taken whatever it says: without an order, after the period, for goods on final sale. No limit refuses it either. Limits
//! only keep an order from being shown to whoever guesses, and space out the mails to one address.

use chrono::TimeDelta;
use domain::id::MerchantId;
use domain::messages::message::{Internal, Kind};
use domain::returns::mail::Mail;
use domain::returns::portal::spellings;
use domain::returns::rma::eligibility;
use domain::returns::rma::policy::NOT_GIVEN;
use domain::returns::withdrawal::reference;
use domain::returns::work::WorkKind;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::audit::{self, Entry};
use store::merchants::mail_settings;
use store::messages::outbox::Message;
use store::orders::snapshots;
use store::returns::portal_misses::{self, Counter};
use store::returns::withdrawals::{self, Withdrawal};
use store::returns::work_items::{self, WorkItem};
use store::returns::{portal_sessions, return_policies, withdrawal_drafts, withdrawal_links};
use store::{Failed, Tx};
use wire::messages::mail::{self, AboutWithdrawal, PlainMail, ShopperMail};
use wire::orders::order::read_stored;
use wire::returns::draft::{AnsweredItem, Answers, Wish, Withdrawn};
use wire::returns::withdrawal::Statement;

use super::answer_draft::save_answers;
use super::find_order::{Attempt, FindOrderError, find_order};
use super::mail_shopper::message;
use crate::app::App;
use crate::platform::keys::bearer;
use crate::platform::metrics::PortalStep;
use crate::platform::texts::Language;
use crate::platform::words::Words;
use crate::shops::Shop;
use crate::show::returns::returnable;
use crate::show::returns::withdrawals::{SENT_BACK_WITHIN, WayBack, Wording, chosen, matched, withdrawn};

/// The number of attempts when the reference was taken in the meantime.
const TRIES: usize = 3;
const REFERENCE_IS_UNIQUE: &str = "a_reference_is_used_once";
/// The most acknowledgements that are mailed to one address in an hour. The others wait until the hour is over.
const OF_EMAIL: (i32, TimeDelta) = (10, TimeDelta::hours(1));

/// Finds the order of a statement: the one that the shopper's session is for, if it is the one named, or else by the e-mail address.
/// Returns its identifier, and the secret of the session that was opened for it.
pub async fn find_contract(
    app: &App,
    shop: &Shop,
    session_order: Option<String>,
    statement: &Statement,
    address: &str,
) -> Result<Option<(String, Option<SecretString>)>, Failed> {
    let prefix = shop.number_prefix.as_deref();
    let numbers = spellings(&statement.order, prefix);
    if let Some(order) = session_order.filter(|order| numbers.contains(order)) {
        return Ok(Some((order, None)));
    }
    if numbers.is_empty() {
        return Ok(None);
    }
    let attempt = Attempt { number: &statement.order, prefix, key: &statement.email, address };
    match find_order(app, &shop.merchant, &attempt).await {
        Ok(secret) => {
            let (merchant, hash) = (shop.merchant.id, bearer::hash(secret.expose_secret()));
            let session = portal_sessions::find(app.store(merchant), merchant, &hash, app.now()).await?;
            Ok(session.map(|session| (session.order, Some(secret))))
        }
        // Whoever guesses too often learns nothing, and may still withdraw.
        Err(FindOrderError::Miss | FindOrderError::TooMany(_)) => Ok(None),
        Err(FindOrderError::Failed(failed)) => Err(failed),
    }
}

/// Keeps the statement of a new session until it is confirmed.
pub async fn save_statement(app: &App, merchant: MerchantId, session: &[u8], statement: &Statement) -> Result<(), Failed> {
    let found = statement.found.as_deref();
    withdrawal_drafts::insert(app.store(merchant), merchant, session, &statement.write(), found, app.now()).await
}

/// Changes the statement of a session. Returns false if it is confirmed by now, or gone.
pub async fn change_statement(app: &App, merchant: MerchantId, session: &[u8], statement: &Statement) -> Result<bool, Failed> {
    withdrawal_drafts::change(app.store(merchant), merchant, session, &statement.write(), app.now()).await
}

/// Confirms the statement of a session, once, however often it is called: keeps it, acknowledges it by mail, and tells the merchant.
/// `None` if the session has no statement.
pub async fn confirm_withdrawal(app: &App, shop: &Shop, language: Language, session: &[u8]) -> Result<Option<Withdrawal>, Failed> {
    let mut tries = 1;
    loop {
        match confirm(app, shop, language, session).await {
            Err(failed) if tries < TRIES && failed.violates(REFERENCE_IS_UNIQUE) => tries += 1,
            done => return done,
        }
    }
}

async fn confirm(app: &App, shop: &Shop, language: Language, session: &[u8]) -> Result<Option<Withdrawal>, Failed> {
    let (merchant, now) = (shop.merchant.id, app.now());
    let mut tx = app.begin(merchant).await?;
    let Some(draft) = withdrawal_drafts::lock(&mut tx, session).await? else {
        drop(tx);
        // A second click, perhaps.
        return withdrawals::of_session(app.store(merchant), merchant, session).await;
    };
    let statement = Statement::read(&draft);
    let snapshot = match &statement.found {
        Some(order) => snapshots::snapshot(&mut tx, order).await?,
        None => None,
    };
    let order = snapshot.as_deref().map(|text| read_stored(text).ok_or(Failed::Internal("a stored order cannot be read"))).transpose()?;
    let sale = order.as_ref().map(wire::orders::order::OrderIn::sale);
    let known = order.as_ref().zip(sale.as_ref()).map(|(order, sale)| matched(shop, order, sale, now)).transpose()?;
    let words = Words { language, zone: shop.zone };
    let wording = Wording::of(words, shop, &statement, sale.as_ref());
    let goods = (statement.part && sale.is_some()).then(|| serde_json::to_string(&statement.goods)).transpose();
    let new = Withdrawal {
        id: app.mint(),
        reference: reference(u64::from_le_bytes(app.entropy.bytes())),
        received_at: now,
        language: language.code().to_owned(),
        name: statement.name.clone(),
        email: statement.email.clone(),
        order_words: statement.order.clone(),
        statement: wording.written(),
        order: known.as_ref().map(|known| known.order.clone()),
        goods: goods.map_err(|_| Failed::Internal("goods could not be written"))?,
        last_day: known.as_ref().and_then(|known| known.last_day),
        in_time: known.as_ref().and_then(|known| known.in_time),
        rma: None,
    };
    withdrawals::insert(&mut tx, &new, session).await?;
    withdrawal_drafts::forget(&mut tx, &[session.to_vec()]).await?;
    if new.order.is_none() {
        let reason = format!(
            "A shopper withdraws from a contract, and it is not known which order is meant. Find the order, then: backhaul withdrawals match --merchant {} {} ORDER",
            shop.merchant.handle, new.reference
        );
        let case = WorkItem { id: app.mint(), kind: WorkKind::WithdrawalUnmatched, subject: new.reference.clone(), reason, opened_at: now };
        work_items::open(&mut tx, &case).await?;
    }
    let way_back = match &sale {
        Some(sale) => {
            let policy = return_policies::get(&mut tx).await?;
            WayBack::of(sale, shop, &policy, statement.part.then_some(&*statement.goods))
        }
        None => WayBack::Nothing,
    };
    acknowledge(app, &mut tx, shop, &new, wording, way_back).await?;
    app.commit(tx).await?;
    app.metrics.pages.stepped(PortalStep::WithdrawalConfirmed);
    Ok(Some(new))
}

/// Owes the shopper the acknowledgement, with a link to the statement, and the merchant the news.
async fn acknowledge(app: &App, tx: &mut Tx, shop: &Shop, new: &Withdrawal, wording: Wording, way_back: WayBack) -> Result<(), Failed> {
    let sender = mail_settings::sender(tx).await?;
    if let Some(to) = sender.reply_to.filter(|to| app.mailer.can_write_to(to)) {
        tx.owe(news(app, new, to));
    }
    if !app.mailer.can_write_to(&new.email) {
        return Ok(());
    }
    let (most, period) = OF_EMAIL;
    let counter = Counter { key: app.fingerprints.miss("withdrawal", &new.email), period };
    let count = portal_misses::add(tx, &[counter], new.received_at).await?.pop();
    let busy_until = count.filter(|count| count.misses > most).map(|count| count.until);
    let body = ShopperMail {
        mail: Mail::Withdrawal.as_str().to_owned(),
        to: new.email.clone(),
        language: new.language.clone(),
        name: Some(new.name.clone()),
        link: link(app, tx, shop, new).await?,
        about: None,
        withdrawal: Some(AboutWithdrawal {
            reference: new.reference.clone(),
            at: new.received_at,
            sentence: wording.sentence,
            facts: wording.facts,
            matched: new.order.is_some(),
            gift: way_back == WayBack::Gift,
            send_by: (way_back == WayBack::ByShopper).then(|| new.received_at + SENT_BACK_WITHIN),
        }),
    };
    let acknowledgement = message(app, Mail::Withdrawal, &body, &new.reference, 1)?;
    tx.owe(Message { due_at: busy_until.unwrap_or(new.received_at), ..acknowledgement });
    Ok(())
}

/// A new link to the statement; `None` if there is no portal to link to.
async fn link(app: &App, tx: &mut Tx, shop: &Shop, new: &Withdrawal) -> Result<Option<String>, Failed> {
    let Some(portal) = &shop.address else { return Ok(None) };
    let secret = bearer::new_secret(&app.entropy);
    withdrawal_links::insert(tx, &bearer::hash(secret.expose_secret()), new.id, new.received_at).await?;
    Ok(Some(format!("{portal}/w/{}", secret.expose_secret())))
}

/// The subject of the message that tells the merchant of a statement.
pub(in crate::flow) fn news_subject(reference: &str) -> String {
    format!("{reference} news")
}

/// The mail that tells the merchant.
fn news(app: &App, new: &Withdrawal, to: String) -> Message {
    let order = new.order.as_deref().map_or_else(
        || "It is not known which order is meant: see the work list.".to_owned(),
        |order| format!("It is about order {order}."),
    );
    let text = format!(
        "A shopper has withdrawn from a contract.\n\nReference: {}\nReceived: {}\n{order}\n\n{}\n\nReceipt was acknowledged to the shopper. GET /v1/withdrawals lists all statements.\n",
        new.reference,
        wire::time::write(new.received_at),
        new.statement,
    );
    Message {
        id: app.mint(),
        kind: Kind::Internal(Internal::Mail),
        event: "mail.withdrawal_news",
        // Apart from the acknowledgement, so that neither waits for the other.
        subject: news_subject(&new.reference),
        sequence: 1,
        body: mail::write(&PlainMail { to, subject: format!("Withdrawal {}", new.reference), text }),
        due_at: new.received_at,
    }
}

/// Makes the goods of a statement the draft of a return, for which only the way back is missing. Returns false if there are none to
/// send, or if the order was a gift: who has the goods is not the one who withdraws.
pub async fn send_back(app: &App, shop: &Shop, withdrawal: &Withdrawal, session: &[u8]) -> Result<bool, Failed> {
    let merchant = shop.merchant.id;
    let Some(order) = &withdrawal.order else { return Ok(false) };
    let Some(mut found) = returnable::find(app, merchant, order, session).await? else { return Ok(false) };
    let (sale, goods) = (&found.order.sale, chosen(withdrawal));
    let units = withdrawn(sale, shop, goods.as_deref()).map(|(line, units)| (line.identifier.clone(), units)).collect();
    eligibility::release_withdrawn(&mut found.lines, sale, &units);
    let item = |line: &eligibility::LineEligibility| {
        let sold = sale.lines.get(line.line)?;
        let quantity = units.get(&sold.identifier).copied().unwrap_or_default().min(line.units);
        let item =
            AnsweredItem { line: sold.identifier.clone(), quantity, reason: Some(NOT_GIVEN.to_owned()), instead: Some(Wish::Refund) };
        (quantity > 0).then_some(item)
    };
    let items: Vec<AnsweredItem> = found.lines.iter().filter_map(item).collect();
    if items.is_empty() || eligibility::is_gift(sale, &found.order.policy) {
        return Ok(false);
    }
    let answers = Answers {
        items,
        language: Some(withdrawal.language.clone()),
        withdrawal: Some(Withdrawn { reference: withdrawal.reference.clone(), units }),
        ..Answers::default()
    };
    save_answers(app, merchant, order, &answers, None).await?;
    Ok(true)
}

/// The reasons a statement cannot be given an order.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    #[error("the merchant has no withdrawal {0}; `backhaul withdrawals list --merchant HANDLE` lists them")]
    NoSuchWithdrawal(String),
    #[error("the merchant has no order {0}")]
    NoSuchOrder(String),
    #[error("the withdrawal has a return already; cancel that first")]
    HasReturn,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Names the order that a statement is about, for a person who found it. Closes the case.
pub async fn match_withdrawal(app: &App, actor: &str, shop: &Shop, reference: &str, order: &str) -> Result<(), MatchError> {
    let now = app.now();
    let mut tx = app.begin(shop.merchant.id).await?;
    let found = withdrawals::lock(&mut tx, reference).await?;
    let found = found.ok_or_else(|| MatchError::NoSuchWithdrawal(reference.to_owned()))?;
    if found.rma.is_some() {
        return Err(MatchError::HasReturn);
    }
    let snapshot = snapshots::snapshot(&mut tx, order).await?.ok_or_else(|| MatchError::NoSuchOrder(order.to_owned()))?;
    let read = read_stored(&snapshot).ok_or(Failed::Internal("a stored order cannot be read"))?;
    let known = matched(shop, &read, &read.sale(), found.received_at)?;
    withdrawals::set_order(&mut tx, reference, &known).await?;
    work_items::close(&mut tx, WorkKind::WithdrawalUnmatched, reference, now).await?;
    let detail = format!("{reference} {order}");
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "withdrawal.matched", detail: &detail, done_at: now }).await?;
    Ok(app.commit(tx).await?)
}
