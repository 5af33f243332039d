//! A shopper confirms a return: its units are claimed, and the merchant's systems are told.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::rma::eligibility::{self, LineEligibility, Taken};
use domain::rma::identifier::Identifier;
use domain::rma::policy::{NOT_GIVEN, Offer, Policy, REMINDED_AFTER};
use domain::rma::sale::{Sale, SoldLine};
use domain::rma::{Method, RefundType, Rma, Unit, money};
use store::rmas::{Item, Return};
use store::unit_claims::Claim;
use store::{Failed, idempotency, orders, refunds, return_policies, unit_claims};
use wire::fault::{Code, Fault, Path};
use wire::returns::{ReturnedIn, StartReturnIn};

use super::label_return::want_label;
use super::tell_return::tell_new;
use crate::app::App;
use crate::returns;

/// How often a return is tried again whose name or key was taken meanwhile.
const TRIES: usize = 3;
const NAME_IS_UNIQUE: &str = "rma_by_identifier";
const KEY_IS_UNIQUE: &str = "a_key_is_used_once";

/// A key under which the same request is answered alike.
#[derive(Clone, Debug)]
pub struct Key {
    /// The caller's word.
    pub key: String,
    /// SHA-256 of what is asked for.
    pub request_hash: [u8; 32],
}

/// What came of it.
pub struct Started {
    /// The return, as JSON.
    pub answer: String,
    /// Whether it was started by an earlier request under the same key.
    pub repeated: bool,
}

/// Why a return was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartReturnError {
    /// The merchant has no such order.
    #[error("there is no such order")]
    NoSuchOrder,
    /// It cannot be as it was asked for.
    #[error("the return cannot be started")]
    Faulty(Vec<Fault>),
    /// The key was used for something else.
    #[error("the key was used for another request")]
    KeyUsed,
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Starts a return.
pub async fn start_return(
    app: &App,
    merchant: MerchantId,
    wanted: &StartReturnIn<'_>,
    key: Option<&Key>,
) -> Result<Started, StartReturnError> {
    let mut tries = 1;
    loop {
        match attempt(app, merchant, wanted, key).await {
            Err(StartReturnError::Failed(failed))
                if tries < TRIES && (failed.violates(NAME_IS_UNIQUE) || failed.violates(KEY_IS_UNIQUE)) =>
            {
                tries += 1;
            }
            done => return done,
        }
    }
}

async fn attempt(app: &App, merchant: MerchantId, wanted: &StartReturnIn<'_>, key: Option<&Key>) -> Result<Started, StartReturnError> {
    let now = app.now();
    let mut tx = app.store.begin(merchant).await?;
    let order = orders::lock(&mut tx, &wanted.order_identifier.0).await?;
    // Whoever asked the same at the same time has been waited for at the order's lock.
    if let Some(key) = key
        && let Some(used) = idempotency::find(&mut tx, &key.key, now).await?
    {
        let same = used.request_hash == key.request_hash;
        return if same { Ok(Started { answer: used.answer, repeated: true }) } else { Err(StartReturnError::KeyUsed) };
    }
    let order = order.ok_or(StartReturnError::NoSuchOrder)?;
    let order = wire::order::read_stored(&order.snapshot);
    let order = order.ok_or_else(|| Failed::Refused("a stored order cannot be read".to_owned()))?;
    let sale = order.sale();
    let policy = return_policies::get(&mut tx).await?;
    let claims = unit_claims::lock_of_order(&mut tx, &sale.identifier).await?;
    let refunded = refunds::refunded_units(&mut tx, &sale.identifier).await?;
    let lines = eligibility::returnable(&sale, &policy, &taken(&claims, &refunded), now);

    let gift = eligibility::is_gift(&sale, &policy);
    let chosen = choose(&sale, &lines, &claims, wanted, &policy, gift).map_err(StartReturnError::Faulty)?;
    let new = make(app, wanted, &sale, &policy, gift, chosen, now);
    let told = tell_new(app, &mut tx, &new).await?;
    let label = want_label(app, &mut tx, &new, &order).await?;
    let answer = serde_json::to_string(&returns::shown(&new)).map_err(|_| Failed::Refused("an answer could not be written".to_owned()))?;
    if let Some(key) = key {
        idempotency::insert(&mut tx, &key.key, &key.request_hash, &answer, now).await?;
    }
    tx.commit().await?;
    told.into_iter().chain(label).for_each(|owed| app.signals.owe(owed));
    Ok(Started { answer, repeated: false })
}

/// How many units of each line are spoken for.
pub(crate) fn taken(claims: &[Claim], refunded: &BTreeMap<String, u64>) -> BTreeMap<String, Taken> {
    let mut taken: BTreeMap<String, Taken> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| !claim.refunded) {
        taken.entry(claim.line.clone()).or_default().live += 1;
    }
    for (line, units) in refunded {
        taken.entry(line.clone()).or_default().refunded = u32::try_from(*units).unwrap_or(u32::MAX);
    }
    taken
}

/// What was chosen, once it is known to be possible.
struct Chosen<'a> {
    offer: Offer,
    /// Each unit: its line, its number and the reason.
    units: Vec<(&'a SoldLine, u32, String)>,
}

