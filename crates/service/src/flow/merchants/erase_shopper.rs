//! Erases a shopper's data, one order at a time, because the operator asks for it or because the merchant's retention has ended. Owed messages must be delivered or discarded first; then personal data
//! is overwritten in place. Returns and refunds continue.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::{Interface, Internal, Kind};
use domain::orders::shopper::normal_email;
use domain::returns::rma::ExchangeState;
use domain::warehouse::drop_ship::Status;
use store::merchants::audit::{self, Entry};
use store::merchants::erasures::{self, OfOrder};
use store::merchants::retentions;
use store::merchants::suppressions::{self, Keyed};
use store::messages::{deliveries, failures};
use store::orders::snapshots;
use store::returns::{exchange_orders, return_drafts, withdrawal_drafts, withdrawal_links, withdrawals};
use store::warehouse::drop_ship_orders;
use store::{Failed, Tx};
use uuid::Uuid;
use wire::messages::message::ERASED;
use wire::warehouse::drop_ship::NOBODY;

use crate::app::App;
use crate::flow::returns::withdraw::news_subject;
use crate::show::warehouse::drop_ship;

/// The record whose personal data is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErasureTarget {
    /// An order and its returns.
    Order(String),
    DropShipOrder(String),
}

/// The number of records erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub returns: usize,
    /// Messages that had been erased before do not count.
    pub messages: u64,
}

/// The reasons nothing is erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseShopperError {
    #[error("the merchant has no such order")]
    NoSuchOrder,
    #[error(
        "messages about the order are still owed or in the failure queue ({0}); wait until they are delivered (`backhaul messages list --merchant HANDLE` shows them), or discard them with --discard"
    )]
    StillOwed(usize),
    #[error(
        "a return waits for its exchange order, which needs the shopper's address; wait until the order is placed, or once it is in the failure queue, refund the units with `backhaul returns convert-exchange --merchant HANDLE`"
    )]
    ExchangePending,
    #[error("the warehouse still has to ship part of the order and needs the shopper's address; have it shipped or cancelled first")]
    NotShipped,
    /// Only when retention ends.
    #[error("the order, a refund or a return of it was changed at {0}")]
    ChangedAt(DateTime<Utc>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The reason for an erasure.
#[derive(Clone, Copy, Debug)]
pub enum Erasure<'a> {
    /// The operator asks for it, and the audit trail says so.
    Asked { actor: &'a str },
    /// Nothing was changed since `until`. What only returns under way need is deleted too.
    RetentionEnded { until: DateTime<Utc> },
}

/// The orders of `merchant` whose shopper has this e-mail address.
pub async fn orders_of_shopper(app: &App, merchant: MerchantId, email: &str) -> Result<Vec<String>, Failed> {
    let fingerprints = app.fingerprints.emails(email);
    let (mut found, mut after) = (Vec::new(), Some(String::new()));
    while let Some(last) = after {
        let page = erasures::orders_of(app.store(merchant), merchant, &fingerprints, &last).await?;
        found.extend(page.orders);
        after = page.next;
    }
    Ok(found)
}

/// Puts a shopper on the list of those who were erased: orders that they placed until now and that arrive from now on, for the first
/// time or again, are stored without anything personal. Call it before erasing, so that none slips in between.
pub async fn suppress_shopper(app: &App, actor: &str, merchant: MerchantId, email: &str) -> Result<(), Failed> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    suppressions::suppress(&mut tx, Keyed { print: app.fingerprints.email(email), key_id: app.fingerprints.active() }, now).await?;
    let detail = app.fingerprints.audited(&normal_email(email));
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "shopper.suppressed", detail: &detail, done_at: now }).await?;
    app.commit(tx).await
}

/// Marks the owed messages of `of` to be discarded by the deliverer, and discards those in the failure queue. Returns the number
/// of messages that are still owed.
pub async fn discard_owed(app: &App, actor: &str, merchant: MerchantId, of: &ErasureTarget) -> Result<usize, EraseShopperError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let locked = LockedRecords::lock(&mut tx, of).await?;
    let outstanding = erasures::outstanding(&mut tx, &locked.messages).await?;
    let mut owed = 0;
    for message in &outstanding {
        failures::discard(&mut tx, *message).await?;
        owed += usize::from(deliveries::discard(&mut tx, *message).await?);
        let detail = message.to_string();
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: "message.discarded", detail: &detail, done_at: now }).await?;
    }
    app.commit(tx).await?;
    Ok(owed)
}

/// Overwrites the personal data of `of`, as the operator asks. A repeat changes nothing.
pub async fn erase_shopper(app: &App, actor: &str, merchant: MerchantId, of: &ErasureTarget) -> Result<Erased, EraseShopperError> {
    erase(app, merchant, of, Erasure::Asked { actor }).await
}

