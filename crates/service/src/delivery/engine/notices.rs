//! How an endpoint fares has changed: the merchant's technical contact and the operator are told, once for each change.
//!
//! What is told, and that it was told, are one transaction, under the lock of the endpoint's row. So a process that is killed
//! has told nothing or everything, and of two that see the same only one tells.

mod text;

use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Internal, Kind};
use domain::messages::notice::{Notice, ReportedHealth, Run};
use store::crash::{self, Point};
use store::messages::notices::{self, Counts, Facts};
use store::messages::outbox::Message;
use store::messages::settlements::Hold;
use store::{Failed, Tx};
use wire::messages::mail::{self, MailBody};
use wire::messages::notice::{self, NoticeBody};

use crate::delivery::handle::Delivery;

/// How an endpoint fared, as its owner saw it.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// How its last attempts went.
    pub(super) run: Run,
    /// The last outcome that was no success.
    pub(super) last: Option<String>,
}

/// Tells what has changed, if anything has, and answers what was told by now. Nothing, if the bucket is somebody else's, or if
/// the endpoint is paused or removed.
pub(super) async fn notify(
    delivery: &Delivery,
    merchant: MerchantId,
    endpoint: EndpointId,
    hold: Hold,
    seen: &Seen,
) -> Result<Option<ReportedHealth>, Failed> {
    let now = delivery.now();
    let mut tx = delivery.begin(merchant).await?;
    let Some(facts) = notices::lock(&mut tx, hold, endpoint).await? else { return Ok(None) };
    let (told, changes) = facts.told.next(seen.run.health(now), facts.open, now);
    if !changes.is_empty() {
        let counts = notices::count(&mut tx, endpoint).await?;
        for (change, sequence) in changes.iter().zip(facts.sequence + 1..) {
            let last = match change {
                Notice::Failing { .. } | Notice::FailuresOpen => seen.last.as_deref(),
                Notice::Recovered { .. } => None,
            };
            let news = News { change: *change, facts: &facts, counts: &counts, last };
            tell(delivery, &mut tx, endpoint, &news, sequence);
        }
    }
    if told != facts.told {
        let sequence = facts.sequence + i64::try_from(changes.len()).unwrap_or_default();
        notices::save(&mut tx, endpoint, told, sequence).await?;
    }
    crash::point(Point::NoticeWritten);
    delivery.commit(tx).await?;
    Ok(Some(told))
}

/// What a notice is made of.
struct News<'a> {
    change: Notice,
    facts: &'a Facts,
    counts: &'a Counts,
    /// The last outcome that was no success.
    last: Option<&'a str>,
}

/// Owes the mail and the call of one notice, to whoever there is.
fn tell(delivery: &Delivery, tx: &mut Tx, endpoint: EndpointId, news: &News<'_>, sequence: i64) {
    let News { change, facts, counts, last } = *news;
    let (now, subject, event) = (delivery.now(), endpoint.to_string(), change.event());
    let contact = facts.technical_contact.as_ref().filter(|contact| delivery.mailer.can_write_to(contact));
    let mail = contact.map(|contact| {
        let (subject, text) = text::compose(news);
        (Internal::Mail, mail::write(&MailBody { to: contact.clone(), subject, text }))
    });
    let hook = delivery.operator_hook.as_ref().map(|_| {
        let failing_since = match change {
            Notice::Failing { since } | Notice::Recovered { since } => Some(since),
            Notice::FailuresOpen => facts.told.failing_since,
        };
        let body = NoticeBody {
            event,
            noticed_at: now,
            merchant: &facts.handle,
            interface: &facts.interface,
            url: &facts.url,
            failing_since,
            last_answer: last,
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