/// Holds what is wanted against what is possible.
fn choose<'a>(
    sale: &'a Sale,
    lines: &[LineEligibility],
    claims: &[Claim],
    wanted: &StartReturnIn<'_>,
    policy: &Policy,
    gift: bool,
) -> Result<Chosen<'a>, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut units = Vec::new();
    let mut used: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for claim in claims {
        used.entry(&claim.line).or_default().insert(claim.unit);
    }
    let mut left: BTreeMap<&str, u32> =
        lines.iter().filter_map(|line| Some((sale.lines.get(line.line)?.identifier.as_str(), line.units))).collect();
    let mut weighed: BTreeMap<&str, (&SoldLine, u32)> = BTreeMap::new();
    for (at, entry) in wanted.items.0.iter().enumerate() {
        let path = Path::root().field("items").index(at);
        let (quantity, reason) = said(entry);
        if !policy.allows_reason(reason) {
            let known = policy.reasons.iter().map(String::as_str).chain([NOT_GIVEN]).collect::<Vec<_>>().join(", ");
            faults.push(Fault::new(path.field("return_reason"), Code::Invalid, format!("must be one of {known}")));
        }
        let Some(line) = sale.lines.iter().find(|line| line.identifier == *entry.order_line_item_identifier.0) else {
            faults.push(Fault::new(path.field("order_line_item_identifier"), Code::Invalid, "is no line of the order"));
            continue;
        };
        let free = left.entry(&line.identifier).or_default();
        if quantity == 0 || quantity > *free {
            let held = lines.iter().find(|of| sale.lines.get(of.line).is_some_and(|of| of.identifier == line.identifier));
            faults.push(Fault::new(path.field("quantity"), Code::Invalid, explain(*free, held)));
            continue;
        }
        *free -= quantity;
        let used = used.entry(&line.identifier).or_default();
        for number in eligibility::free_numbers(line, used, quantity) {
            used.insert(number);
            units.push((line, number, reason.to_owned()));
        }
        weighed.entry(&line.identifier).or_insert((line, 0)).1 += quantity;
    }
    let offers = eligibility::offers(policy, &weighed.into_values().collect::<Vec<_>>());
    let offer = offers.iter().find(|offer| offer.method == wanted.return_method.0).copied();
    if offer.is_none() {
        let ways = offers.iter().map(|offer| offer.method.as_str()).collect::<Vec<_>>().join(", ");
        let ways = if ways.is_empty() { "there is no way back for these items".to_owned() } else { format!("must be one of {ways}") };
        faults.push(Fault::new(Path::root().field("return_method"), Code::Invalid, ways));
    }
    let giftee = Path::root().field("giftee_email");
    match (gift, &wanted.giftee_email) {
        (true, None) => faults.push(Fault::new(giftee, Code::MissingField, "is required for a gift: who returns it")),
        (false, Some(_)) => faults.push(Fault::new(giftee, Code::Invalid, "is for gifts only, and the order is none")),
        (true, Some(_)) | (false, None) => {}
    }
    match offer {
        Some(offer) if faults.is_empty() => Ok(Chosen { offer, units }),
        _ => Err(faults),
    }
}

fn said<'a>(entry: &'a ReturnedIn<'_>) -> (u32, &'a str) {
    let reason = entry.return_reason.as_ref().map_or(NOT_GIVEN, |reason| &*reason.0);
    (entry.quantity.map_or(1, |quantity| quantity.0), reason)
}

/// How many units can come back, and why no more.
fn explain(free: u32, line: Option<&LineEligibility>) -> String {
    let held = line.map(|line| line.held.as_slice()).unwrap_or_default();
    let why = held.iter().map(|(obstacle, units)| format!("{units} {obstacle}")).collect::<Vec<_>>().join(", ");
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    match free {
        0 => format!("no more units of this line can come back{why}"),
        _ => format!("must be from 1 to {free}; more units of this line cannot come back{why}"),
    }
}

/// The new return.
fn make(app: &App, wanted: &StartReturnIn<'_>, sale: &Sale, policy: &Policy, gift: bool, chosen: Chosen<'_>, now: DateTime<Utc>) -> Return {
    let Chosen { offer: Offer { method, fee, deducted }, units } = chosen;
    let money: Vec<_> =
        units.iter().map(|(line, number, _)| (money::unit_money(line, *number).unwrap_or_default(), RefundType::Refund)).collect();
    let shares = money::financials(&money, if deducted { fee } else { Cents::default() });
    let items = units.iter().zip(&money).zip(shares.units).map(|(((line, _, reason), (money, _)), financials)| Item {
        sku: line.sku.clone(),
        title: line.title.clone(),
        reason: reason.clone(),
        money: *money,
        financials,
        refund: None,
        exchange_order: None,
    });
    let travels = match method {
        Method::MailBack | Method::ExpressReturns => true,
        Method::CustomerKeep => false,
    };
    Return {
        id: app.mint(),
        identifier: Identifier::from_random(u64::from_le_bytes(app.entropy.bytes())).to_string(),
        order: sale.identifier.clone(),
        original_order: None,
        created_at: now,
        updated_at: now,
        sequence: 1,
        shipping_cost: fee,
        gift,
        giftee_email: wanted.giftee_email.as_ref().map(|email| email.0.to_string()),
        cancel_reason: None,
        reminded: false,
        wakes_at: travels.then(|| now + REMINDED_AFTER),
        items: items.collect(),
        rma: Rma::new(
            method,
            units
                .into_iter()
                .map(|(line, number, _)| Unit::new(line.identifier.clone(), number, RefundType::Refund, method, policy.managed_receiving))
                .collect(),
        ),
    }
}
