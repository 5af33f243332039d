//! Finds a shopper's order by its number and the e-mail address or postal code, and opens a session for it.
//!
//! Only misses are counted. A network address with too many of them is refused, so that guessing does not pay; the limits of an
//! order's number and of a merchant only slow misses down, so that nobody can lock a shopper out from elsewhere.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::returns::portal::{Proof, spellings};
use secrecy::{ExposeSecret as _, SecretString};
use store::Failed;
use store::merchants::accounts::Merchant;
use store::orders::snapshots::{self, Fingerprint, ShopperKeys};
use store::returns::portal_misses::{self, Counter};
use store::returns::portal_sessions::{self, Session};

use crate::app::App;
use crate::node::security::Event;
use crate::platform::keys::bearer;
use crate::platform::metrics::PortalStep;

/// The most misses of one address in a quarter of an hour.
const OF_ADDRESS: (i32, TimeDelta) = (10, TimeDelta::minutes(15));
/// The most misses for one order number in a day.
const OF_ORDER: (i32, TimeDelta) = (20, TimeDelta::days(1));
/// The most misses in one merchant's portal in a minute.
const OF_MERCHANT: (i32, TimeDelta) = (1_000, TimeDelta::minutes(1));

/// A session's last sign of life is written this often.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(1);

/// An attempt to find an order.
pub struct Attempt<'a> {
    pub number: &'a str,
    /// The start of the shop's order numbers, which may be left out.
    pub prefix: Option<&'a str>,
    /// An e-mail address or a postal code.
    pub key: &'a str,
    /// The shopper's network address.
    pub address: &'a str,
}

