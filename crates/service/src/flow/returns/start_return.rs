//! A shopper confirms a return: its units are claimed, and the merchant's systems are told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::exchange;
use domain::returns::exchange::variant::Variant;
use domain::returns::rma::choice::{Chosen, Exchanges, Getting, Impossible, Instead, NoExchange, Picked, RequestedItem, choose};
use domain::returns::rma::eligibility::{self, UnavailableUnits};
use domain::returns::rma::identifier::Identifier;
use domain::returns::rma::money::{self, Financials};
use domain::returns::rma::policy::{Offer, Policy, REMINDED_AFTER};
use domain::returns::rma::sale::Sale;
use domain::returns::rma::{Rma, Unit};
use futures::future::try_join_all;
use store::Failed;
use store::orders::{refunds, snapshots};
use store::returns::rmas::{Item, Return};
use store::returns::unit_claims::Claim;
use store::returns::{exchange_orders, idempotency, return_policies, unit_claims};
use wire::fault::Fault;
use wire::returns::api::StartReturnIn;

use super::label_return::want_label;
use super::place_exchange::want_exchange;
use super::tell_return::tell_new;
use crate::app::App;
use crate::show::returns::exchanges::{self, OptionsError};
use crate::show::returns::rmas;

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

/// What merchants told of, by line.
type Variants = BTreeMap<String, Arc<[Variant]>>;

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
    /// What can be had instead of the money is not known.
    #[error(transparent)]
    Options(#[from] OptionsError),
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
    let variants = offered(app, merchant, wanted, key).await?;
    let mut tries = 1;
    loop {
        match attempt(app, merchant, wanted, key, &variants).await {
            Err(StartReturnError::Failed(failed))
                if tries < TRIES && (failed.violates(NAME_IS_UNIQUE) || failed.violates(KEY_IS_UNIQUE)) =>
            {
                tries += 1;
            }
            done => return done,
        }
    }
}

/// What the merchant offers instead of the lines that are to be exchanged, by line. It is asked before anything is locked, and
/// not at all by who repeats a request.
async fn offered(app: &App, merchant: MerchantId, wanted: &StartReturnIn<'_>, key: Option<&Key>) -> Result<Variants, StartReturnError> {
    let choice = wanted.choice();
    let exchanged: Vec<&RequestedItem<'_>> = choice.items.iter().filter(|item| matches!(item.instead, Instead::Variant(_))).collect();
    if exchanged.is_empty() || is_repeated(app, merchant, key).await? {
        return Ok(Variants::new());
    }
    let order = match exchanges::find(app, merchant, &wanted.order_identifier.0).await {
        Err(OptionsError::NoSuchLine) => return Err(StartReturnError::NoSuchOrder),
        found => found?,
    };
    let ask = async |item: &RequestedItem<'_>| match order.line(item.line) {
        Ok(line) => exchanges::options(app, merchant, &order, line, item.reason).await.map(|options| Some((line, options.told()?))),
        Err(_) => Ok(None),
    };
    let told = try_join_all(exchanged.into_iter().map(ask)).await?;
    Ok(told.into_iter().flatten().map(|(line, variants)| (line.identifier.clone(), variants)).collect())
}

async fn is_repeated(app: &App, merchant: MerchantId, key: Option<&Key>) -> Result<bool, StartReturnError> {
    let Some(key) = key else { return Ok(false) };
    let mut tx = app.begin(merchant).await?;
    Ok(idempotency::find(&mut tx, &key.key, app.now()).await?.is_some())
}

