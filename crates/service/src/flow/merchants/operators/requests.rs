//! The second person: one administrator asks for what cannot be undone, another one decides, and then it is carried out.

mod asked;
mod covers;

use domain::id::MerchantId;
use domain::merchants::operator::request::{DecideRefused, Decision, MOST_DISCARDED_ALONE, Standing, Wanted};
use domain::merchants::operator::{Operator, OperatorId, Role};
use store::Failed;
use store::merchants::operator_requests::{self, Request};
use store::merchants::operators;
use store::messages::failure_selection::Selection;
use uuid::Uuid;

pub use self::asked::Asked;
use super::audit_row::record;
use super::people::{self, Authority};
use crate::app::App;
use crate::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use crate::flow::messages::discard_failures::{Bound, DiscardFailuresError, MOST_AT_ONCE, discard_failures};
use crate::flow::node::rotate_keys::{RotateKeysError, Rotation, plan, rotate_keys};
use crate::platform::keys::Kind;

/// The most characters of a reason.
const LONGEST_REASON: usize = 500;

/// The reasons that a request is not made or decided.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("There is no such request.")]
    NoSuchRequest,
    #[error("Say why: the person who decides has to know, and it stays in the audit log.")]
    NoReason,
    #[error("Nothing is covered by this request.")]
    Nothing,
    #[error("Up to {MOST_DISCARDED_ALONE} failures can be discarded without a second person.")]
    Few,
    #[error("{}", sentence(.0))]
    Rotation(RotateKeysError),
    #[error(transparent)]
    Refused(#[from] DecideRefused),
    #[error(transparent)]
    Failed(#[from] Failed),
}

impl From<RotateKeysError> for RequestError {
    fn from(error: RotateKeysError) -> Self {
        match error {
            RotateKeysError::Failed(failed) => Self::Failed(failed),
            other => Self::Rotation(other),
        }
    }
}

/// A reason as a sentence of its own.
fn sentence(error: &RotateKeysError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

/// A reason, trimmed. `None` if it is blank.
fn reason(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect())
}

/// Asks for a second person; the audit names `actor`. Returns the id of the request.
pub async fn ask(app: &App, by: &Operator, actor: &str, asked: &Asked, why: &str) -> Result<Uuid, RequestError> {
    if !by.role.allows(Role::Admin) {
        return Err(DecideRefused::NoAdmin.into());
    }
    let why = reason(why).ok_or(RequestError::NoReason)?;
    let (wanted, merchant, things) = match asked {
        Asked::EraseShopper { merchant, orders } => {
            (Wanted::EraseShopper, Some(*merchant), i64::try_from(orders.len()).unwrap_or(i64::MAX))
        }
        Asked::DiscardFailures { merchant, count, .. } => (Wanted::DiscardFailures, Some(*merchant), *count),
        Asked::MakeAdmin(_) => (Wanted::MakeAdmin, None, 1),
        Asked::RotateKeys(_) => (Wanted::RotateKeys, None, 1),
    };
    if things == 0 {
        return Err(RequestError::Nothing);
    }
    if wanted == Wanted::DiscardFailures && things <= MOST_DISCARDED_ALONE {
        return Err(RequestError::Few);
    }
    let mut covered = covers::write(asked);
    if let Asked::MakeAdmin(id) = asked {
        let account = operators::get(app.home(), *id).await?.filter(|account| account.disabled_at.is_none());
        let operator = account.map(|account| account.operator).filter(|operator| operator.role != Role::Admin);
        covered.push(operator.ok_or(RequestError::Nothing)?.email);
    }
    // The person who decides sees which key replaces which, and that is what is carried out.
    if let Asked::RotateKeys(kind) = asked {
        let Rotation { from, to } = plan(app, *kind).await?;
        covered.extend([from, to]);
    }
    let standing = Standing { asked_by: by.id, asked_at: app.now(), decision: None };
    let request = Request {
        id: app.mint(),
        wanted,
        merchant,
        covers: covered,
        things,
        why,
        standing,
        decided_by: None,
        decided_at: None,
        reason: None,
        outcome: None,
        done_at: None,
    };
    let mut tx = app.begin_home().await?;
    operator_requests::insert(&mut tx, &request).await?;
    record(app, &mut tx, actor, "request.asked", &format!("{} {}, {things}", request.id, wanted.as_str())).await?;
    app.commit_home(tx).await?;
    Ok(request.id)
}

/// Decides on a request. What is approved is carried out at once. An approved request that was not carried out can be approved again.
pub async fn decide(app: &App, by: &Operator, actor: &str, id: Uuid, decision: Decision, why: &str) -> Result<(), RequestError> {
    let why = reason(why);
    if decision == Decision::Refused && why.is_none() {
        return Err(RequestError::NoReason);
    }
    let mut tx = app.begin_home().await?;
    let request = operator_requests::lock(&mut tx, id).await?.ok_or(RequestError::NoSuchRequest)?;
    let is_unfinished = request.standing.decision == Some(Decision::Approved) && request.done_at.is_none();
    if decision == Decision::Approved && is_unfinished && by.role.allows(Role::Admin) && by.id != request.standing.asked_by {
        drop(tx);
        return carry_out(app, &request).await;
    }
    request.standing.decide(decision, by.id, by.role, app.now())?;
    operator_requests::decide(&mut tx, id, decision, by.id, why.as_deref(), app.now()).await?;
    record(app, &mut tx, actor, &format!("request.{decision}"), &format!("{id} {}", request.wanted.as_str())).await?;
    app.commit_home(tx).await?;
    match decision {
        Decision::Approved => carry_out(app, &Request { decided_by: Some(by.id), ..request }).await,
        Decision::Refused | Decision::Withdrawn => Ok(()),
    }
}

/// Carries an approved request out, in the names of both people, and notes what came of it.
async fn carry_out(app: &App, request: &Request) -> Result<(), RequestError> {
    let (first, second) = (name_of(app, Some(request.standing.asked_by)).await?, name_of(app, request.decided_by).await?);
    let actor = format!("operator:{first} with operator:{second}");
    let asked = covers::read(request).ok_or(Failed::Internal("a stored request cannot be read"))?;
    let done = match asked {
        Asked::EraseShopper { merchant, orders } => erase(app, &actor, merchant, &orders).await,
        Asked::DiscardFailures { merchant, selection, count } => discard(app, &actor, merchant, &selection, count).await,
        Asked::MakeAdmin(id) => {
            let made = people::change_role(app, &actor, Authority::Full, id, Role::Admin).await;
            made.map(|operator| format!("{} is an administrator.", operator.name)).map_err(|error| error.to_string())
        }
        Asked::RotateKeys(kind) => rotate(app, &actor, kind, &request.covers).await,
    };
    let (outcome, done_at) = match done {
        Ok(outcome) => (outcome, Some(app.now())),
        Err(outcome) => (outcome, None),
    };
    let mut tx = app.begin_home().await?;
    operator_requests::save_outcome(&mut tx, request.id, &outcome, done_at).await?;
    let action = if done_at.is_some() { "request.carried_out" } else { "request.failed" };
    record(app, &mut tx, &actor, action, &format!("{} {}", request.id, request.wanted.as_str())).await?;
    Ok(app.commit_home(tx).await?)
}

async fn name_of(app: &App, id: Option<OperatorId>) -> Result<String, Failed> {
    let account = match id {
        Some(id) => operators::get(app.home(), id).await?,
        None => None,
    };
    Ok(account.map_or_else(|| "unknown".to_owned(), |account| account.operator.email))
}

/// Rotates the keys, if the settings still say what they said when it was asked for.
async fn rotate(app: &App, actor: &str, kind: Kind, covers: &[String]) -> Result<String, String> {
    let planned = plan(app, kind).await.map_err(|error| error.to_string())?;
    if !matches!(covers, [_, from, to] if *from == planned.from && *to == planned.to) {
        return Err("The keys of the settings have changed since it was asked for. Ask again.".to_owned());
    }
    let done = rotate_keys(app, actor, kind).await.map_err(|error| error.to_string())?;
    Ok(format!("The key {} is used instead of {}.", done.to, done.from))
}

async fn erase(app: &App, actor: &str, merchant: MerchantId, orders: &[ErasureTarget]) -> Result<String, String> {
    let app = &app.of(merchant).await.map_err(|failed| failed.to_string())?;
    let mut left = Vec::new();
    for target in orders {
        if let Err(error) = erase_shopper(app, actor, merchant, target).await {
            let (ErasureTarget::Order(order) | ErasureTarget::DropShipOrder(order)) = target;
            left.push(format!("{order}: {error}"));
        }
    }
    match (orders.len(), left.as_slice()) {
        (1, []) => Ok("The order was erased.".to_owned()),
        (count, []) => Ok(format!("{count} orders were erased.")),
        (count, left) => Err(format!("{} of {count} were erased. {}", count - left.len(), left.join("; "))),
    }
}

async fn discard(app: &App, actor: &str, merchant: MerchantId, selection: &Selection, count: i64) -> Result<String, String> {
    let app = &app.of(merchant).await.map_err(|failed| failed.to_string())?;
    let mut discarded = 0;
    while discarded < count {
        let bound = Bound { most: (count - discarded).min(MOST_AT_ONCE), expected: None };
        match discard_failures(app, actor, merchant, selection, bound).await {
            Ok(some) => discarded += i64::try_from(some).unwrap_or(i64::MAX),
            Err(DiscardFailuresError::NothingLeft) => break,
            Err(error) => return Err(format!("{discarded} were discarded, then it failed: {error}")),
        }
    }
    Ok(format!("{discarded} were discarded."))
}
