//! Time passes without a scan: the shopper is reminded of the return, and in the end it is called off.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::{Internal, Kind};
use domain::returns::rma::Step;
use domain::returns::rma::policy::EXPIRES_AFTER;
use store::merchants::accounts;
use store::messages::outbox::Message;
use store::orders::snapshots;
use store::returns::rmas::{self, Return};
use store::returns::unit_claims;
use store::{Failed, Tx};
use uuid::Uuid;
use wire::messages::mail::MailBody;

use super::label_return::give_label_back;
use super::tell_return::tell;
use crate::app::App;

/// Why a return was called off that nobody called off.
pub const EXPIRED: &str = "expired";

/// How many returns are woken in a row.
const MOST: i64 = 100;

/// Wakes the returns that are due, and answers whether there may be more.
pub async fn wake_returns(app: &App) -> Result<bool, Failed> {
    let due = rmas::due_to_wake(app.cell(), app.now(), MOST).await?;
    for (merchant, id) in &due {
        // One that cannot be woken must not keep the others asleep.
        if let Err(failed) = wake(app, *merchant, *id).await {
            tracing::warn!(%failed, rma = %id, "a return was not woken; it is tried again");
        }
    }
    Ok(i64::try_from(due.len()).is_ok_and(|woken| woken == MOST))
}

/// Wakes one return. Whoever did it meanwhile has done it.
async fn wake(app: &App, merchant: MerchantId, id: Uuid) -> Result<(), Failed> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let Some(mut kept) = rmas::lock_by_id(&mut tx, id).await? else { return Ok(()) };
    if kept.wakes_at.is_none_or(|due| due > now) {
        return Ok(());
    }
    if now < kept.created_at + EXPIRES_AFTER && !kept.reminded {
        remind(app, &mut tx, &mut kept).await?;
    } else {
        expire(app, &mut tx, &mut kept, now).await?;
    }
    app.commit(tx).await
}

/// Reminds the shopper; the return itself does not change.
async fn remind(app: &App, tx: &mut Tx, kept: &mut Return) -> Result<(), Failed> {
    kept.reminded = true;
    kept.wakes_at = Some(kept.created_at + EXPIRES_AFTER);
    rmas::save(tx, kept).await?;
    let Some(to) = shopper(tx, kept).await?.filter(|to| app.mailer.can_write_to(to)) else { return Ok(()) };
    let shop = accounts::name(tx).await?;
    let body = wire::messages::mail::write(&MailBody {
        to,
        subject: format!("Your return {} is waiting", kept.identifier),
        text: reminder(kept, &shop),
    });
    tx.owe(Message {
        id: app.mint(),
        kind: Kind::Internal(Internal::Mail),
        event: "rma.reminder",
        subject: kept.identifier.clone(),
        sequence: kept.sequence,
        body,
        due_at: app.now(),
    });
    Ok(())
}

/// Where the shopper can be reached: whoever returns a gift, or whoever bought.
async fn shopper(tx: &mut Tx, kept: &Return) -> Result<Option<String>, Failed> {
    if kept.giftee_email.is_some() {
        return Ok(kept.giftee_email.clone());
    }
    let order = snapshots::snapshot(tx, &kept.order).await?;
    let email = order.as_deref().and_then(wire::orders::order::read_stored).and_then(|order| order.customer.email);
    Ok(email.map(|email| email.0.to_string()))
}

fn reminder(kept: &Return, shop: &str) -> String {
    let units = match kept.items.len() {
        1 => "one item".to_owned(),
        many => format!("{many} items"),
    };
    let until = (kept.created_at + EXPIRES_AFTER).format("%-d %B %Y");
    format!(
        "Hello,\n\nyou started the return {} of {units} from {shop}, and we have not seen your parcel yet.\n\n\
        Please hand it over by {until}. After that the return is cancelled, and you would have to start a new one.\n\n\
        If it is on its way already, or if you would rather keep the goods, there is nothing to do.\n\n{shop}\n",
        kept.identifier,
    )
}

/// Calls the return off, unless it has moved on meanwhile.
async fn expire(app: &App, tx: &mut Tx, kept: &mut Return, now: DateTime<Utc>) -> Result<(), Failed> {
    let Ok(Step::Moved(event)) = kept.rma.cancel() else {
        kept.wakes_at = None;
        return rmas::save(tx, kept).await;
    };
    kept.cancel_reason = Some(EXPIRED.to_owned());
    unit_claims::release(tx, kept.id).await?;
    tell(app, tx, kept, event, now).await?;
    give_label_back(app, tx, kept).await
}
