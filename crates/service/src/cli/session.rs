//! The caller of a command: somebody at a terminal, or a script through the operator API.
//!
//! A command does not know who calls it. What it prints, asks, reads from the environment or from files, and the name that the audit
//! gives its caller, goes through this module and [`output`](super::output).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::merchants::operator::Operator;
use secrecy::SecretString;

use super::table::View;

tokio::task_local! {
    /// The caller through the API; not set at a terminal.
    static REMOTE: Arc<Remote>;
}

/// A caller through the operator API.
pub(super) struct Remote {
    /// The person, with the role that their token has.
    pub(super) operator: Operator,
    /// The name in the audit log.
    pub(super) actor: String,
    /// The secrets that a terminal would take from the environment, by the variable's name.
    pub(super) secrets: Vec<(&'static str, SecretString)>,
    /// How tables are shown to them; none if a script reads them.
    pub(super) view: Option<View>,
    pub(super) printed: Mutex<Printed>,
}

/// How tables are shown to a person at this terminal.
static VIEW: OnceLock<View> = OnceLock::new();

/// Fits the tables of this process to its terminal from now on.
pub(super) fn fit(view: View) {
    let _ = VIEW.set(view);
}

/// How tables are shown to the caller; none if a script reads them.
pub(super) fn view() -> Option<View> {
    remote().map_or_else(|| VIEW.get().copied(), |remote| remote.view)
}

/// The output of a command that was called through the API.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    pub(super) out: String,
    pub(super) notes: String,
}

/// The command needs a confirmation, which nobody can give through the API but with `yes`.
#[derive(Debug, thiserror::Error)]
#[error("confirmation is needed; give `yes` to confirm")]
pub(super) struct Unconfirmed {
    /// What would happen.
    pub(super) question: String,
    /// The word that somebody at a terminal types.
    pub(super) word: String,
}

/// Runs a command for a caller through the API.
pub(super) async fn scope<F: Future>(remote: Arc<Remote>, command: F) -> F::Output {
    REMOTE.scope(remote, command).await
}

/// The caller through the API; none at a terminal.
pub(super) fn remote() -> Option<Arc<Remote>> {
    REMOTE.try_with(Arc::clone).ok()
}

/// Keeps a text for the caller through the API. False at a terminal, where it is still to be printed.
pub(super) fn keep(text: impl FnOnce(&mut Printed)) -> bool {
    remote().map(|remote| text(&mut remote.printed.lock().unwrap_or_else(PoisonError::into_inner))).is_some()
}

/// The secret of a command, which does not belong on the command line: of this environment variable, or of the API's parameter for it.
#[expect(clippy::disallowed_methods, reason = "a secret does not belong on the command line")]
pub(super) fn secret(variable: &str) -> Option<SecretString> {
    match remote() {
        Some(remote) => remote.secrets.iter().find(|(name, _)| *name == variable).map(|(_, secret)| secret.clone()),
        None => std::env::var(variable).ok().map(Into::into),
    }
}

/// The content of a file that a command names. Through the API, the value is the content itself in base64, so that nobody reads
/// files of the server. Of a large file, only `most` bytes and one more are read.
pub(super) fn file(what: &str, value: &str, most: usize) -> anyhow::Result<Vec<u8>> {
    if remote().is_some() {
        return STANDARD.decode(value).with_context(|| format!("the {what} must be the content of a file in base64"));
    }
    let read = || {
        let mut content = Vec::new();
        File::open(Path::new(value))?.take(u64::try_from(most + 1).unwrap_or(u64::MAX)).read_to_end(&mut content)?;
        std::io::Result::Ok(content)
    };
    read().with_context(|| format!("cannot read the {what} {value}"))
}
