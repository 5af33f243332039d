//! Messages to merchants' systems: `/v1/messages`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use domain::messages::message::{Kind, NoInterface};
use store::messages::attempts;
use store::messages::log;
use store::messages::message_pages::{self, Filter};
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::messages::message::{MessageListed, MessageOut, MessageRetried, MessageState, Messages, MessagesQuery};
use wire::page::PageQuery;
use wire::time;

use crate::app::App;
use crate::flow::messages::retry_message::{Asker, MOST_ATTEMPTS, RetryMessageError, retry_message};
use crate::http::caller::Merchant;
use crate::http::error::{ApiError, Exceeded};
use crate::http::page::{Page, identifier};
use crate::http::path::Named;
use crate::http::rate;
use crate::node::shares::Full;
use crate::show::messages::deliveries;

/// List messages.
///
/// The messages that were sent to your systems or are owed to them, newest first. A page looks at a bounded number of messages,
/// so with filters it can be short or even empty while `next` is not null.
#[utoipa::path(
    get,
    path = "/v1/messages",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    params(MessagesQuery, PageQuery),
    responses(
        (status = 200, description = "A page of messages.", body = Messages),
        (status = 400, description = "A filter, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    page: Page,
    query: Result<Query<MessagesQuery>, QueryRejection>,
) -> Result<Json<Messages>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery("state must be owed, failed, discarded, unsent or delivered".to_owned()))?;
    let filter = filter(&query)?;
    let found = message_pages::list(app.store(caller.merchant), caller.merchant, &filter, page.place()?, page.limit as usize).await?;
    Ok(Json(Messages {
        items: found
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
        next: found.next.map(|next| next.to_string()),
    }))
}

/// Reads the filter of a query.
fn filter(query: &MessagesQuery) -> Result<Filter, ApiError> {
    let bad = |why: &str| ApiError::BadQuery(why.to_owned());
    identifier(query.subject.as_deref())?;
    let kind = query.interface.as_ref().map(|interface| match interface.parse() {
        Ok(kind @ (Kind::Of(_) | Kind::EndpointTest)) => Ok(kind),
        Ok(Kind::Internal(_)) => Err(bad(&NoInterface.to_string())),
        Err(unknown) => Err(bad(&unknown.to_string())),
    });
    let time = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => time::read(text).map(Some).ok_or_else(|| bad("from and to must be times such as 2026-03-01T12:00:00Z")),
    };
    Ok(Filter {
        subject: query.subject.clone(),
        kind: kind.transpose()?.map(|kind| kind.as_str().to_owned()),
        event: query.event.clone(),
        state: query.state.map(stored),
        from: time(&query.from)?,
        to: time(&query.to)?,
    })
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
/// Its body, its state and a page of its delivery attempts: to read on, set `cursor` to the `next` of `attempts`.
#[utoipa::path(
    get,
    path = "/v1/messages/{message_id}",
    tag = "messages",
    security(("oauth2" = ["orders"])),
    params(("message_id" = String, Path, description = "The message's id, as sent in the header `webhook-id`."), PageQuery),
    responses(
        (status = 200, description = "The message.", body = MessageOut),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
        (status = 404, description = "The merchant has no such message.", body = ErrorBody),
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Merchant,
    Named(id): Named<Uuid>,
    page: Page,
) -> Result<Json<MessageOut>, ApiError> {
    let after = page.after(deliveries::read_place)?;
    let found = log::find(app.store(caller.merchant), caller.merchant, id).await?;
    let found = found.filter(|found| !found.kind.parse().is_ok_and(Kind::is_internal)).ok_or(ApiError::NotFound)?;
    let attempts = attempts::page(app.store(caller.merchant), caller.merchant, id, after, page.limit).await?;
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
