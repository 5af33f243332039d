//! The operator's people work on the failure queue: who does, what they know, whom they told, and what is given up for good.

use domain::id::MerchantId;
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::failures::Work;
use store::messages::{deliveries, failures};
use store::returns::exchange_orders;
use uuid::Uuid;

use crate::app::App;

/// Why nothing was noted down.
#[derive(Debug, thiserror::Error)]
pub enum WorkOnFailureError {
    /// It is not there, or done with.
    #[error("the failure queue has no message {0} to work on; `backhaul failures list` shows those that there are")]
    NotInQueue(Uuid),
    /// Its return waits for it.
    #[error("a return waits for this exchange order; `backhaul returns convert-exchange` refunds its units, which discards it")]
    Exchange,
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// What is done about an entry.
#[derive(Clone, Debug)]
pub enum Deed {
    /// Somebody works on it.
    Owned(String),
    /// Something is worth knowing.
    Noted(String),
    /// The merchant's technical contact was told.
    Contacted,
    /// It is given up for good.
    Discarded,
}

impl Deed {
    const fn action(&self) -> &'static str {
        match self {
            Self::Owned(_) => "failure.owned",
            Self::Noted(_) => "failure.noted",
            Self::Contacted => "failure.contacted",
            Self::Discarded => "failure.discarded",
        }
    }
}

/// Notes down what is done about the entry of `message`.
pub async fn work_on_failure(app: &App, actor: &str, merchant: MerchantId, message: Uuid, deed: Deed) -> Result<(), WorkOnFailureError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let action = deed.action();
    let done = match deed {
        Deed::Owned(owner) => failures::save(&mut tx, message, &Work { owner: Some(owner), ..Work::default() }).await?,
        Deed::Noted(note) => failures::save(&mut tx, message, &Work { note: Some(note), ..Work::default() }).await?,
        Deed::Contacted => failures::save(&mut tx, message, &Work { contacted_at: Some(now), ..Work::default() }).await?,
        Deed::Discarded => {
            let exchange = exchange_orders::of_message(&mut tx, message).await?;
            if exchange.is_some_and(|exchange| exchange.state == ExchangeState::Pending) {
                return Err(WorkOnFailureError::Exchange);
            }
            let discarded = failures::discard(&mut tx, message).await?;
            // If it is being tried again, that ends too.
            if discarded {
                deliveries::discard(&mut tx, message).await?;
            }
            discarded
        }
    };
    if !done {
        return Err(WorkOnFailureError::NotInQueue(message));
    }
    let detail = message.to_string();
    audit::record(&mut tx, Entry { id: app.mint(), actor, action, detail: &detail, done_at: now }).await?;
    Ok(app.commit(tx).await?)
}
