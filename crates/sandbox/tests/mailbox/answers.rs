//! The mailbox's answers to mails, and its record of them.

use std::sync::Arc;
use std::time::Duration;

use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::extension::ClientId;
use sandbox::mailbox::{Answer, Mailbox, Received, TooFew};

use crate::client::{LONG, certificate, connect, envelope, send, soon};

const MAIL: &str = "Subject: One\r\n\r\ntext\r\n";

#[tokio::test]
async fn a_mail_is_kept_as_it_came_and_decoded() {
    let mailbox = Mailbox::start().await.unwrap();
    let mut connection = connect(&mailbox).await;
    let head = "From: Backhaul <notices@example.com>\r\nto: Pat <pat@example.com>\r\nMessage-Id: <1@example.com>\r\n\
                Subject: =?utf-8?b?WnVyw7xjazog?=\r\n =?utf-8?q?=E4=B8=AD?= and\r\n\tmore\r\n";
    for (kind, body, text) in [
        ("", "All is well.\r\n.\r\n..\r\n", Some("All is well.\r\n.\r\n..\r\n")),
        ("Content-Transfer-Encoding: 8bit\r\n", "gr\u{fc}n\r\n", Some("gr\u{fc}n\r\n")),
        ("Content-Transfer-Encoding: quoted-printable\r\nContent-Type: text/plain\r\n", "gr=C3=BC=\r\nn\r\n", Some("gr\u{fc}n\r\n")),
        ("Content-Transfer-Encoding: base64\r\nContent-Type: TEXT/plain; charset=utf-8\r\n", "Z3LD\r\nvG4=\r\n", Some("gr\u{fc}n")),
        ("Content-Type: text/html\r\n", "<p>\r\n", None),
    ] {
        let sent = format!("{head}{kind}\r\n{body}");
        assert!(send(&mut connection, &sent).await.unwrap().has_code(250));
        let received = mailbox.received().pop().unwrap();
        // SMTP adds a line end to the mail.
        assert_eq!(received.raw().trim_ascii_end(), sent.trim_end().as_bytes());
        assert_eq!(received.text().map(str::trim_end), text.map(str::trim_end));
        assert_eq!((received.envelope_from(), received.envelope_to()), ("notices@example.com", &["pat@example.com".to_owned()][..]));
        assert_eq!((received.from(), received.to()), (Some("Backhaul <notices@example.com>"), Some("Pat <pat@example.com>")));
        assert_eq!((received.message_id(), received.subject()), (Some("<1@example.com>"), Some("Zur\u{fc}ck: \u{4e2d} and more")));
        assert_eq!((received.header("x-nothing"), received.is_accepted()), (None, true));
    }
    mailbox.clear();
    assert_eq!((mailbox.count(), mailbox.received().len()), (0, 0));
}

#[tokio::test]
async fn queued_answers_come_first_and_once() {
    let mailbox = Mailbox::start().await.unwrap();
    mailbox.answer(Answer::TryLater);
    mailbox.answer_next([Answer::RefuseRecipient, Answer::Accept]);
    let mut codes: Vec<u16> = Vec::new();
    for _ in 0..4 {
        let sent = send(&mut connect(&mailbox).await, MAIL).await;
        codes.push(sent.map_or_else(|error| error.status().unwrap(), |response| response.code()).into());
    }
    assert_eq!(codes, [550, 250, 451, 451]);
    let accepted: Vec<bool> = mailbox.received().iter().map(Received::is_accepted).collect();
    assert_eq!(accepted, [true, false, false], "a mail whose recipient is refused is not sent");
}

#[tokio::test]
async fn a_connection_is_closed_after_the_mail() {
    let mailbox = Mailbox::start().await.unwrap();
    mailbox.answer_next([Answer::Disconnect]);
    let error = send(&mut connect(&mailbox).await, MAIL).await.unwrap_err();
    assert!(error.is_response(), "{error}");
    assert_eq!((mailbox.count(), mailbox.received()[0].is_accepted()), (1, false));
    assert!(send(&mut connect(&mailbox).await, MAIL).await.is_ok(), "the next connection is a good one");
}

#[tokio::test]
async fn a_mailbox_that_hangs_has_the_mail_and_does_not_answer() {
    let mailbox = Arc::new(Mailbox::start().await.unwrap());
    mailbox.answer(Answer::Hang);
    let mut connection = connect(&mailbox).await;
    let sending = tokio::spawn(async move { connection.send(&envelope(), MAIL.as_bytes()).await.map(drop) });
    assert_eq!(mailbox.wait_for(1, LONG).await.unwrap().len(), 1);
    assert!(!sending.is_finished());
    drop(mailbox);
    assert!(soon(sending).await.unwrap().is_err(), "its connections end with it");
}

#[tokio::test]
async fn who_waits_in_vain_is_told() {
    let mailbox = Mailbox::start().await.unwrap();
    send(&mut connect(&mailbox).await, MAIL).await.unwrap();
    let within = Duration::from_millis(5);
    let too_few = mailbox.wait_for(2, within).await.unwrap_err();
    assert_eq!(too_few, TooFew { wanted: 2, came: 1, within });
    assert_eq!(too_few.to_string(), "only 1 of 2 mails arrived within 5ms");
}

#[tokio::test]
async fn only_who_logs_in_sends_where_a_login_is_expected() {
    let mailbox = Mailbox::start().await.unwrap();
    mailbox.expect_login("backhaul", "s p\u{e4}ce");
    let log_in = async |password: &str| {
        let mut connection = connect(&mailbox).await;
        let credentials = Credentials::new("backhaul".to_owned(), password.to_owned());
        let answer = soon(connection.auth(&[Mechanism::Plain], &credentials)).await;
        (connection, answer.map_or_else(|error| error.status().unwrap().into(), |response| u16::from(response.code())))
    };
    let (mut good, code) = log_in("s p\u{e4}ce").await;
    assert_eq!(code, 235);
    assert!(send(&mut good, MAIL).await.is_ok());
    let (mut bad, code) = log_in("guess").await;
    assert_eq!(code, 535);
    let refused = send(&mut bad, MAIL).await.unwrap_err();
    assert_eq!(refused.status().map(u16::from), Some(530));
    assert_eq!(mailbox.count(), 1);
}

#[tokio::test]
async fn tls_begins_at_once_or_when_the_client_asks_for_it() {
    let (certificate, key, trust) = certificate();
    let name = ClientId::default();

    let mailbox = Mailbox::start_tls(certificate.as_bytes(), key.as_bytes()).await.unwrap();
    assert_eq!(mailbox.url(), format!("smtps://{}", mailbox.address()));
    let connected = AsyncSmtpConnection::connect_tokio1(mailbox.address(), Some(LONG), &name, Some(trust.clone()), None);
    let mut connection = soon(connected).await.unwrap();
    assert!(send(&mut connection, MAIL).await.is_ok());
    assert!(connection.is_encrypted() && !connection.can_starttls());

    let mailbox = Mailbox::start_offering_tls(certificate.as_bytes(), key.as_bytes()).await.unwrap();
    assert_eq!(mailbox.url(), format!("smtp://{}", mailbox.address()));
    let mut connection = connect(&mailbox).await;
    assert!(connection.can_starttls());
    soon(connection.starttls(trust, &name)).await.unwrap();
    assert!(connection.is_encrypted() && !connection.can_starttls());
    assert!(send(&mut connection, MAIL).await.is_ok());
    assert_eq!(mailbox.count(), 1);

    assert!(!connect(&Mailbox::start().await.unwrap()).await.can_starttls());
}
