//! Notices: when the health of an endpoint changes, the merchant's technical contact and the operator are informed once.
//!
//! The messages of a notice and the fact that it was sent are written in one transaction, under a lock on the endpoint's notice
//! row. So a killed process has sent either all of a notice or nothing, and two processes never send the same one.

mod text;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Internal, Kind};
use domain::messages::notice::{Notice, ReportedHealth, Run};
use store::crash::{self, Point};
use store::messages::notices;
use store::messages::outbox::Message;
use store::messages::settlements::Hold;
use store::{Failed, Tx};
use wire::messages::mail::{self, PlainMail};
use wire::messages::notice::{self, NoticeBody};

use self::text::Details;
use crate::delivery::handle::Delivery;

/// The recent attempts at an endpoint, as its owner has observed them.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptHistory {
    pub(super) run: Run,
    /// The outcome of the last attempt that failed.
    pub(super) last_failure: Option<String>,
}

/// The result of looking whether an endpoint needs a notice.
#[derive(Clone, Copy)]
pub(crate) struct Reported {
    /// The health reported by now.
    pub(super) health: ReportedHealth,
    /// The time at which the failure queue has to be looked at again, if it is too early to report it.
    pub(super) look_again_at: Option<DateTime<Utc>>,
}

/// Sends the notices for what has changed. Returns `None` if another process holds the bucket, or if the endpoint is paused or
/// removed.
pub(super) async fn notify(
    delivery: &Delivery,
    merchant: MerchantId,
    endpoint: EndpointId,
    hold: Hold,
    history: &AttemptHistory,
) -> Result<Option<Reported>, Failed> {
    let now = delivery.now();
    let mut tx = delivery.begin(merchant).await?;
    let Some(facts) = notices::lock(&mut tx, hold, endpoint).await? else { return Ok(None) };
    let (reported, changes) = facts.reported.next(history.run.health(now), facts.open, now);
    if !changes.is_empty() {
        let counts = notices::count(&mut tx, endpoint).await?;
        for (change, sequence) in changes.iter().zip(facts.sequence + 1..) {
            let last_failure = match change {
                Notice::Failing { .. } | Notice::FailuresOpen => history.last_failure.as_deref(),
                Notice::Recovered { .. } => None,
            };
            let details = Details { change: *change, facts: &facts, counts: &counts, last_failure };
            owe_notice(delivery, &mut tx, endpoint, &details, sequence);
        }
    }
    if reported != facts.reported {
        let sequence = facts.sequence + i64::try_from(changes.len()).unwrap_or_default();
        notices::save(&mut tx, endpoint, reported, sequence).await?;
    }
    crash::point(Point::NoticeWritten);
    delivery.commit(tx).await?;
    let look_again_at = reported.tells_again_at().filter(|_| facts.open);
    Ok(Some(Reported { health: reported, look_again_at }))
}

/// Owes the mail and the webhook call of one notice, as far as there is a contact and a webhook.
fn owe_notice(delivery: &Delivery, tx: &mut Tx, endpoint: EndpointId, details: &Details<'_>, sequence: i64) {
    let Details { change, facts, counts, last_failure } = *details;
    let (now, subject, event) = (delivery.now(), endpoint.to_string(), change.event());
    let contact = facts.technical_contact.as_ref().filter(|contact| delivery.mailer.can_write_to(contact));
    let mail = contact.map(|contact| {
        let (subject, text) = text::compose(details);
        (Internal::Mail, mail::write(&PlainMail { to: contact.clone(), subject, text }))
    });
    let hook = delivery.operator_hook.as_ref().map(|_| {
        let failing_since = match change {
            Notice::Failing { since } | Notice::Recovered { since } => Some(since),
            Notice::FailuresOpen => facts.reported.failing_since,
        };
        let body = NoticeBody {
            event,
            noticed_at: now,
            merchant: &facts.handle,
            interface: &facts.interface,
            url: &facts.url,
            failing_since,
            last_answer: last_failure,
            waiting: counts.waiting,
            failed: counts.failed,
        };
        (Internal::OperatorHook, notice::write(&body))
    });
    for (kind, body) in mail.into_iter().chain(hook) {
        let (kind, subject) = (Kind::Internal(kind), subject.clone());
        tx.owe(Message { id: delivery.mint(), kind, event, subject, sequence, body, due_at: now });
    }
}
