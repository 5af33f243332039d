//! E-mail: a mail is handed to the operator's SMTP server, once.
//!
//! The guard of addresses has no say here. It keeps merchants from having us call what is inside; the mail server is named by
//! the operator, in the settings, and is normally inside.

mod failure;
mod server;
mod text;

use std::time::Duration;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use lettre::Address;
use lettre::address::Envelope;
use lettre::transport::smtp::response::Response;
use tokio::time::timeout;
use uuid::Uuid;

use self::server::Server;
pub use self::server::WrongUrl;
use crate::delivery::client::{CallResult, MOST_KEPT, NoRoots};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

/// How long the server may take to say goodbye. The mail is its own by then.
const FAREWELL: Duration = Duration::from_secs(1);
/// What is said where mails cannot be sent.
const NO_SERVER: &str = "no mail server is set: mail.url and mail.from";

/// Sends mails. It has no `Debug`: it holds a password.
pub struct Mailer {
    way: Option<Way>,
    clock: Clock,
}

/// How mails go out.
struct Way {
    server: Server,
    from: Address,
    deadline: Duration,
}

/// A mail. It has no `Debug`: whom it is for and what it says is personal.
#[derive(Clone)]
pub struct Mail {
    /// Its id, from which its Message-ID is made: however often it is sent, it is the same mail.
    pub id: Uuid,
    /// Whom it is for: an e-mail address.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub text: String,
}

/// Why there is no mailer.
#[derive(Debug, thiserror::Error)]
pub enum NoMailer {
    /// The server.
    #[error("mail.url: {0}")]
    Url(#[from] WrongUrl),
    /// The sender.
    #[error("mail.from is no e-mail address such as notices@example.com")]
    From,
    /// Whom we trust.
    #[error("outbound.extra_roots: {0}")]
    Roots(#[from] NoRoots),
}

impl Mailer {
    /// A mailer with these settings. It connects to nothing yet.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, NoMailer> {
        let way = match settings.mail.url() {
            None => None,
            Some(url) => Some(Way {
                server: Server::new(url, settings.mail.connect_timeout(), settings.outbound.extra_roots().as_deref())?,
                from: settings.mail.from.parse().map_err(|_| NoMailer::From)?,
                deadline: settings.mail.send_timeout(),
            }),
        };
        Ok(Self { way, clock })
    }

    /// Whether a mail can be sent to `to`: there is a server, and it is an e-mail address.
    #[must_use]
    pub fn can_write_to(&self, to: &str) -> bool {
        self.way.is_some() && to.parse::<Address>().is_ok()
    }

    /// Sends a mail, once. It always comes back with an outcome, shortly after the deadline at the latest.
    ///
    /// What the server said is the answer, and its code the status: 250 is a mail that was taken, 4xx one that is refused for now,
    /// 5xx one that is refused for good.
    pub async fn send(&self, mail: &Mail) -> CallResult {
        let began = self.clock.uptime();
        let result = match &self.way {
            None => refused(NO_SERVER),
            Some(way) => match mail.to.parse() {
                Ok(to) => way.send(&text::compose(mail, &way.from, &to, self.clock.wall()), to).await,
                Err(_) => refused("the recipient is no e-mail address"),
            },
        };
        CallResult { took: self.clock.uptime().saturating_sub(began), ..result }
    }
}

impl Way {
    async fn send(&self, text: &str, to: Address) -> CallResult {
        let Ok(envelope) = Envelope::new(Some(self.from.clone()), vec![to]) else { return refused("it has no recipient") };
        match timeout(self.deadline, self.server.hand_over(&envelope, text)).await {
            Err(_) => CallResult::refused(Outcome::TimedOut),
            Ok(Err(error)) => failure::explain(&error),
            Ok(Ok((response, mut connection))) => {
                // Whether the server says goodbye changes nothing any more.
                _ = timeout(FAREWELL, connection.abort()).await;
                answered(&response)
            }
        }
    }
}

fn refused(why: &str) -> CallResult {
    CallResult::refused(Outcome::Refused(why.to_owned()))
}

fn answered(response: &Response) -> CallResult {
    said(response.code().into(), &response.message().collect::<Vec<_>>().join("\n"))
}

/// The server's word on the mail, with as much of it as is kept.
fn said(status: u16, text: &str) -> CallResult {
    let kept = text.get(..text.floor_char_boundary(MOST_KEPT)).unwrap_or(text);
    let outcome = Outcome::Answered { status, retry_after: None };
    CallResult { outcome, answer: Bytes::copy_from_slice(kept.as_bytes()), truncated: kept.len() < text.len(), took: Duration::ZERO }
}
