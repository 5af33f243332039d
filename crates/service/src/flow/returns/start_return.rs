//! Starts a return that a shopper confirmed: claims its units, and owes the merchant the first message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::returns::exchange;
use domain::returns::exchange::variant::Variant;
use domain::returns::label::LabelState;
use domain::returns::rma::choice::{Choice, Chosen, Exchanges, Getting, Impossible, Instead, NoExchange, Picked, RequestedItem, choose};
use domain::returns::rma::eligibility;
use domain::returns::rma::identifier::Identifier;
use domain::returns::rma::money::{self, Financials};
use domain::returns::rma::policy::{Offer, Policy, REMINDED_AFTER};
use domain::returns::rma::sale::Sale;
use domain::returns::rma::{Rma, Unit};
use futures::future::try_join_all;
use serde::Deserialize;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::orders::snapshots;
use store::returns::label_orders::Progress;
use store::returns::returnable_orders::{self, LockedOrder};
use store::returns::rmas::{Item, Return};
use store::returns::{idempotency, return_drafts, return_policies, withdrawals};
use uuid::Uuid;
use wire::fault::Fault;
use wire::returns::api::{ReturnOut, StartReturnIn};
use wire::returns::draft::Withdrawn;

use super::label_work::buy_label;
use super::mail_shopper::mail_confirmed;
use super::place_exchange::request_exchange;
use super::save_return::save_new;
use crate::app::App;
use crate::flow::together::{Place, gather};
use crate::gathering::{Wanted, WantedItem};
use crate::show::returns::exchanges::{self, OptionsError};
use crate::show::returns::returnable::unavailable_units;
use crate::show::returns::rmas;

/// The number of attempts when the generated identifier or the idempotency key was taken in the meantime.
const TRIES: usize = 3;
const IDENTIFIER_IS_UNIQUE: &str = "rma_by_identifier";
const KEY_IS_UNIQUE: &str = "a_key_is_used_once";

/// An idempotency key: a repeated request gets the same answer.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    pub key: String,
    /// SHA-256 of the request's body.
    pub request_hash: [u8; 32],
    /// The draft that becomes the return, if the shopper put it together in the portal.
    pub draft: Option<ConfirmedDraft>,
}

/// A draft that becomes a return.
#[derive(Clone, Debug)]
pub struct ConfirmedDraft {
    pub id: Uuid,
    /// The statement of withdrawal whose goods come back.
    pub withdrawal: Option<Withdrawn>,
}

/// The variants that the merchant offers, by order line.
type Variants = BTreeMap<String, Arc<[Variant]>>;

/// The result of starting a return.
pub struct StartedReturn {
    /// The return, as JSON.
    pub answer: String,
    /// The return was started by an earlier request with the same key.
    pub repeated: bool,
}

impl StartedReturn {
    /// The identifier of the return.
    pub(crate) fn identifier(&self) -> Result<String, Failed> {
        #[derive(Deserialize)]
        struct Named {
            rma_identifier: String,
        }
        let named: Named = serde_json::from_str(&self.answer).map_err(|_| Failed::Internal("an answer could not be read"))?;
        Ok(named.rma_identifier)
    }
}

/// The reasons a return cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartReturnError {
    #[error("the merchant has no such order")]
    NoSuchOrder,
    #[error("the return cannot be started as requested")]
    Faulty(Vec<Fault>),
    #[error("the idempotency key was used for another request; use a new key for every return")]
    KeyUsed,
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Starts a return. `actor` is whoever does it for the shopper, and is then recorded in the audit.
pub async fn start_return(
    app: &App,
    actor: Option<&str>,
    merchant: MerchantId,
    request: &StartReturnIn<'_>,
    key: Option<&IdempotencyKey>,
) -> Result<StartedReturn, StartReturnError> {
    // Held until the return is started: whoever comes meanwhile gathers.
    let _turn = match plain(app, actor, merchant, request, key) {
        Some(wanted) => match gather(app, wanted).await? {
            Place::Done(answer) => return Ok(StartedReturn { answer, repeated: false }),
            Place::Alone(turn) => turn,
        },
        None => None,
    };
    let variants = variants_of(app, merchant, request, key).await?;
    let mut tries = 1;
    loop {
        match attempt(app, actor, merchant, request, key, &variants).await {
            Err(StartReturnError::Failed(failed))
                if tries < TRIES && (failed.violates(IDENTIFIER_IS_UNIQUE) || failed.violates(KEY_IS_UNIQUE)) =>
            {
                tries += 1;
            }
            done => return done,
        }
    }
}

