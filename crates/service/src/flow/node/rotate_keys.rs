//! The operator rotates a kind of keys: the first key of the settings is used from now on, on every node.

use chrono::{DateTime, TimeDelta, Utc};
use store::Failed;
use store::merchants::audit::Entry;
use store::merchants::{home_audit, merchant_keys, operator_tokens, suppressions};
use store::node::keys::{self, UsedKey};
use store::orders::fingerprints;

use crate::app::App;
use crate::node::each_cell;
use crate::node::keys::{WrongKey, active, compare};
use crate::platform::keys::{Kind, Known};

/// The time after a rotation at which fingerprints are computed anew: no mailed link and no session of the portal is left that has a
/// fingerprint of the old key.
pub const RECOMPUTED_AFTER: TimeDelta = TimeDelta::hours(24);

/// The reasons keys are not rotated.
#[derive(Debug, thiserror::Error)]
pub enum RotateKeysError {
    #[error(
        "there is no new key: the first one of keys.{0} is in use already; put a new one before it in the settings of every process, restart them, and rotate then"
    )]
    NothingNew(&'static str),
    #[error("the rotation before is not finished: the key `{0}` is still needed; `backhaul keys status` shows the progress")]
    Unfinished(String),
    #[error("{0}")]
    Wrong(WrongKey),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The keys of a rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    pub from: String,
    pub to: String,
}

/// The rotation that the settings allow.
pub async fn plan(app: &App, kind: Kind) -> Result<Rotation, RotateKeysError> {
    if let Some(wrong) = app.confirm_keys().await?.into_iter().next() {
        return Err(RotateKeysError::Wrong(wrong));
    }
    let used = keys::list(app.home()).await?;
    let from = active(&used, kind).map(|key| key.id.clone()).unwrap_or_default();
    let first = app.keys.known().into_iter().find(|key| key.kind == kind).map(|key| key.id);
    let to = first.filter(|first| *first != from).ok_or(RotateKeysError::NothingNew(kind.as_str()))?;
    for key in used.iter().filter(|key| key.kind == kind.as_str() && key.id != from && key.id != to && is_needed(key)) {
        if renewals(app, kind, &key.id, &used).await? > 0 {
            return Err(RotateKeysError::Unfinished(key.id.clone()));
        }
    }
    Ok(Rotation { from, to })
}

/// Whether something may still depend on a key that is not in use for what is new.
fn is_needed(key: &UsedKey) -> bool {
    key.activated_at.is_some() && key.retired_at.is_none()
}

/// Begins to use the first key of the settings. Whatever the old one made is renewed in the background.
pub async fn rotate_keys(app: &App, actor: &str, kind: Kind) -> Result<Rotation, RotateKeysError> {
    let rotation = plan(app, kind).await?;
    let mut tx = app.begin_home().await?;
    keys::activate(&mut tx, kind.as_str(), &rotation.to, app.now()).await?;
    let detail = format!("{}: {} instead of {}", kind.as_str(), rotation.to, rotation.from);
    home_audit::record(&mut tx, Entry { id: app.mint(), actor, action: "keys.rotated", detail: &detail, done_at: app.now() }).await?;
    app.commit_home(tx).await?;
    app.confirm_keys().await?;
    Ok(rotation)
}

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is used for what is new.
    Active,
    /// It is in the settings and has never been used for anything.
    Ready,
    /// Something that it made is still there.
    Needed,
    /// Nothing needs it; it can be removed from the settings.
    Removable,
    /// Nothing needs it, and it is not in the settings any more.
    Removed,
    /// Another key has its name.
    Wrong,
    /// It is needed and is not in the settings.
    Missing,
}

impl State {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Ready => "ready",
            Self::Needed => "needed",
            Self::Removable => "removable",
            Self::Removed => "removed",
            Self::Wrong => "wrong",
            Self::Missing => "missing",
        }
    }
}

/// A key and what depends on it.
#[derive(Clone, Debug)]
pub struct KeyStatus {
    pub kind: Kind,
    pub id: String,
    pub state: State,
    pub activated_at: Option<DateTime<Utc>>,
    pub retired_at: Option<DateTime<Utc>>,
    /// What it still takes until the key can be removed, in words.
    pub left: String,
}

