//! Mails, sent to a real SMTP server.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use backhaul::delivery::client::CallResult;
use backhaul::delivery::transports::mail::{Mail, Mailer, NoMailer};
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use domain::messages::delivery::Outcome;
use sandbox::mailbox::{Answer, Mailbox};
use uuid::Uuid;

use crate::messages::outbound_call::peers::{Authority, Peer};

/// A secret that must not appear anywhere.
const PASSWORD: &str = "canary7f3a&+";
const IN_URL: &str = "canary7f3a%26+";

fn mailer_with(url: &str, changed: &[(&str, &str)]) -> Result<Mailer, NoMailer> {
    let usual = [("MODE", "sandbox"), ("MAIL__FROM", "notices@shop.example.com"), ("MAIL__URL", url)];
    let settings = usual.iter().chain(changed).map(|(name, value)| (format!("BACKHAUL__{name}"), (*value).to_owned()));
    Mailer::new(&Settings::load(None, settings).unwrap(), Clock::system())
}

fn mailer(url: &str) -> Mailer {
    mailer_with(url, &[]).unwrap()
}

/// The URL of the mailbox without TLS.
fn plain(mailbox: &Mailbox) -> String {
    format!("{}?tls=none", mailbox.url())
}

/// The URL of the mailbox with a login.
fn with_login(mailbox: &Mailbox, password: &str) -> String {
    mailbox.url().replacen("://", &format!("://backhaul:{password}@"), 1)
}

fn mail() -> Mail {
    Mail {
        id: Uuid::from_u128(7),
        to: "pat@example.com".to_owned(),
        subject: "Gr\u{fc}\u{df}e: an endpoint fails \u{2717}".to_owned(),
        text: "Since 12:00 nothing arrives.\n.\n\u{4e2d}\u{6587}\n".to_owned(),
        html: None,
        sender: None,
        reply_to: None,
    }
}

fn answered(status: u16) -> Outcome {
    Outcome::Answered { status, retry_after: None }
}

