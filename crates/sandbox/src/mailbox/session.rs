//! The SMTP session with one client.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::answer::Answer;
use super::lines::{Lines, MOST_MAIL};
use super::received::Received;
use super::state::{Security, State};

/// The maximum number of recipients of a mail.
const MOST_RECIPIENTS: usize = 100;
/// The timeout of the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The host name in the greeting.
const NAME: &str = "mailbox.example.com";

/// Serves a client until either side ends the session.
pub(super) async fn serve(stream: TcpStream, security: Security, state: Arc<State>) {
    // Errors only end the connection, which the client notices.
    let _ = match security {
        Security::Plain => Session::new(stream, &state, false).greet_and_run().await.map(drop),
        Security::Offered(acceptor) => offer(stream, &acceptor, &state).await,
        Security::Always(acceptor) => match timeout(HANDSHAKE, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => Session::new(stream, &state, false).greet_and_run().await.map(drop),
            Ok(Err(_)) | Err(_) => Ok(()),
        },
    };
}

async fn offer(stream: TcpStream, acceptor: &TlsAcceptor, state: &State) -> io::Result<()> {
    match Session::new(stream, state, true).greet_and_run().await? {
        End::Left => Ok(()),
        End::StartTls(stream) => {
            let stream = timeout(HANDSHAKE, acceptor.accept(stream)).await??;
            Session::new(stream, state, false).run().await.map(drop)
        }
    }
}

/// The ends of a session.
enum End<S> {
    Left,
    StartTls(S),
}

/// The next step after a command.
enum Next {
    GoOn,
    Leave,
    StartTls,
}

struct Session<'a, S> {
    lines: Lines<S>,
    state: &'a State,
    offers_tls: bool,
    is_logged_in: bool,
    envelope: Option<Envelope>,
}

/// The envelope of the mail that is being sent.
struct Envelope {
    answer: Answer,
    from: String,
    to: Vec<String>,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Session<'a, S> {
    fn new(stream: S, state: &'a State, offers_tls: bool) -> Self {
        Self { lines: Lines::over(stream), state, offers_tls, is_logged_in: false, envelope: None }
    }

    async fn greet_and_run(mut self) -> io::Result<End<S>> {
        self.say(220, &format!("{NAME} ESMTP")).await?;
        self.run().await
    }

