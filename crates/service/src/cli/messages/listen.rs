//! `backhaul listen`: forwards a merchant's messages to a server on this machine, as the delivery engine would send them.
//!
//! - The live feed (`feed.rs`), as a client of the public API with a credential of the merchant; its frames (`frames.rs`).
//! - The calls to the local server (`forward.rs`), with the engine's headers and signature.
//! - The bookmark (`bookmark.rs`): the cursor after the last message that was forwarded, in a file, so that the next run continues there.
//! - The lines that are printed (`told.rs`).
//!
//! A message is written into the bookmark after the server has accepted it, or after all attempts. So each message is forwarded at least
//! once, in the order of the feed.

mod bookmark;
mod feed;
mod forward;
mod frames;
mod told;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use domain::messages::message::Interface;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;
use wire::messages::event::EventIn;

use self::bookmark::Bookmark;
use self::feed::{Feed, Start};
use self::forward::{Forwarder, Sent, secret_for};
use self::told::Told;
use crate::cli::node::serve;
use crate::cli::output::{self, Format};
use crate::cli::{named_host, session};
use crate::delivery::secrets::signature::Secret;
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

/// The environment variable with the secret of the credential.
const CLIENT_SECRET: &str = "BACKHAUL_CLIENT_SECRET";
/// The environment variable with a signing secret of one's own.
const LISTEN_SECRET: &str = "BACKHAUL_LISTEN_SECRET";
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Args)]
pub(in crate::cli) struct Listen {
    /// The URL that every message is posted to, such as <http://localhost:3000/webhooks>.
    #[arg(long, value_name = "URL")]
    forward_to: Url,
    /// The address of the service's API.
    #[arg(long, value_name = "URL", env = "BACKHAUL_API", hide_env_values = true, default_value = "http://127.0.0.1:8080")]
    api: String,
    /// The id of a credential of the merchant with the scope `orders`. Its secret is taken from `BACKHAUL_CLIENT_SECRET`.
    #[arg(long, value_name = "ID", env = "BACKHAUL_CLIENT_ID", hide_env_values = true)]
    client_id: String,
    /// Only forward this event, such as `rma.created`, or all of a kind, such as `rma.*`. Can be given several times.
    #[arg(long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// Only forward messages of this interface, such as `rma`.
    #[arg(long)]
    interface: Option<Interface>,
    /// Only forward messages about this return, order, ASN or unit. Can be given several times.
    #[arg(long = "subject", value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The place to begin at: `now`, `beginning` (the oldest stored message), or a cursor. By default it is where the last run stopped,
    /// and for the first run `now`.
    #[arg(long, value_name = "PLACE")]
    since: Option<Start>,
    /// The file that keeps the place. By default there is one for each credential and URL, below `XDG_STATE_HOME` or
    /// `~/.local/state`.
    #[arg(long, value_name = "FILE")]
    state_file: Option<PathBuf>,
    /// The number of attempts for a message that the server answers, but not with 2xx. After them it is skipped. A server that cannot be
    /// reached is waited for.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    attempts: u8,
}

/// The messages to forward.
struct Filter {
    events: Vec<String>,
    subjects: Vec<String>,
}

impl Filter {
    fn wants(&self, message: &EventIn) -> bool {
        let is_named = |pattern: &String| match pattern.strip_suffix(".*") {
            Some(kind) => message.event.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.')),
            None => *pattern == message.event,
        };
        let is_of_event = self.events.is_empty() || self.events.iter().any(is_named);
        is_of_event && (self.subjects.is_empty() || self.subjects.contains(&message.subject))
    }
}

/// The wait before the next try: a second, and twice as long each time.
fn wait_before(retry: u32) -> Duration {
    Duration::from_secs(1).saturating_mul(2_u32.saturating_pow(retry.saturating_sub(1))).min(LONGEST_WAIT)
}

pub(in crate::cli) async fn run(listen: Listen, settings: Settings, format: Format) -> anyhow::Result<()> {
    let Listen { forward_to, api, client_id, events, interface, subjects, since, state_file, attempts } = listen;
    if !matches!(forward_to.scheme(), "http" | "https") || forward_to.host().is_none() {
        bail!("--forward-to {forward_to} is not a URL that can be posted to, such as http://localhost:3000/webhooks");
    }
    let api = named_host::read_secure("--api", &api, "the address of a service, such as https://api.example.com")?;
    let client_secret = session::secret(CLIENT_SECRET)
        .with_context(|| format!("{CLIENT_SECRET} is not set: put the secret of the credential {client_id} there"))?;
    let signing_secret = signing_secret(&client_secret)?;
    let mut bookmark = Bookmark::open(state_file, &[&client_id, api.as_str(), forward_to.as_str()])?;
    let client = named_host::client(&[&api, &forward_to], settings)?;
    let told = Told { format, clock: Clock::system() };
    let start = since.or_else(|| bookmark.cursor().map(Start::After)).unwrap_or(Start::Now);
    told.begins(&client_id, &forward_to, &start, &signing_secret, bookmark.path())?;
    let forwarder = Forwarder::new(client.clone(), &forward_to, signing_secret, attempts);
    let mut feed = Feed::new(client, &api, client_id, client_secret, interface, start);
    let filter = Filter { events, subjects };
    let mut count = 0_u64;
    let ended = tokio::select! {
        ended = follow(&mut feed, &forwarder, &filter, &mut bookmark, &told, &mut count) => ended,
        () = serve::wait_for_signal() => Ok(()),
        () = output::nobody_reads() => Ok(()),
    };
    told.ends(count);
    ended
}

