//! Audit rows of what concerns no merchant.

use store::merchants::audit::Entry;
use store::merchants::home_audit;
use store::{Failed, HomeTx};

use crate::app::App;

/// Records a change that concerns no merchant.
pub(super) async fn record(app: &App, tx: &mut HomeTx, actor: &str, action: &str, detail: &str) -> Result<(), Failed> {
    home_audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}
