//! Messages to merchants' systems: `/v1/messages`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use domain::messages::message::{Kind, NoInterface};
use store::messages::attempts::{self, MOST_LISTED};
use store::messages::log;
use store::messages::message_pages::{self, Filter};
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::messages::message::{
    AttemptsQuery, MOST_MESSAGES, MessageListed, MessageOut, MessageRetried, MessageState, Messages, MessagesQuery,
};
use wire::time;

use crate::app::App;
use crate::flow::messages::retry_message::{Asker, MOST_ATTEMPTS, RetryMessageError, retry_message};
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, Exceeded};
use crate::http::path::Named;
use crate::http::rate;
use crate::node::shares::Full;
use crate::show::messages::deliveries;

/// List messages.
///
/// The messages that were sent to your systems or are owed to them, newest first. A page looks at a bounded number of messages,
/// so with filters it can be short or even empty while `has_more` is true: continue with `next_before`.
#[utoipa::path(
    get,
    path = "/v1/messages",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    params(MessagesQuery),
    responses(
        (status = 200, description = "A page of messages.", body = Messages),
        (status = 400, description = "A filter, `before` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    query: Result<Query<MessagesQuery>, QueryRejection>,
) -> Result<Json<Messages>, ApiError> {
    let Query(query) = query.map_err(|_| {
        ApiError::BadQuery(format!("state must be owed, failed, discarded, unsent or delivered, and limit between 1 and {MOST_MESSAGES}"))
    })?;
    let (filter, before) = filter(&query)?;
    let page = message_pages::list(app.store(caller.merchant), caller.merchant, &filter, before, query.limit as usize).await?;
    Ok(Json(Messages {
        messages: page
            .messages
            .into_iter()
            .map(|message| MessageListed {
                message_id: message.id.to_string(),
                created_at: time::write(message.written_at()),
                state: deliveries::state(message.state),
                interface: message.kind,
                event: message.event,
                subject: message.subject,
                sequence: message.sequence,
            })
            .collect(),
        has_more: page.next.is_some(),
        next_before: page.next.map(|next| next.to_string()),
    }))
}

/// Reads a query: the filter, and the id before which the page begins.
fn filter(query: &MessagesQuery) -> Result<(Filter, Option<Uuid>), ApiError> {
    let bad = |why: &str| ApiError::BadQuery(why.to_owned());
    if !(1..=MOST_MESSAGES).contains(&query.limit) {
        return Err(ApiError::BadQuery(format!("limit must be between 1 and {MOST_MESSAGES}")));
    }
    // PostgreSQL refuses even to compare with a NUL.
    if query.subject.as_ref().is_some_and(|subject| subject.contains('\0')) {
        return Err(bad("subject contains a NUL, which no subject does"));
    }
    let kind = query.interface.as_ref().map(|interface| match interface.parse() {
        Ok(kind @ (Kind::Of(_) | Kind::EndpointTest)) => Ok(kind),
        Ok(Kind::Internal(_)) => Err(bad(&NoInterface.to_string())),
        Err(unknown) => Err(bad(&unknown.to_string())),
    });
    let time = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => time::read(text).map(Some).ok_or_else(|| bad("from and to must be times such as 2026-03-01T12:00:00Z")),
    };
    let before = query.before.as_ref().map(|before| before.parse().map_err(|_| bad("before must be the next_before of another page")));
    let filter = Filter {
        subject: query.subject.clone(),
        kind: kind.transpose()?.map(|kind| kind.as_str().to_owned()),
        event: query.event.clone(),
        state: query.state.map(stored),
        from: time(&query.from)?,
        to: time(&query.to)?,
    };
    Ok((filter, before.transpose()?))
}

const fn stored(state: MessageState) -> log::State {
    match state {
        MessageState::Owed => log::State::Owed,
        MessageState::Failed => log::State::Failed,
        MessageState::Discarded => log::State::Discarded,
        MessageState::Unsent => log::State::Unsent,
        MessageState::Delivered => log::State::Delivered,
    }
}

