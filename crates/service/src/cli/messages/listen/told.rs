//! The lines of `backhaul listen`: one for each message, and one for each wait. With `-o json`, each is a JSON object.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;
use wire::messages::event::EventIn;

use super::feed::Start;
use super::forward::{Sent, shown};
use crate::cli::output::{self, Format};
use crate::delivery::secrets::signature::Secret;
use crate::platform::clock::Clock;

/// Prints what happens.
pub(super) struct Told {
    pub(super) format: Format,
    pub(super) clock: Clock,
}

impl Told {
    /// Says what is forwarded from where, and the secret to check signatures with.
    pub(super) fn begins(&self, client_id: &str, to: &Url, start: &Start, secret: &Secret, kept_in: &Path) -> anyhow::Result<()> {
        let from = match start {
            Start::Now => "from now on",
            Start::Beginning => "from the oldest stored one on",
            Start::After(_) => "from where the last run stopped",
        };
        match self.format {
            Format::Table => {
                output::line(&format!("Forwarding the messages of {client_id} to {to}, {from}."));
                output::facts(&[("signing secret", shown(secret)), ("place kept in", kept_in.display().to_string())]);
                output::line("Ctrl-C ends it; the next start continues after the last message.\n");
            }
            Format::Json => {
                let kept_in = kept_in.display().to_string();
                let begun = json!({ "forwarding": client_id, "to": to.as_str(), "signing_secret": shown(secret), "state_file": kept_in });
                output::line(&serde_json::to_string(&begun)?);
            }
        }
        Ok(())
    }

    /// Says how the server answered to a message, and what comes next if that was not the end of it.
    pub(super) fn answered(&self, message: &EventIn, sent: &Sent, next: Option<&str>) {
        let (answer, took) = match sent {
            Sent::Accepted { answer, took } | Sent::NotAccepted { answer, took } => (answer.as_str(), *took),
            Sent::Nobody { why } => (why.as_str(), Duration::ZERO),
        };
        let EventIn { event, subject, .. } = message;
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let after = next.map_or_else(String::new, |next| format!("  {next}"));
        self.print(
            format_args!("{event:33} {subject:14} {answer:>3} {took_ms:>6} ms{after}"),
            json!({ "id": message.id, "event": event, "subject": subject, "answer": answer, "took_ms": took_ms, "next": next }),
        );
    }

    /// Says that a message has no content any more.
    pub(super) fn skipped(&self, message: &EventIn) {
        let EventIn { event, subject, .. } = message;
        let why = "skipped: its shopper was erased";
        self.print(
            format_args!("{event:33} {subject:14} {why}"),
            json!({ "id": message.id, "event": event, "subject": subject, "next": why }),
        );
    }

    /// Says why it waits.
    pub(super) fn waits(&self, why: &str, wait: Duration) {
        let seconds = wait.as_secs();
        self.print(format_args!("{why}; next try in {seconds} s"), json!({ "waiting": why, "next_try_s": seconds }));
    }

    /// Says that it ends.
    pub(super) fn ends(&self, forwarded: u64) {
        match self.format {
            Format::Table => {
                let count = output::counted(forwarded, "message");
                output::line(&format!("\n{count} forwarded. The next start continues after the last one."));
            }
            Format::Json => output::line(&json!({ "forwarded": forwarded }).to_string()),
        }
    }

    /// Prints a line with the time: of the machine, because a sandbox's clock may be ahead of it.
    fn print(&self, line: std::fmt::Arguments<'_>, mut object: Value) {
        let now = self.clock.wall();
        match self.format {
            Format::Table => output::line(&format!("{}  {line}", now.format("%H:%M:%S"))),
            Format::Json => {
                if let Some(fields) = object.as_object_mut() {
                    fields.insert("at".to_owned(), wire::time::write(now).into());
                }
                output::line(&object.to_string());
            }
        }
    }
}
