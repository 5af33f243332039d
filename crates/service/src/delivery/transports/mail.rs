//! E-mail: sends mails through the operator's SMTP server.
//!
//! The guard does not apply here. It keeps merchants from making us call internal hosts, whereas the operator names the mail
//! server in the settings, and it is usually an internal host.

mod error;
mod failure;
mod message;
mod server;

use std::time::Duration;

use domain::messages::delivery::Outcome;
use lettre::Address;
use lettre::address::Envelope;
use lettre::transport::smtp::response::Response;
use tokio::time::timeout;

pub use self::error::{NoMailer, WrongUrl};
use self::failure::reply;
pub use self::message::Mail;
use self::server::Server;
use crate::delivery::client::CallResult;
use crate::platform::clock::Clock;
use crate::platform::config::Settings;

/// The time for closing the connection. The server has accepted the mail by then.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The outcome of a mail while no server is configured.
const NO_SERVER: &str = "no mail server is configured; set mail.url and mail.from";

/// Sends mails. It has no `Debug` because it holds a password.
pub struct Mailer {
    /// `None` if no mail server is configured.
    account: Option<Account>,
    clock: Clock,
}

/// The configured server and sender.
struct Account {
    server: Server,
    from: Address,
    deadline: Duration,
}

impl Mailer {
    /// Creates a mailer from the settings. It does not connect to anything yet.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, NoMailer> {
        let account = match settings.mail.url() {
            None => None,
            Some(url) => Some(Account {
                server: Server::new(url, settings.mail.connect_timeout(), settings.outbound.extra_roots().as_deref())?,
                from: settings.mail.from.parse().map_err(|_| NoMailer::From)?,
                deadline: settings.mail.send_timeout(),
            }),
        };
        Ok(Self { account, clock })
    }

    /// True if a mail server is configured.
    #[must_use]
    pub fn has_server(&self) -> bool {
        self.account.is_some()
    }

    /// True if a mail server is configured and `to` is an e-mail address.
    #[must_use]
    pub fn can_write_to(&self, to: &str) -> bool {
        self.account.is_some() && is_address(to)
    }

    /// Tries once to send a mail. It always returns with an outcome, at the latest shortly after the deadline.
    ///
    /// The status is the SMTP reply code: 250 for an accepted mail, 4xx for one refused for now, 5xx for one refused for good. The
    /// answer is the text of the reply.
    pub async fn send(&self, mail: &Mail) -> CallResult {
        let began = self.clock.uptime();
        let result = match &self.account {
            None => refused(NO_SERVER),
            Some(account) => match mail.to.parse() {
                Ok(to) => match message::compose(mail, &account.from, &to, self.clock.wall()) {
                    Ok(written) => account.send(&written, to).await,
                    Err(_) => refused("the mail cannot be written"),
                },
                Err(_) => refused("the recipient is not an e-mail address"),
            },
        };
        CallResult { took: self.clock.uptime().saturating_sub(began), ..result }
    }
}

impl Account {
    async fn send(&self, mail: &[u8], to: Address) -> CallResult {
        let Ok(envelope) = Envelope::new(Some(self.from.clone()), vec![to]) else { return refused("the mail has no recipient") };
        match timeout(self.deadline, self.server.send(&envelope, mail)).await {
            Err(_) => CallResult::refused(Outcome::TimedOut),
            Ok(Err(error)) => failure::explain(&error),
            Ok(Ok((response, mut connection))) => {
                // The mail has been accepted, whether or not the connection closes cleanly.
                _ = timeout(QUIT_TIMEOUT, connection.abort()).await;
                answered(&response)
            }
        }
    }
}

/// Returns true if `text` is an e-mail address.
#[must_use]
pub fn is_address(text: &str) -> bool {
    text.parse::<Address>().is_ok()
}

fn refused(why: &str) -> CallResult {
    CallResult::refused(Outcome::Refused(why.to_owned()))
}

fn answered(response: &Response) -> CallResult {
    reply(response.code().into(), &response.message().collect::<Vec<_>>().join("\n"))
}