/// The reasons an order is not found.
#[derive(Debug, thiserror::Error)]
pub enum FindOrderError {
    /// There is no such order, or the key is not its own, or the merchant is paused. Never tell which.
    #[error("no order with this number and key")]
    Miss,
    #[error("too many attempts, until {0}")]
    TooMany(DateTime<Utc>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Opens a session for the order that `attempt` names. Returns the session's secret.
pub async fn find_order(app: &App, merchant: &Merchant, attempt: &Attempt<'_>) -> Result<SecretString, FindOrderError> {
    let found = open_session(app, merchant, attempt).await;
    let step = match &found {
        Ok(_) => Some(PortalStep::OrderFound),
        Err(FindOrderError::Miss) => Some(PortalStep::OrderMissed),
        Err(FindOrderError::TooMany(_)) => Some(PortalStep::OrderRefused),
        Err(FindOrderError::Failed(_)) => None,
    };
    step.into_iter().for_each(|step| app.metrics.pages.stepped(step));
    found
}

async fn open_session(app: &App, merchant: &Merchant, attempt: &Attempt<'_>) -> Result<SecretString, FindOrderError> {
    let numbers = spellings(attempt.number, attempt.prefix);
    // Both to their end: a statement that is dropped half way costs its connection.
    let (refused, orders) = tokio::join!(refuse_guessers(app, merchant, attempt), shopper_keys(app, merchant, &numbers));
    refused?;
    let orders = orders?;
    let found = orders.iter().find_map(|order| Some((order, proof(app, order, attempt.key)?)));
    match found.filter(|_| merchant.paused_at.is_none()) {
        Some((order, proof)) => {
            let (secret, session) = new_session(app, &order.identifier, proof, Reach::Order);
            portal_sessions::start(app.store(merchant.id), merchant.id, &bearer::hash(secret.expose_secret()), &session).await?;
            Ok(secret)
        }
        None => Err(count_miss(app, merchant, &numbers, attempt).await?),
    }
}

async fn shopper_keys(app: &App, merchant: &Merchant, numbers: &[String]) -> Result<Vec<ShopperKeys>, FindOrderError> {
    Ok(snapshots::shopper_keys(app.store(merchant.id), merchant.id, numbers).await?)
}

/// What a session may see beside its order, or of it.
#[derive(Clone, Copy)]
pub(super) enum Reach<'a> {
    Order,
    /// All orders of this e-mail address.
    Email(Fingerprint),
    /// This return alone.
    Return(&'a str),
}

/// A new session for an order, and its secret.
pub(super) fn new_session(app: &App, order: &str, proof: Proof, reach: Reach<'_>) -> (SecretString, Session) {
    let (email, rma) = match reach {
        Reach::Order => (None, None),
        Reach::Email(email) => (Some(email), None),
        Reach::Return(rma) => (None, Some(rma.to_owned())),
    };
    let now = app.now();
    let session = Session { order: order.to_owned(), proof, email, rma, support: None, started_at: now, seen_at: now };
    (bearer::new_secret(&app.entropy), session)
}

/// The proof that `key` is for an order; `None` if it is not the order's own.
fn proof(app: &App, order: &ShopperKeys, key: &str) -> Option<Proof> {
    // By every key, because that of the order may not have been computed with the active one yet. None is left out once one is the
    // same, so that the time does not tell which.
    let same = |stored: Option<Fingerprint>, typed: Vec<Fingerprint>| {
        stored.is_some_and(|stored| typed.iter().fold(false, |found, typed| found | bearer::same(&stored, typed)))
    };
    let prints = &app.fingerprints;
    // A postal code without a letter or digit is none, and would be that of every order without one.
    if !key.chars().any(char::is_alphanumeric) {
        return None;
    }
    // Whether the order is from the United States is unknown here; a ZIP+4 is shortened there only.
    let zip = same(order.zip, prints.zips(key, None)) | same(order.zip, prints.zips(key, Some("")));
    let email = same(order.email, prints.emails(key));
    if email { Some(Proof::Email) } else { zip.then_some(Proof::Zip) }
}

/// Refuses an address that has used up its misses, whatever it tries now.
async fn refuse_guessers(app: &App, merchant: &Merchant, attempt: &Attempt<'_>) -> Result<(), FindOrderError> {
    let (key, (most, _)) = (app.fingerprints.miss("address", attempt.address), OF_ADDRESS);
    let until = portal_misses::used_up(app.store(merchant.id), merchant.id, key, most, app.now()).await?;
    until.map_or(Ok(()), |until| {
        Event::LimitHit { limit: "portal" }.log();
        Err(FindOrderError::TooMany(until))
    })
}

/// Counts a miss by address, by number and by merchant, and returns what to answer.
async fn count_miss(app: &App, merchant: &Merchant, numbers: &[String], attempt: &Attempt<'_>) -> Result<FindOrderError, Failed> {
    let number = numbers.get(1).or(numbers.first()).map_or("", |number| number.trim_start_matches('#'));
    let limits = [
        (app.fingerprints.miss("address", attempt.address), OF_ADDRESS),
        (app.fingerprints.miss("order", &number.to_uppercase()), OF_ORDER),
        (app.fingerprints.miss("merchant", ""), OF_MERCHANT),
    ];
    let over = count(app, merchant.id, limits).await?;
    let Some(until) = over.into_iter().flatten().max() else { return Ok(FindOrderError::Miss) };
    Event::LimitHit { limit: "portal" }.log();
    Ok(FindOrderError::TooMany(until))
}

/// Counts once towards each of `limits`, which are keys with the most in a period. Returns for each whether it is used up, and until
/// when.
pub(super) async fn count<const N: usize>(
    app: &App,
    merchant: MerchantId,
    limits: [(Fingerprint, (i32, TimeDelta)); N],
) -> Result<[Option<DateTime<Utc>>; N], Failed> {
    let counters = limits.map(|(key, (_, period))| Counter { key, period });
    let mut tx = app.begin(merchant).await?;
    let counts = portal_misses::add(&mut tx, &counters, app.now()).await?;
    app.commit(tx).await?;
    let mut counts = counts.into_iter();
    Ok(limits.map(|(_, (most, _))| counts.next().filter(|count| count.misses > most).map(|count| count.until)))
}

/// Notes that a shopper is still there, once a minute at most.
pub async fn keep_session(app: &App, merchant: MerchantId, hash: &[u8], session: &Session) -> Result<(), Failed> {
    let now = app.now();
    if now - session.seen_at < NOTED_EVERY {
        return Ok(());
    }
    let mut tx = app.begin(merchant).await?;
    portal_sessions::touch(&mut tx, hash, session.proof, now).await?;
    app.commit(tx).await
}

/// Checks an order's postal code, so that its shopper may see the address on a label. Misses count like those of finding an order.
pub async fn show_postcode(
    app: &App,
    merchant: &Merchant,
    hash: &[u8],
    session: &Session,
    attempt: &Attempt<'_>,
) -> Result<(), FindOrderError> {
    refuse_guessers(app, merchant, attempt).await?;
    let orders = shopper_keys(app, merchant, std::slice::from_ref(&session.order)).await?;
    if !orders.iter().any(|order| proof(app, order, attempt.key) == Some(Proof::Zip)) {
        return Err(count_miss(app, merchant, std::slice::from_ref(&session.order), attempt).await?);
    }
    let mut tx = app.begin(merchant.id).await?;
    portal_sessions::touch(&mut tx, hash, Proof::Zip, app.now()).await?;
    Ok(app.commit(tx).await?)
}

/// Ends a session. If there is none, nothing changes.
pub async fn end_session(app: &App, merchant: MerchantId, hash: &[u8]) -> Result<(), Failed> {
    let mut tx = app.begin(merchant).await?;
    portal_sessions::end(&mut tx, hash).await?;
    app.commit(tx).await
}
