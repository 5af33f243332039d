//! Closes an ASN when the warehouse expects nothing more: missing units become exceptions, and its returns stop waiting.
//!
//! An ASN may bring the units of thousands of returns. They are closed first, a few per transaction, and the ASN last. If this is
//! interrupted, closing again does the rest.

use domain::id::MerchantId;
use domain::warehouse::inbound::{Act, Exception, State, Target};
use store::Failed;
use store::returns::rmas;
use store::warehouse::inbound_asns::StoredAsn;
use store::warehouse::receiving_exceptions::{self, NewException};
use store::warehouse::{inbound_asns, receipts};

use super::change_asn::ChangeAsnError;
use crate::app::App;
use crate::flow::returns::receive_return::close;

/// The number of returns closed per transaction.
const TOGETHER: i64 = 100;

/// Closes an ASN.
pub async fn close_asn(app: &App, merchant: MerchantId, number: &str) -> Result<(), ChangeAsnError> {
    let mut tx = app.begin(merchant).await?;
    let kept = inbound_asns::list(&mut tx, &[number]).await?.pop().ok_or(ChangeAsnError::NoSuchAsn)?;
    tx.rollback().await?;
    kept.state.on(Act::Close)?;
    if kept.state == State::Closed {
        return Ok(());
    }
    if kept.has_returns {
        close_returns(app, merchant, &kept).await?;
    }
    let mut tx = app.begin(merchant).await?;
    let kept = inbound_asns::lock(&mut tx, number).await?.ok_or(ChangeAsnError::NoSuchAsn)?;
    kept.state.on(Act::Close)?;
    if kept.state == State::Closed {
        return Ok(());
    }
    let short = receipts::short_lines(&mut tx, kept.id).await?;
    let found = short.iter().map(|(line, sku, missing)| NewException {
        id: app.mint(),
        exception: Exception::Short,
        target: Target::Asn(number),
        unit: None,
        line: Some(line),
        sku: sku.as_deref(),
        quantity: *missing,
        warehouse: None,
        condition: None,
        user: None,
    });
    receiving_exceptions::insert(&mut tx, &found.collect::<Vec<_>>(), app.now()).await?;
    inbound_asns::save_state(&mut tx, kept.id, State::Closed, app.now()).await?;
    app.commit(tx).await?;
    Ok(())
}

/// Closes the receiving of the ASN's returns, except for those that another open ASN still announces units of.
async fn close_returns(app: &App, merchant: MerchantId, kept: &StoredAsn) -> Result<(), Failed> {
    let mut after = String::new();
    loop {
        let mut tx = app.begin(merchant).await?;
        let next = receipts::returns_to_close(&mut tx, kept.id, &after, TOGETHER).await?;
        let Some((last, _)) = next.last() else { return Ok(()) };
        after.clone_from(last);
        let names: Vec<&str> = next.iter().filter(|(_, closes)| *closes).map(|(name, _)| name.as_str()).collect();
        for mut of in rmas::lock_many(&mut tx, &names).await? {
            close(app, &mut tx, &mut of).await?;
        }
        app.commit(tx).await?;
    }
}
