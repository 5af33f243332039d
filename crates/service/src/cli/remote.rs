//! Commands through the operator API: the commands are the API.
//!
//! - `operations.rs` declares for each command which role may run it from elsewhere, or why nobody can.
//! - `parameters.rs` turns parameters into words of the command line, and back.
//! - `document.rs` describes the operations as an OpenAPI document.
//! - `client.rs` is the other end: `backhaul --server`.

pub(super) mod client;
mod document;
mod operations;
mod parameters;

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use clap::Command;
use store::Failed;
use store::merchants::operator_tokens::Live;
use wire::page::BadPage;

use super::context::ALL_MERCHANTS;
use super::output::{self, Format};
use super::session::{Printed, Remote, Unconfirmed, scope};
use super::table::View;
use crate::http::operator_api::{Answer, Call, Commands, End, Operation, Run};

/// The operations behind the API: every command that may run from elsewhere.
pub(super) fn commands(mut command: Command, run: Run) -> Commands {
    command.build();
    let operations = operations::remote().map(|(words, role, reads)| Operation { path: words.replace(' ', "/"), role, reads }).collect();
    Commands { operations, document: document::write(&command), run }
}

/// The words of a command line, and the secret that does not belong there.
pub(super) struct Words {
    pub(super) line: Vec<String>,
    pub(super) format: Format,
    remote: Arc<Remote>,
}

/// Reads a call at `now` as a command line.
pub(super) fn read(mut command: Command, call: Call, now: DateTime<Utc>) -> Result<Words, String> {
    command.build();
    let Call { path, mut parameters, as_json, screen, token } = call;
    let words = path.replace('/', " ");
    let leaf = parameters::leaf(&command, &words).ok_or("there is no such command")?;
    let mut secrets = Vec::new();
    for (name, variable) in operations::secrets(&words) {
        match parameters.remove(*name) {
            None => {}
            Some(serde_json::Value::String(secret)) => secrets.push((*variable, secret.into())),
            Some(_) => return Err(format!("`{name}` must be a text")),
        }
    }
    // What is not taken is not quoted either.
    if let Some(name) = parameters.keys().find(|name| operations::is_secret(name)) {
        return Err(format!("`{words}` takes no `{name}`"));
    }
    // At a terminal the environment may name it, but the service's environment says nothing about its callers.
    let names_merchant = |arg: &clap::Arg| arg.get_id() == "merchant" && arg.is_required_set();
    let is_missing = parameters.get("merchant").is_none_or(serde_json::Value::is_null);
    if is_missing && leaf.get_arguments().any(names_merchant) {
        return Err("`merchant` is missing".to_owned());
    }
    let is_true = |value: &serde_json::Value| value.as_bool() == Some(true) || value.as_str() == Some("true");
    let of_all = |arg: &clap::Arg| arg.get_id() == ALL_MERCHANTS;
    if is_missing && leaf.get_arguments().any(of_all) && !parameters.get(ALL_MERCHANTS).is_some_and(is_true) {
        return Err("`merchant` is missing; name one, or set `all_merchants`".to_owned());
    }
    let mut line = vec!["backhaul".to_owned()];
    line.extend(words.split(' ').map(str::to_owned));
    line.extend(parameters::words(leaf, &parameters)?);
    let Live { name, role, operator, .. } = token;
    let actor = format!("{} via token:{name}", operator.actor());
    let operator = domain::merchants::operator::Operator { role, ..operator };
    let view = screen.map(|screen| View { screen, now });
    let remote = Arc::new(Remote { operator, actor, secrets, view, printed: Mutex::default() });
    Ok(Words { line, format: if as_json { Format::Json } else { Format::Table }, remote })
}

/// Runs a command for the caller, and keeps what it prints.
pub(super) async fn run(words: Words, command: impl Future<Output = anyhow::Result<()>>) -> Answer {
    let remote = words.remote;
    let ended = scope(Arc::clone(&remote), command).await;
    let Printed { out, notes } = remote.printed.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Answer { out, notes, end: ended.map_or_else(|error| end(&error), |()| End::Done) }
}

/// The end of a command that failed.
fn end(error: &anyhow::Error) -> End {
    if let Some(Unconfirmed { question, word }) = error.downcast_ref() {
        return End::Unconfirmed { question: question.clone(), word: word.clone() };
    }
    if let Some(bad) = error.downcast_ref::<BadPage>() {
        return End::BadParameters(bad.to_string());
    }
    let text = output::told(error);
    match Failed::told_by(&text) {
        Some(failed) => End::Failed(failed),
        None => End::Refused(text),
    }
}

/// The answer to parameters that are no command line.
pub(super) fn refuse(why: String) -> Answer {
    Answer { out: String::new(), notes: String::new(), end: End::BadParameters(why) }
}

/// The reasons that the words are no command line, as the API tells them: without the usage.
pub(super) fn explain(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let reasons = text.split("\n\nUsage:").next().unwrap_or_default().split("\n\nFor more").next().unwrap_or_default();
    reasons.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}