/// Overwrites the personal data of `of`.
pub(super) async fn erase(app: &App, merchant: MerchantId, of: &ErasureTarget, why: Erasure<'_>) -> Result<Erased, EraseShopperError> {
    let mut tx = app.begin(merchant).await?;
    let locked = LockedRecords::lock(&mut tx, of).await?;
    if let (Erasure::RetentionEnded { until }, Record::Order { identifier, .. }) = (why, &locked.record) {
        let changed = retentions::last_change(&mut tx, identifier).await?;
        if let Some(at) = changed.filter(|at| *at > until) {
            return Err(EraseShopperError::ChangedAt(at));
        }
    }
    let messages = erasures::erase_messages(&mut tx, &locked.messages, ERASED).await?;
    // Checked last, after waiting for concurrent retries of these messages.
    let outstanding = erasures::outstanding(&mut tx, &locked.messages).await?;
    if !outstanding.is_empty() {
        return Err(EraseShopperError::StillOwed(outstanding.len()));
    }
    match &locked.record {
        Record::Order { identifier, snapshot } => {
            let snapshot = wire::orders::order::erased(snapshot).ok_or(Failed::Internal("a stored order cannot be read"))?;
            // What ended by its age is kept anew if the merchant sends it again; whoever asked to be erased stays erased.
            let erased_at = match why {
                Erasure::Asked { .. } => Some(app.now()),
                Erasure::RetentionEnded { .. } => None,
            };
            erasures::erase_order(&mut tx, identifier, &snapshot, erased_at).await?;
            return_drafts::erase(&mut tx, identifier).await?;
            withdrawal_drafts::erase(&mut tx, identifier).await?;
            withdrawal_links::forget_of(&mut tx, identifier).await?;
            withdrawals::erase(&mut tx, identifier).await?;
            erasures::erase_returns(&mut tx, &locked.returns).await?;
        }
        Record::DropShipOrder { id, content } => erasures::erase_drop_ship_order(&mut tx, *id, content, NOBODY).await?,
    }
    match why {
        Erasure::Asked { actor } => {
            let (action, detail) = match of {
                ErasureTarget::Order(order) => ("order.erased", order),
                ErasureTarget::DropShipOrder(order) => ("drop_ship_order.erased", order),
            };
            audit::record(&mut tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await?;
        }
        Erasure::RetentionEnded { .. } => retentions::forget_transport(&mut tx, &locked.returns).await?,
    }
    app.commit(tx).await?;
    Ok(Erased { returns: locked.returns.len(), messages })
}

/// The stored records of a shopper's order, locked.
struct LockedRecords {
    record: Record,
    returns: Vec<OfOrder>,
    messages: Vec<Uuid>,
}

enum Record {
    Order { identifier: String, snapshot: String },
    DropShipOrder { id: Uuid, content: String },
}

impl LockedRecords {
    /// Locks the order and its returns, so that no new messages are owed for them, and finds the existing messages.
    async fn lock(tx: &mut Tx, of: &ErasureTarget) -> Result<Self, EraseShopperError> {
        let (record, returns, on) = match of {
            ErasureTarget::Order(order) => {
                let stored = snapshots::lock(tx, order).await?.ok_or(EraseShopperError::NoSuchOrder)?;
                let returns = erasures::lock_returns(tx, order).await?;
                // Discarding its message would leave the return waiting forever.
                let exchange = exchange_orders::lock(tx, order).await?;
                if exchange.is_some_and(|exchange| exchange.state == ExchangeState::Pending) {
                    return Err(EraseShopperError::ExchangePending);
                }
                // Whoever confirms a statement right now comes first, so that it is among those below.
                withdrawal_drafts::lock_of_order(tx, order).await?;
                let withdrawals = withdrawals::references(tx, order).await?;
                let on = of_order(order, &returns, withdrawals);
                (Record::Order { identifier: stored.identifier, snapshot: stored.snapshot }, returns, on)
            }
            ErasureTarget::DropShipOrder(order) => {
                let stored = drop_ship_orders::lock(tx, order).await?.ok_or(EraseShopperError::NoSuchOrder)?;
                match stored.order.status() {
                    Status::Accepted | Status::PartiallyShipped => return Err(EraseShopperError::NotShipped),
                    Status::Shipped | Status::Cancelled | Status::Rejected => {}
                }
                let content = drop_ship::written(&drop_ship::content(&stored)?.erased())?;
                (Record::DropShipOrder { id: stored.id, content }, Vec::new(), of_drop_ship_order(order))
            }
        };
        let on: Vec<(Kind, &str)> = on.iter().map(|(kind, subject)| (*kind, subject.as_str())).collect();
        let messages = erasures::messages(tx, &on).await?;
        Ok(Self { record, returns, messages })
    }
}

/// The kinds and subjects of the messages on an order, its returns and withdrawals. A subject alone is not unique.
pub(super) fn of_order(order: &str, returns: &[OfOrder], withdrawals: Vec<String>) -> Vec<(Kind, String)> {
    let kinds = [
        Kind::Of(Interface::Rma),
        Kind::Internal(Internal::Label),
        Kind::Internal(Internal::LabelCode),
        Kind::Internal(Internal::LabelVoid),
        Kind::Internal(Internal::Mail),
    ];
    let of_returns = returns.iter().flat_map(|of_order| kinds.map(|kind| (kind, of_order.identifier.clone())));
    // Mails with links to the order have its number as their subject.
    let of_order = [Kind::Of(Interface::ExchangeOrder), Kind::Internal(Internal::Mail)];
    let of_withdrawals = withdrawals.into_iter().flat_map(|reference| {
        let news = news_subject(&reference);
        [reference, news].map(|subject| (Kind::Internal(Internal::Mail), subject))
    });
    of_returns.chain(of_order.map(|kind| (kind, order.to_owned()))).chain(of_withdrawals).collect()
}

fn of_drop_ship_order(order: &str) -> Vec<(Kind, String)> {
    let interfaces = [Interface::DropShipmentConfirmation, Interface::DropShipmentCancellation, Interface::DropShipmentPartialCancellation];
    interfaces.map(|interface| (Kind::Of(interface), order.to_owned())).into()
}
