//! Numbers messages for the feed that were written before messages were numbered, or by the version before.

use domain::id::MerchantId;
use store::messages::positions::{self, Counter};
use store::{Failed, Tx};

use crate::app::App;

/// The most merchants of one run, and the most transactions of each.
const MERCHANTS: usize = 20;
const TRANSACTIONS: usize = 5;
/// The most messages of one transaction. Whoever writes for the merchant waits for it.
const MESSAGES: i64 = 1_000;

/// Numbers what is not numbered. Returns whether there may be more.
pub async fn number_messages(app: &App) -> Result<bool, Failed> {
    let merchants = positions::list_unfinished(app.cell(), MERCHANTS).await?;
    let mut more = merchants.len() == MERCHANTS;
    for merchant in merchants {
        // A merchant that fails must not hold up the others.
        match number_messages_of(app, merchant).await {
            Ok(continues) => more |= continues,
            Err(failed) => tracing::warn!(%failed, %merchant, "numbering the messages of a merchant failed, will retry"),
        }
    }
    Ok(more)
}

/// Numbers messages of one merchant. Returns whether there may be more.
async fn number_messages_of(app: &App, merchant: MerchantId) -> Result<bool, Failed> {
    for _ in 0..TRANSACTIONS {
        let Some(mut tx) = app.begin_here(merchant).await? else { return Ok(false) };
        let before = positions::lock(&mut tx).await?;
        let (after, more) = number_some(&mut tx, before).await?;
        app.commit(tx).await?;
        tracing::info!(
            %merchant, numbered = after.last - before.last, last = after.last, live = after.live, more,
            "numbered messages of a feed"
        );
        if !more {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Numbers the next messages of one merchant. Returns how far they are numbered then, and whether there may be more.
async fn number_some(tx: &mut Tx, mut counter: Counter) -> Result<(Counter, bool), Failed> {
    let is_full = |found: usize| i64::try_from(found).is_ok_and(|found| found >= MESSAGES);
    if !counter.live {
        let settled = positions::list_settled(tx, MESSAGES).await?;
        counter = positions::number(tx, counter, &settled).await?;
        if is_full(settled.len()) {
            return Ok((counter, true));
        }
        // From here on, whoever writes a message waits for the counter and numbers it.
        counter = positions::set_live(tx, counter).await?;
    }
    let rest = positions::list_unnumbered(tx, MESSAGES).await?;
    counter = positions::number(tx, counter, &rest).await?;
    Ok((counter, is_full(rest.len())))
}
