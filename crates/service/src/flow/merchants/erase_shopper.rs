//! The operator erases a shopper: what is owed is delivered or discarded first, then what is personal is overwritten where it
//! stands, an order at a time. Returns and refunds go on.

use domain::id::MerchantId;
use domain::messages::message::{Interface, Internal, Kind};
use domain::returns::rma::ExchangeState;
use domain::warehouse::drop_ship::Status;
use store::merchants::audit::{self, Entry};
use store::merchants::erasures::{self, OfOrder};
use store::messages::{deliveries, failures};
use store::orders::snapshots;
use store::returns::exchange_orders;
use store::warehouse::drop_ship_orders;
use store::{Failed, Tx};
use uuid::Uuid;
use wire::messages::message::ERASED;
use wire::warehouse::drop_ship::NOBODY;

use crate::app::App;
use crate::show::warehouse::drop_ship;

/// Where a shopper's data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// An order, with its returns.
    Order(String),
    /// A drop-ship order.
    DropShipOrder(String),
}

/// What was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// How many returns.
    pub returns: usize,
    /// How many messages that were not erased before.
    pub messages: u64,
}

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseShopperError {
    /// There is no such order.
    #[error("the merchant has no such order")]
    NoSuchOrder,
    /// Something of it is still to be delivered, or can still be tried again.
    #[error(
        "{0} messages on it are still owed or in the failure queue; let them be delivered (`backhaul messages list --subject`), or say --discard"
    )]
    Owed(usize),
    /// A return waits for its exchange order.
    #[error(
        "a return waits for its exchange order, which needs the shopper's address; let it be placed, or once it is given up, refund its units by `backhaul returns convert-exchange`"
    )]
    Exchange,
    /// The warehouse has still to ship it.
    #[error("the warehouse has still to ship some of it, which needs the shopper's address; have it shipped or cancelled first")]
    Open,
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The orders of `merchant` whose shopper has this e-mail address.
pub async fn orders_of_shopper(app: &App, merchant: MerchantId, email: &str) -> Result<Vec<String>, Failed> {
    let fingerprint = app.fingerprints.email(email);
    let (mut found, mut after) = (Vec::new(), Some(String::new()));
    while let Some(last) = after {
        let page = erasures::orders_of(app.store(merchant), merchant, &fingerprint, &last).await?;
        found.extend(page.orders);
        after = page.next;
    }
    Ok(found)
}

/// Asks for what is owed on it to be discarded, and takes what was given up out of the failure queue. Answers how many messages
/// are still owed: whoever delivers carries it out.
pub async fn discard_owed(app: &App, actor: &str, merchant: MerchantId, of: &Of) -> Result<usize, EraseShopperError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let kept = Kept::lock(&mut tx, of).await?;
    let outstanding = erasures::outstanding(&mut tx, &kept.messages).await?;
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

/// Overwrites what is personal of it. The second time nothing is left to do.
pub async fn erase_shopper(app: &App, actor: &str, merchant: MerchantId, of: &Of) -> Result<Erased, EraseShopperError> {
    let mut tx = app.begin(merchant).await?;
    let kept = Kept::lock(&mut tx, of).await?;
    let messages = erasures::erase_messages(&mut tx, &kept.messages, ERASED).await?;
    // Looked at last: whoever tries one of them again at the same time has been waited for.
    let outstanding = erasures::outstanding(&mut tx, &kept.messages).await?;
    if !outstanding.is_empty() {
        return Err(EraseShopperError::Owed(outstanding.len()));
    }
    match &kept.what {
        What::Order { identifier, snapshot } => {
            let snapshot = wire::orders::order::erased(snapshot).ok_or_else(|| Failed::Internal("a stored order cannot be read"))?;
            erasures::erase_order(&mut tx, identifier, &snapshot).await?;
            erasures::erase_returns(&mut tx, &kept.returns).await?;
        }
        What::DropShipOrder { id, content } => erasures::erase_drop_ship_order(&mut tx, *id, content, NOBODY).await?,
    }
    let (action, detail) = match of {
        Of::Order(order) => ("order.erased", order),
        Of::DropShipOrder(order) => ("drop_ship_order.erased", order),
    };
    audit::record(&mut tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await?;
    app.commit(tx).await?;
    Ok(Erased { returns: kept.returns.len(), messages })
}

/// What is kept of a shopper's order, locked.
struct Kept {
    what: What,
    returns: Vec<OfOrder>,
    messages: Vec<Uuid>,
}

enum What {
    Order { identifier: String, snapshot: String },
    DropShipOrder { id: Uuid, content: String },
}

impl Kept {
    /// Locks the order and its returns, so that nothing new is said of them, and finds what was.
    async fn lock(tx: &mut Tx, of: &Of) -> Result<Self, EraseShopperError> {
        let (what, returns, on) = match of {
            Of::Order(order) => {
                let stored = snapshots::lock(tx, order).await?.ok_or(EraseShopperError::NoSuchOrder)?;
                let returns = erasures::lock_returns(tx, order).await?;
                // Discarding its message would leave the return waiting for ever.
                let exchange = exchange_orders::lock(tx, order).await?;
                if exchange.is_some_and(|exchange| exchange.state == ExchangeState::Pending) {
                    return Err(EraseShopperError::Exchange);
                }
                let on = of_order(order, &returns);
                (What::Order { identifier: stored.identifier, snapshot: stored.snapshot }, returns, on)
            }
            Of::DropShipOrder(order) => {
                let stored = drop_ship_orders::lock(tx, order).await?.ok_or(EraseShopperError::NoSuchOrder)?;
                match stored.order.status() {
                    Status::Accepted | Status::PartiallyShipped => return Err(EraseShopperError::Open),
                    Status::Shipped | Status::Cancelled | Status::Rejected => {}
                }
                let content = drop_ship::written(&drop_ship::content(&stored)?.erased())?;
                (What::DropShipOrder { id: stored.id, content }, Vec::new(), of_drop_ship_order(order))
            }
        };
        let on: Vec<(Kind, &str)> = on.iter().map(|(kind, subject)| (*kind, subject.as_str())).collect();
        let messages = erasures::messages(tx, &on).await?;
        Ok(Self { what, returns, messages })
    }
}

/// The kinds of messages on an order and its returns, each with its subject. Other things of a merchant may have the same name.
fn of_order(order: &str, returns: &[OfOrder]) -> Vec<(Kind, String)> {
    let kinds =
        [Kind::Of(Interface::Rma), Kind::Internal(Internal::Label), Kind::Internal(Internal::LabelVoid), Kind::Internal(Internal::Mail)];
    let of_returns = returns.iter().flat_map(|of_order| kinds.map(|kind| (kind, of_order.identifier.clone())));
    of_returns.chain([(Kind::Of(Interface::ExchangeOrder), order.to_owned())]).collect()
}

fn of_drop_ship_order(order: &str) -> Vec<(Kind, String)> {
    let interfaces = [Interface::DropShipmentConfirmation, Interface::DropShipmentCancellation, Interface::DropShipmentPartialCancellation];
    interfaces.map(|interface| (Kind::Of(interface), order.to_owned())).into()
}