/// The return as one that can be started together with others: nobody is to be recorded, it is not under a key, and it exchanges nothing.
fn plain(
    app: &App,
    actor: Option<&str>,
    merchant: MerchantId,
    request: &StartReturnIn<'_>,
    key: Option<&IdempotencyKey>,
) -> Option<Wanted> {
    if actor.is_some() || key.is_some() {
        return None;
    }
    let choice = request.choice();
    let item = |item: &RequestedItem<'_>| match item.instead {
        Instead::Refund => Some(WantedItem { line: item.line.to_owned(), quantity: item.quantity, reason: item.reason.to_owned() }),
        Instead::Variant(_) | Instead::GiftCard => None,
    };
    Some(Wanted {
        merchant,
        order: request.order_identifier.0.to_string(),
        method: choice.method,
        items: choice.items.iter().map(item).collect::<Option<_>>()?,
        giftee_email: request.giftee_email.as_ref().map(|email| email.0.to_string()),
        language: request.language.as_ref().map(|language| language.0.to_string()),
        trace: app.traces.ids_to_write(),
    })
}

/// Asks the merchant for the variants of the lines to be exchanged. This happens before anything is locked, and not at all for a
/// repeated request.
async fn variants_of(
    app: &App,
    merchant: MerchantId,
    request: &StartReturnIn<'_>,
    key: Option<&IdempotencyKey>,
) -> Result<Variants, StartReturnError> {
    let choice = request.choice();
    let exchanged: Vec<&RequestedItem<'_>> = choice.items.iter().filter(|item| matches!(item.instead, Instead::Variant(_))).collect();
    if exchanged.is_empty() || is_repeated(app, merchant, key).await? {
        return Ok(Variants::new());
    }
    let order = match exchanges::find(app, merchant, &request.order_identifier.0).await {
        Err(OptionsError::NoSuchLine) => return Err(StartReturnError::NoSuchOrder),
        found => found?,
    };
    let ask = async |item: &RequestedItem<'_>| match order.line(item.line) {
        Some(line) => {
            exchanges::options(app, merchant, &order, line, item.reason).await.map(|options| Some((line, options.into_variants()?)))
        }
        None => Ok(None),
    };
    let variants = try_join_all(exchanged.into_iter().map(ask)).await?;
    Ok(variants.into_iter().flatten().map(|(line, variants)| (line.identifier.clone(), variants)).collect())
}

async fn is_repeated(app: &App, merchant: MerchantId, key: Option<&IdempotencyKey>) -> Result<bool, StartReturnError> {
    let Some(key) = key else { return Ok(false) };
    let mut tx = app.begin(merchant).await?;
    Ok(idempotency::find(&mut tx, &key.key, app.now()).await?.is_some())
}

