//! A message is tried again by hand: the same id and bytes, in a lane of its own.

use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::{failures, retries};
use store::returns::exchange_orders;
use uuid::Uuid;

use crate::app::App;

/// What a retry came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retried {
    /// The number of the attempt that follows, as the receiver is told.
    pub attempt: i16,
    /// Whether newer messages of its subject were delivered meanwhile.
    pub overtaken: bool,
}

impl Retried {
    /// What whoever retries should know.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        if self.overtaken {
            Some("Newer messages of this subject were delivered meanwhile; a receiver that goes by the sequence leaves this one unapplied.")
        } else {
            None
        }
    }
}

/// Why a message is not tried again.
#[derive(Debug, thiserror::Error)]
pub enum RetryMessageError {
    /// The merchant has no such message.
    #[error("the merchant has no message {0}; messages are kept for 30 days, and failed ones until they are resolved")]
    NoSuchMessage(Uuid),
    /// It is still to be delivered.
    #[error("the message is still owed: it is tried again by itself")]
    StillOwed,
    /// Nobody takes it.
    #[error("the merchant has no endpoint for {0}; `backhaul endpoint set` makes one, then try again")]
    NoEndpoint(Kind),
    /// It is a trial.
    #[error("a trial is not tried again; `backhaul endpoint test` sends a new one")]
    Trial,
    /// What it said is gone.
    #[error(
        "the message was erased with the shopper's data and cannot be sent again; `backhaul returns resend` tells how the return stands now"
    )]
    Erased,
    /// Its units are refunded instead.
    #[error("the exchange was turned into refunds; placing the order now would give the shopper both")]
    Converted,
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Who wants a message tried again.
#[derive(Clone, Copy, Debug)]
pub enum Asker<'a> {
    /// The merchant, which knows nothing of work of our own.
    Merchant,
    /// Somebody of the operator's.
    Operator(&'a str),
}

/// Owes `message` once more.
pub async fn retry_message(app: &App, asker: Asker<'_>, merchant: MerchantId, message: Uuid) -> Result<Retried, RetryMessageError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    // Whoever erases or withdraws it at the same time goes first, or waits.
    retries::hold(&mut tx, message).await?;
    failures::hold(&mut tx, message).await?;
    let candidate = retries::find(&mut tx, message).await?.ok_or(RetryMessageError::NoSuchMessage(message))?;
    let kind = candidate.kind.parse().map_err(|_| Failed::Internal("a stored kind is unknown"))?;
    let actor = match (kind, asker) {
        (Kind::EndpointTest, _) => return Err(RetryMessageError::Trial),
        (Kind::Internal(_), Asker::Merchant) => return Err(RetryMessageError::NoSuchMessage(message)),
        (Kind::Of(_), Asker::Merchant) => "merchant",
        (Kind::Of(_) | Kind::Internal(_), Asker::Operator(actor)) => actor,
    };
    if candidate.erased {
        return Err(RetryMessageError::Erased);
    }
    let endpoint = retries::endpoint(&mut tx, kind.as_str()).await?.ok_or(RetryMessageError::NoEndpoint(kind))?;
    let signal = retries::insert(&mut tx, message, &candidate, endpoint, now).await?.ok_or(RetryMessageError::StillOwed)?;
    // Looked at last: whoever converts it at the same time has been waited for.
    if kind == Kind::Of(Interface::ExchangeOrder)
        && exchange_orders::of_message(&mut tx, message).await?.is_some_and(|exchange| exchange.state == ExchangeState::Converted)
    {
        return Err(RetryMessageError::Converted);
    }
    let detail = message.to_string();
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "message.retried", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    app.signal(signal);
    Ok(Retried { attempt: candidate.attempts.saturating_add(1), overtaken: candidate.overtaken })
}
