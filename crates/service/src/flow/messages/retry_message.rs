//! Retries a single message by hand, with the same id and bytes, in a lane of its own.

use chrono::TimeDelta;
use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use domain::returns::rma::ExchangeState;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::{attempts, failures, retries};
use store::returns::exchange_orders;
use uuid::Uuid;

use crate::app::App;

/// The result of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retried {
    /// The number of the next attempt, as the receiver sees it.
    pub attempt: i16,
    /// Newer messages on the same subject have been delivered since.
    pub overtaken: bool,
}

impl Retried {
    /// A warning for the caller, if there is one.
    #[must_use]
    pub const fn warning(self) -> Option<&'static str> {
        if self.overtaken {
            Some("Newer messages on this subject have been delivered since; a receiver that checks the sequence will not apply this one.")
        } else {
            None
        }
    }
}

/// The reasons a message cannot be retried.
#[derive(Debug, thiserror::Error)]
pub enum RetryMessageError {
    #[error("the merchant has no message {0}; messages are kept for 30 days, failed ones until they are resolved")]
    NoSuchMessage(Uuid),
    #[error("the message is still owed and is retried automatically")]
    StillOwed,
    #[error("the merchant has no endpoint for {0}; add one with `backhaul endpoint set --merchant HANDLE`, then try again")]
    NoEndpoint(Kind),
    #[error("a test message cannot be retried; send a new one with `backhaul endpoint test --merchant HANDLE`")]
    Trial,
    #[error(
        "the content of the message is gone (erased with the shopper's data, or missing), so it cannot be sent again; `backhaul returns resend --merchant HANDLE` sends the current state of a return"
    )]
    Erased,
    #[error("the exchange was converted into refunds; placing the order now would give the shopper both")]
    Converted,
    #[error("the exchange order was sent to another address since, with a message of its own; this one would send it to the old address")]
    Replaced,
    /// Carries the seconds until the next retry is possible.
    #[error("there were {MOST_ATTEMPTS} attempts at this message within the last hour; try again in {retry_after} s")]
    TooOften { retry_after: u32 },
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The attempts at one message within an hour, automatic ones included, after which it cannot be retried by hand.
pub const MOST_ATTEMPTS: u32 = 20;

/// The party that asks for the retry.
#[derive(Clone, Copy, Debug)]
pub enum Asker<'a> {
    /// A merchant never sees internal messages (labels, mails).
    Merchant,
    /// The operator's name for the audit log.
    Operator(&'a str),
}

/// Owes `message` once more.
pub async fn retry_message(app: &App, asker: Asker<'_>, merchant: MerchantId, message: Uuid) -> Result<Retried, RetryMessageError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    // A concurrent conversion, erasure or withdrawal either goes first or waits.
    let exchange = exchange_orders::hold(&mut tx, message).await?;
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
    if exchange == Some(ExchangeState::Converted) {
        return Err(RetryMessageError::Converted);
    }
    if exchange.is_none() && kind == Kind::Of(Interface::ExchangeOrder) {
        return Err(RetryMessageError::Replaced);
    }
    let hour = TimeDelta::hours(1);
    if let Some(began) = attempts::nth_newest(&mut tx, message, now - hour, MOST_ATTEMPTS).await? {
        let wait = (began + hour - now).num_milliseconds().max(1);
        return Err(RetryMessageError::TooOften { retry_after: u32::try_from((wait + 999) / 1_000).unwrap_or(u32::MAX) });
    }
    let endpoint = retries::endpoint(&mut tx, kind.as_str()).await?.ok_or(RetryMessageError::NoEndpoint(kind))?;
    let signal = retries::insert(&mut tx, message, &candidate, endpoint, now).await?.ok_or(RetryMessageError::StillOwed)?;
    let detail = message.to_string();
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "message.retried", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    app.signal(signal);
    Ok(Retried { attempt: candidate.attempts.saturating_add(1), overtaken: candidate.overtaken })
}