fn refusal(exchange: &CallResult) -> &str {
    match &exchange.outcome {
        Outcome::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_mail_arrives_and_is_the_same_mail_when_it_is_sent_again() {
    let mailbox = Mailbox::start().await.unwrap();
    let mailer = mailer(&plain(&mailbox));
    for _ in 0..2 {
        let exchange = mailer.send(&mail()).await;
        assert_eq!((exchange.outcome, &exchange.answer[..]), (answered(250), &b"accepted"[..]));
    }
    for received in mailbox.received() {
        assert_eq!((received.envelope_from(), received.envelope_to()), ("notices@shop.example.com", &["pat@example.com".to_owned()][..]));
        assert_eq!((received.from(), received.to()), (Some("notices@shop.example.com"), Some("pat@example.com")));
        assert_eq!(received.message_id(), Some("<00000000-0000-0000-0000-000000000007@shop.example.com>"));
        assert_eq!(received.subject(), Some(mail().subject.as_str()));
        assert_eq!(received.text().unwrap().replace("\r\n", "\n").trim_end(), mail().text.trim_end());
    }
    assert_eq!(mailbox.count(), 2);
}

#[tokio::test]
async fn a_refusal_is_the_servers_word() {
    let mailbox = Mailbox::start().await.unwrap();
    let mailer = mailer(&plain(&mailbox));
    mailbox.answer_next([Answer::TryLater, Answer::RefuseRecipient]);
    for (status, text) in [(451, "try again later"), (550, "no such mailbox"), (250, "accepted")] {
        let exchange = mailer.send(&mail()).await;
        assert_eq!((exchange.outcome, &exchange.answer[..]), (answered(status), text.as_bytes()));
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_left_at_the_deadline() {
    let mailbox = Mailbox::start().await.unwrap();
    mailbox.answer(Answer::Hang);
    let mailer = mailer_with(&plain(&mailbox), &[("MAIL__SEND_TIMEOUT_MS", "300")]).unwrap();
    let exchange = mailer.send(&mail()).await;
    assert_eq!(exchange.outcome, Outcome::TimedOut);
    assert!(exchange.took.as_millis() >= 300, "{:?}", exchange.took);
    assert_eq!(mailbox.count(), 1);
}

#[tokio::test]
async fn a_broken_connection_is_told_from_one_that_never_was() {
    let mailbox = Mailbox::start().await.unwrap();
    let mailer = mailer(&plain(&mailbox));
    mailbox.answer(Answer::Disconnect);
    let broken = "the connection was closed without an answer, or the answer is not SMTP";
    assert_eq!(mailer.send(&mail()).await.outcome, Outcome::Unreachable(broken.to_owned()));
    mailbox.stop().await;
    assert_eq!(mailer.send(&mail()).await.outcome, Outcome::Unreachable("the connection was refused".to_owned()));
}

#[tokio::test]
async fn a_login_is_sent_over_tls_only() {
    let authority = Authority::new();
    let (certificate, key) = authority.pair("127.0.0.1");
    let trusting = [("OUTBOUND__EXTRA_ROOTS", authority.file.to_str().unwrap())];
    let at_once = Mailbox::start_tls(certificate.as_bytes(), key.as_bytes()).await.unwrap();
    let offered = Mailbox::start_offering_tls(certificate.as_bytes(), key.as_bytes()).await.unwrap();
    for mailbox in [&at_once, &offered] {
        mailbox.expect_login("backhaul", PASSWORD);
        let exchange = mailer_with(&with_login(mailbox, IN_URL), &trusting).unwrap().send(&mail()).await;
        assert_eq!(exchange.outcome, answered(250));
        let exchange = mailer_with(&with_login(mailbox, "guess"), &trusting).unwrap().send(&mail()).await;
        assert_eq!(exchange.outcome, answered(535), "the password is wrong");
        let exchange = mailer(&with_login(mailbox, IN_URL)).send(&mail()).await;
        assert_eq!(exchange.outcome, Outcome::Unreachable("TLS: the certificate is from an unknown authority".to_owned()));
        assert_eq!(mailbox.count(), 1);
    }
    let without = Mailbox::start().await.unwrap();
    let exchange = mailer(&with_login(&without, IN_URL)).send(&mail()).await;
    assert_eq!(refusal(&exchange), "STARTTLS is not supported on this server");
    assert_eq!(without.count(), 0);
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_with_the_reason() {
    let exchange = mailer("").send(&mail()).await;
    assert_eq!(refusal(&exchange), "no mail server is configured; set mail.url and mail.from");
    let mailbox = Mailbox::start().await.unwrap();
    for to in ["", "pat", "Pat <pat@example.com>", "pat@example.com\r\nBcc: kim@example.com", "pat@example.com, kim@example.com"] {
        let exchange = mailer(&plain(&mailbox)).send(&Mail { to: to.to_owned(), ..mail() }).await;
        assert_eq!(refusal(&exchange), "the recipient is not an e-mail address", "{to}");
    }
    let subject = "One\r\nBcc: kim@example.com\r\n\r\ntext".to_owned();
    assert_eq!(mailer(&plain(&mailbox)).send(&Mail { subject, ..mail() }).await.outcome, answered(250));
    let received = &mailbox.received()[0];
    assert_eq!((received.header("bcc"), received.envelope_to().len()), (None, 1), "a subject cannot add headers");
    let wrong = mailer_with(&plain(&mailbox), &[("MAIL__FROM", "nobody")]).err().unwrap();
    assert!(wrong.to_string().starts_with("mail.from is not an e-mail address"), "{wrong}");
}

/// Collects the log lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_password_is_shown_or_logged() {
    let lines = Lines::default();
    let log = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer({
        let lines = lines.clone();
        move || lines.clone()
    });
    let _logging = tracing::subscriber::set_default(log.finish());
    tracing::trace!("the log is at its most talkative");
    let mailbox = Mailbox::start().await.unwrap();
    mailbox.expect_login("backhaul", PASSWORD);
    let silent = Peer::answering("127.0.0.1:0", "nonsense").await;
    let urls = [
        format!("{}?tls=none", with_login(&mailbox, IN_URL)),
        format!("{}?tls=none", with_login(&mailbox, "canary7f3a-guess")),
        with_login(&mailbox, IN_URL),
        format!("smtp://backhaul:{IN_URL}@127.0.0.1:{}?tls=none", silent.port()),
    ];
    let mut shown = Vec::new();
    for url in urls {
        let mailer = mailer_with(&url, &[("MAIL__SEND_TIMEOUT_MS", "300")]).unwrap();
        shown.push(format!("{:?}", mailer.send(&mail()).await));
    }
    assert_eq!(mailbox.count(), 1);
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("most talkative"));
    assert!(!log.contains("canary") && !shown.concat().contains("canary"), "{log}{shown:?}");
}
