//! The mailbox's clients: lettre, or lines on a socket.

use std::future::Future;
use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, CertificateStore, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use rcgen::{CertificateParams, KeyPair};
use sandbox::mailbox::Mailbox;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// The timeout for everything; only a failing test waits that long.
pub const LONG: Duration = Duration::from_secs(20);

pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.expect("it did not happen")
}

/// Connects with lettre, without TLS.
pub async fn connect(mailbox: &Mailbox) -> AsyncSmtpConnection {
    soon(AsyncSmtpConnection::connect_tokio1(mailbox.address(), Some(LONG), &ClientId::default(), None, None)).await.unwrap()
}

/// Sends a mail with these lines to Pat.
pub async fn send(connection: &mut AsyncSmtpConnection, mail: &str) -> Result<Response, Error> {
    soon(connection.send(&envelope(), mail.as_bytes())).await
}

pub fn envelope() -> Envelope {
    Envelope::new(Some("notices@example.com".parse().unwrap()), vec!["pat@example.com".parse().unwrap()]).unwrap()
}

/// A certificate for this machine with its key, and the client settings to trust it.
pub fn certificate() -> (String, String, TlsParameters) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    let trust = TlsParameters::builder("127.0.0.1".to_owned()).certificate_store(CertificateStore::None);
    let trust = trust.add_root_certificate(Certificate::from_pem(certificate.pem().as_bytes()).unwrap());
    (certificate.pem(), key.serialize_pem(), trust.build().unwrap())
}

/// A client that sends lines on a socket.
pub struct Lines(BufReader<TcpStream>);

impl Lines {
    /// Connects and reads the greeting.
    pub async fn of(mailbox: &Mailbox) -> Self {
        let mut lines = Self(BufReader::new(TcpStream::connect(mailbox.address()).await.unwrap()));
        assert_eq!(lines.read().await, "220 mailbox.example.com ESMTP\r\n");
        lines
    }

    pub async fn write(&mut self, bytes: &str) {
        soon(self.0.write_all(bytes.as_bytes())).await.unwrap();
    }

    pub async fn read(&mut self) -> String {
        let mut line = String::new();
        soon(self.0.read_line(&mut line)).await.unwrap();
        line
    }

    /// Sends `line` and returns the code of the one-line answer.
    pub async fn say(&mut self, line: &str) -> u16 {
        self.write(&format!("{line}\r\n")).await;
        let answer = self.read().await;
        answer.get(..3).unwrap_or_default().parse().expect("a code")
    }

    /// Stops sending, and waits until the mailbox has closed the connection as well.
    pub async fn hang_up(mut self) {
        self.0.shutdown().await.unwrap();
        assert_eq!(self.rest().await, "");
    }

    /// Reads everything up to the end of the connection.
    pub async fn rest(mut self) -> String {
        let mut rest = String::new();
        soon(self.0.read_to_string(&mut rest)).await.unwrap();
        rest
    }
}
