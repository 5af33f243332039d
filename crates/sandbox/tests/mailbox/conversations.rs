//! SMTP sessions, line by line.

use sandbox::mailbox::Mailbox;

use crate::client::Lines;

#[tokio::test]
async fn a_mail_is_sent_step_by_step() {
    let mailbox = Mailbox::start().await.unwrap();
    let mut lines = Lines::of(&mailbox).await;
    lines.write("ehlo client.example.com\r\n").await;
    let mut offered = Vec::new();
    while offered.last().is_none_or(|line: &String| line.starts_with("250-")) {
        offered.push(lines.read().await);
    }
    assert_eq!(offered, ["250-mailbox.example.com\r\n", "250-8BITMIME\r\n", "250-SIZE 1048576\r\n", "250 AUTH PLAIN\r\n"]);
    assert_eq!(lines.say("mail from:<> SIZE=10").await, 250);
    assert_eq!(lines.say("RCPT TO: <pat@example.com>").await, 250);
    assert_eq!(lines.say("RCPT TO:<kim@example.com>").await, 250);
    assert_eq!(lines.say("DATA").await, 354);
    lines.write("Subject: two\r\n lines\r\n\r\n..\r\n...x\r\nend\r\n").await;
    assert_eq!(lines.say(".").await, 250);
    assert_eq!(lines.say("QUIT").await, 221);
    assert_eq!(lines.rest().await, "");
    let received = &mailbox.received()[0];
    assert_eq!((received.envelope_from(), received.envelope_to().join(" ")), ("", "pat@example.com kim@example.com".to_owned()));
    assert_eq!(received.raw(), b"Subject: two\r\n lines\r\n\r\n.\r\n..x\r\nend\r\n");
    assert_eq!((received.subject(), received.text()), (Some("two lines"), Some(".\r\n..x\r\nend\r\n")));
}

#[tokio::test]
async fn what_comes_out_of_turn_is_refused_and_the_conversation_goes_on() {
    let mailbox = Mailbox::start().await.unwrap();
    let mut lines = Lines::of(&mailbox).await;
    for (line, code) in [
        ("HELO", 501),
        ("HELO client.example.com", 250),
        ("NOOP", 250),
        ("VRFY pat", 502),
        ("", 502),
        ("STARTTLS", 502),
        ("AUTH LOGIN", 504),
        ("AUTH PLAIN ????", 535),
        ("AUTH PLAIN", 334),
        ("AHBhdABwdw==", 235),
        ("RCPT TO:<pat@example.com>", 503),
        ("DATA", 503),
        ("MAIL pat@example.com", 501),
        ("MAIL FROM:<kim@example.com>", 250),
        ("MAIL FROM:<kim@example.com>", 503),
        ("DATA", 503),
        ("RCPT TO:<>", 501),
        ("RCPT TO:<pat@example.com>", 250),
        ("RSET", 250),
        ("DATA", 503),
        ("MAIL FROM:<kim@example.com>", 250),
    ] {
        assert_eq!(lines.say(line).await, code, "{line}");
    }
    assert_eq!(mailbox.count(), 0);
}

#[tokio::test]
async fn everything_has_its_bounds() {
    let mailbox = Mailbox::start().await.unwrap();
    let mut lines = Lines::of(&mailbox).await;
    lines.say("HELO client.example.com").await;
    lines.say("MAIL FROM:<kim@example.com>").await;
    for _ in 0..100 {
        assert_eq!(lines.say("RCPT TO:<pat@example.com>").await, 250);
    }
    assert_eq!(lines.say("RCPT TO:<pat@example.com>").await, 452);
    assert_eq!(lines.say("DATA").await, 354);
    let line = format!("{}\r\n", "x".repeat(998));
    lines.write(&line.repeat(1_100)).await;
    assert_eq!(lines.say(".").await, 552);
    lines.write(&"x".repeat(1_000)).await;
    assert_eq!(lines.rest().await, "500 the line is too long\r\n");
    assert_eq!(mailbox.count(), 0);
}

#[tokio::test]
async fn a_mail_that_breaks_off_is_none() {
    let mailbox = Mailbox::start().await.unwrap();
    let mut lines = Lines::of(&mailbox).await;
    for line in ["HELO client.example.com", "MAIL FROM:<kim@example.com>", "RCPT TO:<pat@example.com>", "DATA"] {
        lines.say(line).await;
    }
    lines.write("Subject: half\r\n\r\nand the").await;
    lines.hang_up().await;
    assert_eq!(mailbox.count(), 0);
}