/// Show a message.
///
/// Its body, its state and its delivery attempts, in pages: to read on, set `attempts_after` to the `attempts_next_after` of the
/// answer.
#[utoipa::path(
    get,
    path = "/v1/messages/{message_id}",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    params(("message_id" = String, Path, description = "The message's id, as sent in the header `webhook-id`."), AttemptsQuery),
    responses(
        (status = 200, description = "The message.", body = MessageOut),
        (status = 400, description = "`attempts_after` or `attempts_limit` is invalid.", body = ErrorBody),
        (status = 404, description = "The merchant has no such message.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Merchant,
    Named(id): Named<Uuid>,
    query: Result<Query<AttemptsQuery>, QueryRejection>,
) -> Result<Json<MessageOut>, ApiError> {
    let bad = || ApiError::BadQuery(format!("attempts_after must be from another page, and attempts_limit between 1 and {MOST_LISTED}"));
    let Query(AttemptsQuery { attempts_after, attempts_limit }) = query.map_err(|_| bad())?;
    let after = attempts_after.map(|cursor| deliveries::read_place(&cursor).ok_or_else(bad)).transpose()?;
    if !(1..=MOST_LISTED).contains(&attempts_limit) {
        return Err(bad());
    }
    let found = log::find(app.store(caller.merchant), caller.merchant, id).await?;
    let found = found.filter(|found| !found.kind.parse().is_ok_and(Kind::is_internal)).ok_or(ApiError::NotFound)?;
    let attempts = attempts::page(app.store(caller.merchant), caller.merchant, id, after, attempts_limit).await?;
    Ok(Json(deliveries::message(found, attempts)))
}

/// Retry a message.
///
/// Sends the message once more: the same id and bytes, with a fresh round of attempts whose numbers continue. It works for
/// messages in the failure queue, and for delivered ones as long as they are kept. A message that is still owed is retried
/// automatically. After 20 attempts within an hour, a message has to wait: 429 says how long.
#[utoipa::path(
    post,
    path = "/v1/messages/{message_id}/retry",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    params(("message_id" = String, Path, description = "The message's id, as sent in the header `webhook-id`.")),
    responses(
        (status = 202, description = "The message is owed again, and due at once.", body = MessageRetried),
        (status = 404, description = "The merchant has no such message.", body = ErrorBody),
        (status = 409, description = "The message is still owed, has no endpoint, is an endpoint test, or its exchange was converted into refunds.", body = ErrorBody),
        (status = 410, description = "The content of the message is gone: it was erased with the shopper's data, or is missing.", body = ErrorBody),
    )
)]
pub(crate) async fn retry(
    State(app): State<App>,
    caller: Merchant,
    Named(id): Named<Uuid>,
) -> Result<(StatusCode, Json<MessageRetried>), ApiError> {
    let retried = retry_message(&app, Asker::Merchant, caller.merchant, id).await.map_err(|error| match error {
        RetryMessageError::NoSuchMessage(_) => ApiError::NotFound,
        RetryMessageError::StillOwed => {
            ApiError::Conflict("The message is still owed and is retried automatically. Wait for its next attempt.".to_owned())
        },
        RetryMessageError::NoEndpoint(kind) => {
            ApiError::Conflict(format!("There is no endpoint for {kind}. Ask the operator to set one, then try again."))
        }
        RetryMessageError::Trial => {
            ApiError::Conflict("An endpoint test cannot be retried. Ask the operator to send a new one.".to_owned())
        },
        RetryMessageError::Erased => ApiError::Gone(
            "The content of the message is gone (erased with the shopper's data, or missing), so it cannot be sent again. POST /v1/returns/{rma_identifier}/resend sends the current state of a return.",
        ),
        RetryMessageError::Converted => {
            ApiError::Conflict(
                "The exchange was converted into refunds, so its order must not be placed: the shopper would get both.".to_owned(),
            )
        }
        RetryMessageError::Replaced => ApiError::Conflict(
            "The exchange order was sent to another address since, with a message of its own. Retry that one instead.".to_owned(),
        ),
        RetryMessageError::TooOften { retry_after } => {
            rate::full(&app, [Exceeded::AttemptsAtMessage; 2], Full::ForOne(MOST_ATTEMPTS.into()), retry_after)
        }
        RetryMessageError::Failed(failed) => failed.into(),
    })?;
    let warning = retried.warning().map(ToOwned::to_owned);
    Ok((StatusCode::ACCEPTED, Json(MessageRetried { message_id: id.to_string(), attempt: retried.attempt, warning })))
}