    async fn run(mut self) -> io::Result<End<S>> {
        loop {
            let next = match self.lines.read().await {
                Ok(Some(line)) => self.execute(&String::from_utf8_lossy(&line)).await,
                Ok(None) => Ok(Next::Leave),
                Err(error) => Err(error),
            };
            match next {
                Ok(Next::GoOn) => {}
                Ok(Next::Leave) => return Ok(End::Left),
                Ok(Next::StartTls) => return Ok(End::StartTls(self.lines.into_stream())),
                Err(error) => {
                    match error.kind() {
                        ErrorKind::InvalidData => self.lines.write(500, "the line is too long").await?,
                        ErrorKind::TimedOut => self.lines.write(421, "timeout").await?,
                        _ => {}
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Sends an answer and continues with the next command.
    async fn say(&mut self, code: u16, text: &str) -> io::Result<Next> {
        self.lines.write(code, text).await?;
        Ok(Next::GoOn)
    }

    async fn execute(&mut self, line: &str) -> io::Result<Next> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (verb.to_ascii_uppercase().as_str(), rest.trim()) {
            ("EHLO", name) if !name.is_empty() => {
                self.envelope = None;
                let tls = if self.offers_tls { "\nSTARTTLS" } else { "" };
                self.say(250, &format!("{NAME}\n8BITMIME\nSIZE {MOST_MAIL}\nAUTH PLAIN{tls}")).await
            }
            ("HELO", name) if !name.is_empty() => {
                self.envelope = None;
                self.say(250, NAME).await
            }
            ("STARTTLS", "") if self.offers_tls => {
                self.say(220, "ready to start TLS").await?;
                Ok(Next::StartTls)
            }
            ("AUTH", how) => self.log_in(how).await,
            ("MAIL", from) => self.open(from).await,
            ("RCPT", to) => self.add(to).await,
            ("DATA", "") => self.take().await,
            ("RSET", "") => {
                self.envelope = None;
                self.say(250, "reset").await
            }
            ("NOOP", _) => self.say(250, "ok").await,
            ("QUIT", "") => {
                self.say(221, "goodbye").await?;
                Ok(Next::Leave)
            }
            ("EHLO" | "HELO" | "DATA" | "RSET" | "QUIT", _) => self.say(501, "syntax error in parameters").await,
            _ => self.say(502, "command not recognised").await,
        }
    }

    async fn log_in(&mut self, how: &str) -> io::Result<Next> {
        let (mechanism, initial) = how.split_once(' ').unwrap_or((how, ""));
        if !mechanism.eq_ignore_ascii_case("PLAIN") {
            return self.say(504, "only PLAIN is supported").await;
        }
        let response = if initial.is_empty() {
            // The challenge is empty.
            self.lines.write(334, "\n").await?;
            let Some(line) = self.lines.read().await? else { return Ok(Next::Leave) };
            line
        } else {
            initial.as_bytes().to_vec()
        };
        // The format is: identity, NUL, user, NUL, password. The identity is ignored.
        let response = BASE64_STANDARD.decode(response).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let mut parts = response.split('\0').skip(1);
        self.is_logged_in =
            matches!((parts.next(), parts.next(), parts.next()), (Some(user), Some(password), None) if self.state.knows(user, password));
        if self.is_logged_in { self.say(235, "authenticated").await } else { self.say(535, "wrong user or password").await }
    }

    async fn open(&mut self, from: &str) -> io::Result<Next> {
        if self.state.asks_for_login() && !self.is_logged_in {
            return self.say(530, "authentication required").await;
        }
        if self.envelope.is_some() {
            return self.say(503, "a mail is already open").await;
        }
        let Some(from) = address(from, "FROM:") else { return self.say(501, "MAIL FROM:<address>").await };
        self.envelope = Some(Envelope { answer: self.state.choose(), from: from.to_owned(), to: Vec::new() });
        self.say(250, "ok").await
    }

    async fn add(&mut self, to: &str) -> io::Result<Next> {
        let Some(envelope) = &mut self.envelope else { return self.say(503, "send MAIL first").await };
        let (code, text) = match address(to, "TO:") {
            None | Some("") => (501, "RCPT TO:<address>"),
            Some(_) if envelope.answer == Answer::RefuseRecipient => (550, "no such mailbox"),
            Some(_) if envelope.to.len() == MOST_RECIPIENTS => (452, "too many recipients"),
            Some(to) => {
                envelope.to.push(to.to_owned());
                (250, "ok")
            }
        };
        self.say(code, text).await
    }

    async fn take(&mut self) -> io::Result<Next> {
        let Some(envelope) = self.envelope.take_if(|envelope| !envelope.to.is_empty()) else {
            return self.say(503, "send MAIL and RCPT first").await;
        };
        self.say(354, "end with a dot on a line of its own").await?;
        let Some(mail) = self.lines.read_mail().await? else { return Ok(Next::Leave) };
        if mail.len() > MOST_MAIL {
            return self.say(552, "the mail is too large").await;
        }
        let Envelope { answer, from, to } = envelope;
        self.state.keep(Received::new(from, to, mail, answer == Answer::Accept));
        match answer {
            Answer::Accept => self.say(250, "accepted").await,
            Answer::TryLater => self.say(451, "try again later").await,
            Answer::RefuseRecipient => self.say(550, "no such mailbox").await,
            Answer::Disconnect => Ok(Next::Leave),
            Answer::Hang => {
                self.lines.ignore().await?;
                Ok(Next::Leave)
            }
        }
    }
}

/// The address in `FROM:<address> …`; parameters after it are ignored.
fn address<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    let rest = rest.trim_start().strip_prefix('<')?;
    let (address, _) = rest.split_once('>')?;
    head.eq_ignore_ascii_case(word).then_some(address)
}
