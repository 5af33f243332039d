//! The operator lowers a limit in an emergency, or resets it. The limit's row records by whom and when, and so does the audit.

use store::merchants::audit::{Change, Entry};
use store::merchants::home_audit;
use store::node::limits::{self, OperatorLimit};
use wire::merchants::audit::Changes;

use crate::app::App;
use crate::node::limits::Name;

/// The reasons a limit cannot be set.
#[derive(Debug, thiserror::Error)]
pub enum SetLimitError {
    #[error(
        "{} can be at most {default}; to raise it, change {} in the settings and restart the service; \
         to undo an earlier reduction, run `backhaul limit reset {}`",
        name.as_str(), name.setting(), name.as_str()
    )]
    TooHigh { name: Name, default: u32 },
    #[error("a limit must be at least 1; to refuse a merchant's calls, run `backhaul merchant pause HANDLE`")]
    TooLow,
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// Lowers a limit on every node.
pub async fn set_limit(app: &App, actor: &str, name: Name, value: u32) -> Result<(), SetLimitError> {
    let default = app.limits.default_of(name);
    if value > default {
        return Err(SetLimitError::TooHigh { name, default });
    }
    if value == 0 {
        return Err(SetLimitError::TooLow);
    }
    Ok(save(app, actor, name, Some(value)).await?)
}

/// Resets a limit to its default on every node.
pub async fn reset_limit(app: &App, actor: &str, name: Name) -> Result<(), store::Failed> {
    save(app, actor, name, None).await
}

async fn save(app: &App, actor: &str, name: Name, value: Option<u32>) -> Result<(), store::Failed> {
    let limit = OperatorLimit { name: name.as_str().to_owned(), value: value.map(i64::from), set_by: actor.to_owned(), set_at: app.now() };
    let (action, detail) = match value {
        Some(value) => ("limit.lowered", format!("{} to {value}", name.as_str())),
        None => ("limit.reset", name.as_str().to_owned()),
    };
    let mut tx = app.home().begin_home_aside().await?;
    let before = limits::lock(&mut tx, name.as_str()).await?;
    limits::save(&mut tx, &limit).await?;
    let changes = Changes::default().field(name.as_str(), before, limit.value);
    let entry = Entry { id: app.mint(), actor, action, detail: &detail, done_at: app.now() };
    home_audit::record(&mut tx, entry.with(Change { before: changes.before(), after: changes.after() })).await?;
    app.commit_home(tx).await
}
