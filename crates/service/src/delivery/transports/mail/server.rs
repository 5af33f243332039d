//! The mail server: its address, its TLS settings, and our login.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use percent_encoding::percent_decode_str;
use url::Url;

use super::error::{NoMailer, WrongUrl};
use crate::delivery::client::NoRoots;

/// The port for STARTTLS.
const SUBMISSION: u16 = 587;
/// The port for implicit TLS.
const SUBMISSIONS: u16 = 465;
/// The login mechanisms. Over TLS, the others would add nothing.
const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];

/// The mail server. It has no `Debug` because it holds a password.
pub(super) struct Server {
    host: String,
    port: u16,
    security: Security,
    login: Option<Credentials>,
    connect_timeout: Duration,
}

/// The use of TLS.
enum Security {
    /// None, at the operator's request.
    Plain,
    /// After STARTTLS. A server that does not offer it gets no mail, so that nobody in between can downgrade the connection.
    StartTls(TlsParameters),
    /// From the first byte (implicit TLS).
    Tls(TlsParameters),
}

impl Server {
    /// The server at `url`. The certificate authorities in the file `extra` are trusted in addition to the public ones.
    pub(super) fn new(url: &str, connect_timeout: Duration, extra: Option<&Path>) -> Result<Self, NoMailer> {
        let url = Url::parse(url).map_err(|_| WrongUrl::NotSmtp)?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(WrongUrl::NotSmtp)?;
        // Only URLs put IPv6 addresses in brackets.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(WrongUrl::Unknown.into());
        }
        let (port, security) = match (url.scheme(), url.query()) {
            ("smtps", None) => (SUBMISSIONS, Security::Tls(trust(&host, extra)?)),
            ("smtp", None) => (SUBMISSION, Security::StartTls(trust(&host, extra)?)),
            ("smtp", Some("tls=none")) => (SUBMISSION, Security::Plain),
            ("smtp" | "smtps", Some(_)) => return Err(WrongUrl::Unknown.into()),
            _ => return Err(WrongUrl::NotSmtp.into()),
        };
        let port = url.port().unwrap_or(port);
        Ok(Self { host, port, security, login: login(&url)?, connect_timeout })
    }

    /// Sends a mail and returns the server's reply with the open connection.
    pub(super) async fn send(&self, envelope: &Envelope, mail: &[u8]) -> Result<(Response, AsyncSmtpConnection), Error> {
        let tls = match &self.security {
            Security::Tls(trust) => Some(trust.clone()),
            Security::Plain | Security::StartTls(_) => None,
        };
        let name = ClientId::default();
        let at = (self.host.as_str(), self.port);
        let mut connection = AsyncSmtpConnection::connect_tokio1(at, Some(self.connect_timeout), &name, tls, None).await?;
        match &self.security {
            Security::StartTls(trust) => connection.starttls(trust.clone(), &name).await?,
            Security::Plain | Security::Tls(_) => {}
        }
        if let Some(login) = &self.login {
            connection.auth(&MECHANISMS, login).await?;
        }
        let response = connection.send(envelope, mail).await?;
        Ok((response, connection))
    }
}

/// TLS settings for `host`, trusting the public authorities and those in the file `extra`.
fn trust(host: &str, extra: Option<&Path>) -> Result<TlsParameters, NoMailer> {
    let mut trust = TlsParameters::builder(host.to_owned());
    let name = extra.map(|file| file.display().to_string()).unwrap_or_default();
    if let Some(file) = extra {
        let pem = std::fs::read(file).map_err(|why| NoRoots::Unreadable(name.clone(), why))?;
        trust = trust.add_root_certificate(Certificate::from_pem(&pem).map_err(|_| NoRoots::NotPem(name.clone()))?);
    }
    Ok(trust.build().map_err(|_| NoRoots::NotPem(name))?)
}

/// The user and the password in a URL.
fn login(url: &Url) -> Result<Option<Credentials>, WrongUrl> {
    let decode = |text| percent_decode_str(text).decode_utf8().map(Cow::into_owned).map_err(|_| WrongUrl::Login);
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        (user, Some(password)) if !user.is_empty() => Ok(Some(Credentials::new(decode(user)?, decode(password)?))),
        (_, None | Some(_)) => Err(WrongUrl::Login),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Result<Server, String> {
        Server::new(url, Duration::from_secs(1), None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_url_says_where_and_how() {
        for (url, host, port, security) in [
            ("smtp://mail.example.com", "mail.example.com", 587, "starttls"),
            ("smtp://mail.example.com:25/", "mail.example.com", 25, "starttls"),
            ("smtps://user:p%40ss@mail.example.com", "mail.example.com", 465, "tls"),
            ("smtp://[2001:db8::25]:2525?tls=none", "2001:db8::25", 2525, "plain"),
        ] {
            let server = server(url).expect(url);
            let found = match server.security {
                Security::Plain => "plain",
                Security::StartTls(_) => "starttls",
                Security::Tls(_) => "tls",
            };
            assert_eq!((server.host.as_str(), server.port, found), (host, port, security));
            assert_eq!(server.login.is_some(), url.contains('@'));
        }
    }

    #[test]
    fn a_wrong_url_is_refused_without_showing_it() {
        for url in [
            "canary",
            "http://user:canary@mail.example.com",
            "smtp://user:canary@",
            "smtp://canary@mail.example.com",
            "smtp://:canary@mail.example.com",
            "smtp://user:canary%FF@mail.example.com",
            "smtp://user:canary@mail.example.com?tls=maybe",
            "smtps://user:canary@mail.example.com?tls=none",
            "smtp://user:canary@mail.example.com/path",
            "smtp://user:canary@mail.example.com#here",
        ] {
            let error = server(url).err().expect(url);
            assert!(error.starts_with("mail.url: ") && !error.contains("canary"), "{error}");
        }
    }
}