/// The state of every key.
pub async fn status(app: &App) -> Result<Vec<KeyStatus>, Failed> {
    let (known, used) = (app.keys.known(), keys::list(app.home()).await?);
    let wrong = compare(&known, &used);
    let mut found = Vec::new();
    for key in &used {
        let Ok(kind) = key.kind.parse::<Kind>() else { continue };
        let in_settings = known.iter().any(|known| known.kind == kind && known.id == key.id);
        let is_active = active(&used, kind).is_some_and(|active| active.id == key.id);
        let state = if wrong.contains(&WrongKey::Other { kind: kind.as_str(), id: key.id.clone() }) {
            State::Wrong
        } else if !in_settings {
            if key.retired_at.is_some() { State::Removed } else { State::Missing }
        } else if is_active {
            State::Active
        } else if key.retired_at.is_some() {
            State::Removable
        } else {
            match depends(app, kind, &key.id, &used).await? {
                0 if key.activated_at.is_none() => State::Ready,
                _ => State::Needed,
            }
        };
        let left = match state {
            State::Needed => left(app, kind, &key.id, &used).await?,
            State::Active | State::Ready | State::Removable | State::Removed | State::Wrong | State::Missing => String::new(),
        };
        found.push(KeyStatus { kind, id: key.id.clone(), state, activated_at: key.activated_at, retired_at: key.retired_at, left });
    }
    let unused = known.iter().filter(|key| !used.iter().any(|one| one.kind == key.kind.as_str() && one.id == key.id));
    found.extend(unused.map(|Known { kind, id, .. }| KeyStatus {
        kind: *kind,
        id: id.clone(),
        state: State::Ready,
        activated_at: None,
        retired_at: None,
        left: String::new(),
    }));
    Ok(found)
}

/// The number of things that depend on a key that is not in use for what is new.
pub(super) async fn depends(app: &App, kind: Kind, id: &str, used: &[UsedKey]) -> Result<i64, Failed> {
    let suppressed = match kind {
        Kind::Sealing => 0,
        Kind::Fingerprint => each_cell::sum(app, |store| suppressions::count_of_key(store, id)).await?,
    };
    Ok(renewals(app, kind, id, used).await? + suppressed)
}

/// The number of things that depend on a key that is not in use for what is new, and that are renewed by timers and with use.
async fn renewals(app: &App, kind: Kind, id: &str, used: &[UsedKey]) -> Result<i64, Failed> {
    match kind {
        Kind::Sealing => each_cell::sum(app, |store| merchant_keys::count_sealed_with(store, id)).await,
        Kind::Fingerprint => {
            let Some(now) = active(used, kind) else { return Ok(0) };
            if used.iter().any(|key| key.kind == kind.as_str() && key.id == id && key.activated_at.is_none()) {
                return Ok(0);
            }
            let merchants = each_cell::sum(app, |store| fingerprints::count_unfinished(store, &now.id)).await?;
            Ok(merchants + operator_tokens::count_of_other_keys(app.home(), &now.id, app.now()).await?)
        }
    }
}

async fn left(app: &App, kind: Kind, id: &str, used: &[UsedKey]) -> Result<String, Failed> {
    match kind {
        Kind::Sealing => Ok(format!("{} values are sealed with it", depends(app, kind, id, used).await?)),
        Kind::Fingerprint => {
            let Some(now) = active(used, kind) else { return Ok(String::new()) };
            let merchants = each_cell::sum(app, |store| fingerprints::count_unfinished(store, &now.id)).await?;
            let orders = each_cell::sum(app, |store| fingerprints::count_done(store, &now.id)).await?;
            let tokens = operator_tokens::count_of_other_keys(app.home(), &now.id, app.now()).await?;
            let begins = now.activated_at.map(|at| at + RECOMPUTED_AFTER).filter(|at| *at > app.now());
            let begins = begins.map(|at| format!(", from {} on", wire::time::write(at))).unwrap_or_default();
            let suppressed = each_cell::sum(app, |store| suppressions::count_of_key(store, id)).await?;
            Ok(format!(
                "orders of {merchants} merchants are to be computed anew ({orders} orders done){begins}; {tokens} personal tokens; \
                 {suppressed} erased shoppers"
            ))
        }
    }
}
