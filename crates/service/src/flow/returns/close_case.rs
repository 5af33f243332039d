//! A person closes a case of the work list.

use domain::id::MerchantId;
use domain::returns::work::WorkKind;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::returns::work_items;
use uuid::Uuid;

use crate::app::App;

/// A case, as people name it.
#[derive(Clone, Copy, Debug)]
pub enum Case<'a> {
    Id(Uuid),
    Of(WorkKind, &'a str),
}

/// Closes an open case. Returns false if there is none.
pub async fn close_case(app: &App, actor: &str, merchant: MerchantId, case: Case<'_>) -> Result<bool, Failed> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    let closed = match case {
        Case::Id(id) => work_items::close_by_id(&mut tx, id, now).await?,
        Case::Of(kind, subject) => work_items::close(&mut tx, kind, subject, now).await?.then(|| (kind, subject.to_owned())),
    };
    let Some((kind, subject)) = closed else { return Ok(false) };
    let detail = format!("{kind} {subject}");
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "work.closed", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(true)
}