/// The secret that messages are signed with: that of the environment, or one that belongs to the credential.
fn signing_secret(client_secret: &SecretString) -> anyhow::Result<Secret> {
    match session::secret(LISTEN_SECRET).filter(|secret| !secret.expose_secret().is_empty()) {
        Some(secret) => Secret::parse(&secret).with_context(|| format!("{LISTEN_SECRET} is no signing secret")),
        None => Ok(secret_for(client_secret)?),
    }
}

/// Forwards messages for as long as it is polled. It ends only if it cannot begin, or if the place cannot be kept.
async fn follow(
    feed: &mut Feed,
    forwarder: &Forwarder,
    filter: &Filter,
    bookmark: &mut Bookmark,
    told: &Told,
    count: &mut u64,
) -> anyhow::Result<()> {
    let (mut has_begun, mut failed) = (false, 0);
    loop {
        match feed.next().await {
            Ok(item) => {
                (has_begun, failed) = (true, 0);
                if let Some(message) = item.message.filter(|message| filter.wants(message)) {
                    if message.is_erased() {
                        told.skipped(&message);
                    } else if forward(forwarder, &message, told).await {
                        *count += 1;
                    }
                }
                if let Some(cursor) = item.cursor {
                    bookmark.keep(&cursor)?;
                }
            }
            // Most often the address or the credential is wrong, which waiting does not change.
            Err(trouble) if !has_begun => bail!(trouble.explained()),
            // A stream ends now and then, when its token expires or a node restarts.
            Err(trouble) if trouble.is_end() && failed == 0 => failed = 1,
            Err(trouble) => {
                failed += 1;
                let wait = wait_before(failed);
                told.waits(&trouble.explained(), wait);
                tokio::time::sleep(wait).await;
            }
        }
    }
}

/// Forwards a message until the server takes it. False if it was skipped after all attempts.
async fn forward(forwarder: &Forwarder, message: &EventIn, told: &Told) -> bool {
    let (mut attempt, mut unreachable) = (1, 0);
    loop {
        let sent = forwarder.send(message, attempt).await;
        match &sent {
            Sent::Accepted { .. } => {
                told.answered(message, &sent, None);
                return true;
            }
            Sent::NotAccepted { .. } if attempt >= forwarder.attempts() => {
                let skipped = format!("skipped after {}", output::counted(attempt, "attempt"));
                told.answered(message, &sent, Some(&skipped));
                return false;
            }
            Sent::NotAccepted { .. } => {
                let wait = wait_before(attempt.into());
                let next = format!("attempt {attempt} of {}, next in {} s", forwarder.attempts(), wait.as_secs());
                told.answered(message, &sent, Some(&next));
                (attempt, unreachable) = (attempt + 1, 0);
                tokio::time::sleep(wait).await;
            }
            Sent::Nobody { why } => {
                unreachable += 1;
                let wait = wait_before(unreachable);
                told.waits(&format!("{} cannot be reached: {why}", forwarder.url()), wait);
                tokio::time::sleep(wait).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(event: &str, subject: &str) -> EventIn {
        let id = "019caa00-5c00-7c3e-9d0f-0d3b1c2a4e5f";
        let data = format!(r#"{{"id":"{id}","event":"{event}","interface":"rma","subject":"{subject}","sequence":1,"body":{{}}}}"#);
        wire::messages::event::read(&data).unwrap()
    }

    #[test]
    fn a_filter_takes_names_kinds_and_subjects() {
        let filter = |events: &[&str], subjects: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            Filter { events: texts(events), subjects: texts(subjects) }
        };
        let created = message("rma.created", "R-1");
        for (events, subjects, wanted) in [
            (&[][..], &[][..], true),
            (&["rma.created"], &[], true),
            (&["rma.refunded", "rma.created"], &[], true),
            (&["rma.*"], &[], true),
            (&["rma.*"], &["R-1", "R-2"], true),
            (&["rma.*"], &["R-2"], false),
            (&["rma.refunded"], &[], false),
            (&["rm.*"], &[], false),
            (&["rma"], &[], false),
        ] {
            assert_eq!(filter(events, subjects).wants(&created), wanted, "{events:?} {subjects:?}");
        }
    }

    #[test]
    fn every_wait_is_twice_as_long_up_to_half_a_minute() {
        let waits: Vec<u64> = (1..9).map(|retry| wait_before(retry).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(wait_before(u32::MAX), LONGEST_WAIT);
    }
}
