//! Keeps a shopper's answers while they put a return together, and starts it when they confirm.

use domain::id::MerchantId;
use sha2::{Digest as _, Sha256};
use store::Failed;
use store::returns::return_drafts::{self, Draft};
use wire::returns::draft::Answers;

use super::start_return::{ConfirmedDraft, IdempotencyKey, StartReturnError, start_return};
use crate::app::App;
use crate::platform::metrics::PortalStep;

/// The reasons a draft cannot be confirmed.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmDraftError {
    #[error("not every question is answered")]
    Unanswered,
    #[error(transparent)]
    Start(#[from] StartReturnError),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Saves the answers to the open draft of an order. With `owner`, no other session sees them.
pub async fn save_answers(app: &App, merchant: MerchantId, order: &str, answers: &Answers, owner: Option<&[u8]>) -> Result<(), Failed> {
    return_drafts::save(app.store(merchant), merchant, app.mint(), order, &answers.write(), owner, app.now()).await
}

/// Starts the return that a draft describes, once, however often it is called. `actor` is whoever does it for the shopper. Returns its
/// identifier.
pub async fn confirm_draft(app: &App, actor: Option<&str>, merchant: MerchantId, draft: &Draft) -> Result<String, ConfirmDraftError> {
    let answers = Answers::read(&draft.answers);
    let body = answers.request(&draft.order).ok_or(ConfirmDraftError::Unanswered)?;
    let request = wire::returns::api::read(body.as_bytes()).map_err(|_| Failed::Internal("a draft became an unreadable request"))?;
    let key = IdempotencyKey {
        key: format!("portal-{}", draft.id.simple()),
        request_hash: Sha256::digest(&body).into(),
        draft: Some(ConfirmedDraft { id: draft.id, withdrawal: answers.withdrawal }),
    };
    let started = start_return(app, actor, merchant, &request, Some(&key)).await;
    match &started {
        Ok(started) if !started.repeated => app.metrics.pages.stepped(PortalStep::ReturnConfirmed),
        Err(StartReturnError::NoSuchOrder | StartReturnError::Faulty(_)) => app.metrics.pages.stepped(PortalStep::ReturnRefused),
        Ok(_) | Err(StartReturnError::KeyUsed | StartReturnError::Options(_) | StartReturnError::Failed(_)) => {}
    }
    Ok(started?.identifier()?)
}