async fn attempt(
    app: &App,
    actor: Option<&str>,
    merchant: MerchantId,
    request: &StartReturnIn<'_>,
    key: Option<&IdempotencyKey>,
    variants: &Variants,
) -> Result<StartedReturn, StartReturnError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let order = snapshots::lock(&mut tx, &request.order_identifier.0).await?;
    // A concurrent request with the same key has committed by now: it held the order's lock.
    if let Some(key) = key
        && let Some(used) = idempotency::find(&mut tx, &key.key, now).await?
    {
        let same = used.request_hash == key.request_hash;
        return if same { Ok(StartedReturn { answer: used.answer, repeated: true }) } else { Err(StartReturnError::KeyUsed) };
    }
    let order = order.ok_or(StartReturnError::NoSuchOrder)?;
    let order = wire::orders::order::read_stored(&order.snapshot);
    let order = order.ok_or(Failed::Internal("a stored order cannot be read"))?;
    let sale = order.sale();
    let policy = return_policies::get(&mut tx).await?;
    let locked = returnable_orders::of_locked(&mut tx, &sale.identifier).await?;
    let draft = key.and_then(|key| key.draft.as_ref());
    let withdrawal = draft.and_then(|draft| draft.withdrawal.as_ref());
    let exchanges = Exchanges { standing: locked.standing, variants: variants.clone() };
    let choice = request.choice();
    let faulty = |against: &[Impossible]| {
        StartReturnError::Faulty(against.iter().map(|impossible| wire::returns::api::fault(impossible, &policy)).collect())
    };
    let case = Case {
        sale: &sale,
        policy: &policy,
        locked: &locked,
        original: locked.original.as_deref().or_else(|| order.original_order()),
        withdrawal,
        exchanges: &exchanges,
        choice: &choice,
        giftee_email: request.giftee_email.as_ref().map(|email| &*email.0),
        language: request.language.as_ref().map(|language| &*language.0),
    };
    let (chosen, mut new) = case.decide(app, now).map_err(|against| faulty(&against))?;
    if withdrawal.is_some() {
        // The law sets no end to it.
        new.wakes_at = None;
    }
    save_new(app, &mut tx, &new).await?;
    let label_ordered = locked.has_carrier && buy_label(app, &mut tx, &new, &order, 1).await?;
    let bonus = policy.gift_card.as_ref().map_or_else(Cents::default, |terms| terms.bonus);
    let exchange = match exchange::order::of(&chosen.units, bonus) {
        None => None,
        Some(contents) => match request_exchange(app, &mut tx, &new, &order, &contents, &policy).await? {
            Some(exchange) => Some(exchange),
            // The endpoint was removed in the meantime.
            None => return Err(faulty(&[Impossible::Exchange { item: 0, why: NoExchange::NotOffered }])),
        },
    };
    mail_confirmed(app, &mut tx, &new, &order, label_ordered, now).await?;
    if let Some(actor) = actor {
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: "return.started", detail: &new.identifier, done_at: now }).await?;
    }
    let label = label_ordered.then(|| rmas::shown_label(Progress { state: LabelState::Ordered, reason: None, has_code: false }));
    let shown = ReturnOut { label, ..rmas::shown(&new, exchange.as_ref()) };
    let answer = serde_json::to_string(&shown).map_err(|_| Failed::Internal("an answer could not be written"))?;
    if let Some(key) = key {
        idempotency::insert(&mut tx, &key.key, &key.request_hash, &answer, now).await?;
    }
    if let Some(draft) = draft {
        return_drafts::finish(&mut tx, draft.id, &new.identifier, now).await?;
    }
    if let Some(withdrawal) = withdrawal {
        withdrawals::set_return(&mut tx, &withdrawal.reference, &new.identifier).await?;
    }
    app.commit(tx).await?;
    Ok(StartedReturn { answer, repeated: false })
}

/// What decides on a new return.
pub(super) struct Case<'a> {
    pub(super) sale: &'a Sale,
    pub(super) policy: &'a Policy,
    pub(super) locked: &'a LockedOrder,
    /// The order that this one was exchanged for. The merchant may name it although the exchange was not arranged here.
    pub(super) original: Option<&'a str>,
    /// The statement of withdrawal whose goods come back.
    pub(super) withdrawal: Option<&'a Withdrawn>,
    pub(super) exchanges: &'a Exchanges,
    pub(super) choice: &'a Choice<'a>,
    pub(super) giftee_email: Option<&'a str>,
    pub(super) language: Option<&'a str>,
}

impl<'a> Case<'a> {
    /// The units that were chosen, and the return of them.
    pub(super) fn decide(&self, app: &App, now: DateTime<Utc>) -> Result<(Chosen<'a>, Return), Vec<Impossible>> {
        let Self { sale, policy, locked, exchanges, choice, .. } = *self;
        let mut lines = eligibility::returnable(sale, policy, &unavailable_units(&locked.claims, &locked.outside), now);
        if let Some(withdrawal) = self.withdrawal {
            eligibility::release_withdrawn(&mut lines, sale, &withdrawal.units);
        }
        let mut used: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for claim in &locked.claims {
            used.entry(&claim.line).or_default().insert(claim.unit);
        }
        let chosen = choose(sale, policy, &lines, &used, exchanges, choice)?;
        let new = make(app, self, &chosen, now);
        Ok((chosen, new))
    }
}

/// Builds the new return.
fn make(app: &App, case: &Case<'_>, chosen: &Chosen<'_>, now: DateTime<Utc>) -> Return {
    let Case { sale, policy, original, giftee_email, language, .. } = *case;
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
        original_order: original.map(ToOwned::to_owned),
        created_at: now,
        updated_at: now,
        sequence: 1,
        shipping_cost: fee,
        fee_deducted: *deducted,
        gift: *gift,
        giftee_email: giftee_email.map(ToOwned::to_owned),
        language: language.map(ToOwned::to_owned),
        cancel_reason: None,
        reminded: false,
        wakes_at: rma.may_expire().then(|| now + REMINDED_AFTER),
        items: units.iter().zip(shares.units).map(item).collect(),
        stored: None,
        rma,
    }
}