async fn attempt(
    app: &App,
    merchant: MerchantId,
    wanted: &StartReturnIn<'_>,
    key: Option<&Key>,
    variants: &Variants,
) -> Result<Started, StartReturnError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let order = snapshots::lock(&mut tx, &wanted.order_identifier.0).await?;
    // Whoever asked the same at the same time has been waited for at the order's lock.
    if let Some(key) = key
        && let Some(used) = idempotency::find(&mut tx, &key.key, now).await?
    {
        let same = used.request_hash == key.request_hash;
        return if same { Ok(Started { answer: used.answer, repeated: true }) } else { Err(StartReturnError::KeyUsed) };
    }
    let order = order.ok_or(StartReturnError::NoSuchOrder)?;
    let order = wire::orders::order::read_stored(&order.snapshot);
    let order = order.ok_or_else(|| Failed::Internal("a stored order cannot be read"))?;
    let sale = order.sale();
    let policy = return_policies::get(&mut tx).await?;
    let claims = unit_claims::lock_of_order(&mut tx, &sale.identifier).await?;
    let refunded = refunds::refunded_units(&mut tx, &sale.identifier).await?;
    let lines = eligibility::returnable(&sale, &policy, &taken(&claims, &refunded), now);

    let mut used: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for claim in &claims {
        used.entry(&claim.line).or_default().insert(claim.unit);
    }
    let (standing, original) = exchange_orders::standing(&mut tx, &sale.identifier).await?;
    let exchanges = Exchanges { standing, variants: variants.clone() };
    let chosen = choose(&sale, &policy, &lines, &used, &exchanges, &wanted.choice());
    let faulty = |against: &[Impossible]| {
        StartReturnError::Faulty(against.iter().map(|impossible| wire::returns::api::fault(impossible, &policy)).collect())
    };
    let chosen = chosen.map_err(|against| faulty(&against))?;
    let new = make(app, wanted, &sale, &policy, &chosen, original, now);
    tell_new(app, &mut tx, &new).await?;
    want_label(app, &mut tx, &new, &order).await?;
    let bonus = policy.gift_card.as_ref().map_or_else(Cents::default, |terms| terms.bonus);
    let exchange = match exchange::order::of(&chosen.units, bonus) {
        None => None,
        Some(wanted) => match want_exchange(app, &mut tx, &new, &order, &wanted, &policy).await? {
            Some(exchange) => Some(exchange),
            // The endpoint was removed this very moment.
            None => return Err(faulty(&[Impossible::Exchange { item: 0, why: NoExchange::NotOffered }])),
        },
    };
    let answer =
        serde_json::to_string(&rmas::shown(&new, exchange.as_ref())).map_err(|_| Failed::Internal("an answer could not be written"))?;
    if let Some(key) = key {
        idempotency::insert(&mut tx, &key.key, &key.request_hash, &answer, now).await?;
    }
    app.commit(tx).await?;
    Ok(Started { answer, repeated: false })
}

/// How many units of each line are spoken for.
pub(crate) fn taken(claims: &[Claim], refunded: &BTreeMap<String, u64>) -> BTreeMap<String, UnavailableUnits> {
    let mut taken: BTreeMap<String, UnavailableUnits> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| !claim.refunded) {
        taken.entry(claim.line.clone()).or_default().live += 1;
    }
    for (line, units) in refunded {
        taken.entry(line.clone()).or_default().refunded = u32::try_from(*units).unwrap_or(u32::MAX);
    }
    taken
}

/// The new return.
fn make(
    app: &App,
    wanted: &StartReturnIn<'_>,
    sale: &Sale,
    policy: &Policy,
    chosen: &Chosen<'_>,
    original_order: Option<String>,
    now: DateTime<Utc>,
) -> Return {
    let Chosen { offer: Offer { method, fee, deducted }, gift, units } = chosen;
    let (method, fee) = (*method, *fee);
    let paid: Vec<_> = units.iter().map(|unit| (unit.money, unit.getting.refund_type())).collect();
    let shares = money::financials(&paid, if *deducted { fee } else { Cents::default() });
    let item = |(unit, financials): (&Picked<'_>, Financials)| Item {
        sku: unit.line.sku.clone(),
        title: unit.line.title.clone(),
        reason: unit.reason.to_owned(),
        money: unit.money,
        financials,
        refund: None,
        exchange_sku: match unit.getting {
            Getting::Variant(variant) => Some(variant.sku.clone()),
            Getting::Refund | Getting::GiftCard => None,
        },
        exchange_order: None,
    };
    let unit = |picked: &Picked<'_>| {
        let refund_type = picked.getting.refund_type();
        Unit::new(picked.line.identifier.clone(), picked.number, refund_type, method, policy.managed_receiving)
    };
    let rma = Rma::new(method, units.iter().map(unit).collect());
    Return {
        id: app.mint(),
        identifier: Identifier::from_random(u64::from_le_bytes(app.entropy.bytes())).to_string(),
        order: sale.identifier.clone(),
        original_order,
        created_at: now,
        updated_at: now,
        sequence: 1,
        shipping_cost: fee,
        fee_deducted: *deducted,
        gift: *gift,
        giftee_email: wanted.giftee_email.as_ref().map(|email| email.0.to_string()),
        cancel_reason: None,
        reminded: false,
        wakes_at: rma.may_expire().then(|| now + REMINDED_AFTER),
        items: units.iter().zip(shares.units).map(item).collect(),
        rma,
    }
}
