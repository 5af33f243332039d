//! The operator lowers a limit because traffic threatens, or resets it. The row itself says who did it, and when.

use store::node::limits::{self, OperatorLimit};

use crate::app::App;
use crate::node::limits::Name;

/// Why a limit was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetLimitError {
    /// A limit can only be lowered.
    #[error(
        "{} is {default} at most; to raise it, set {} in the settings and start the service again, \
         and to take a lowered limit back, run `backhaul limit reset {}`",
        name.as_str(), name.setting(), name.as_str()
    )]
    TooHigh {
        /// Which limit.
        name: Name,
        /// What it is when it is not lowered.
        default: u32,
    },
    /// A limit of nothing would refuse everybody.
    #[error("a limit is 1 at least; to refuse a merchant's calls, run `backhaul merchant pause`")]
    TooLow,
    /// The database.
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

/// Gives a limit its default back on every node.
pub async fn reset_limit(app: &App, actor: &str, name: Name) -> Result<(), store::Failed> {
    save(app, actor, name, None).await
}

async fn save(app: &App, actor: &str, name: Name, value: Option<u32>) -> Result<(), store::Failed> {
    let limit = OperatorLimit { name: name.as_str().to_owned(), value: value.map(i64::from), set_by: actor.to_owned(), set_at: app.now() };
    limits::save(app.cell(), &limit).await
}
