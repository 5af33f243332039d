//! The target of a call: a well-formed URL.

use std::net::IpAddr;

use hyper::Uri;
use hyper::http::uri::Scheme;
use url::Url;

use super::refusal::NotAllowed;
use crate::platform::config::is_name;

/// The maximum length of a URL.
const LONGEST: usize = 2_000;

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name in lower case, in its ASCII form.
    Name(String),
    /// An address. Unusual notations (`0x7f.1`, `2130706433`, `0177.0.0.1`) are normalised.
    Address(IpAddr),
}

/// A well-formed URL. The guard decides whether it may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    uri: Uri,
    host: Host,
    port: u16,
}

impl Target {
    /// Parses a URL: http or https, with a host, and with neither a user nor a fragment.
    pub fn parse(text: &str) -> Result<Self, NotAllowed> {
        // The URL parser drops some of these silently, but what is called must be what was written.
        let stripped = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.len() > LONGEST || text.contains(stripped) {
            return Err(NotAllowed::NoUrl);
        }
        let url = Url::parse(text).map_err(|_| NotAllowed::NoUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NotAllowed::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NotAllowed::User);
        }
        if url.fragment().is_some() {
            return Err(NotAllowed::Fragment);
        }
        let host = match url.host() {
            Some(url::Host::Domain(name)) if is_name(name) => Host::Name(name.to_owned()),
            Some(url::Host::Ipv4(address)) => Host::Address(address.into()),
            Some(url::Host::Ipv6(address)) => Host::Address(address.into()),
            Some(url::Host::Domain(_)) | None => return Err(NotAllowed::Host),
        };
        let port = url.port_or_known_default().ok_or(NotAllowed::Port)?;
        let uri = Uri::try_from(url.as_str()).map_err(|_| NotAllowed::NoUrl)?;
        Ok(Self { uri, host, port })
    }

    /// The host that the URL names.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, explicit or by the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// True if calls use TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// The normalised URL.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.uri
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_notations_of_an_address_are_normalised() {
        for spelling in [
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0x7f.0.0.0x1",
            "0177.0.0.1",
            "0177.1",
            "017700000001",
            "127.1",
            "127.0.1",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "127。0。0。1",
            "１２７.0.0.1",
            "①②⑦.0.0.1",
        ] {
            let target = Target::parse(&format!("https://{spelling}/"));
            assert_eq!(target.map(|target| target.host), Ok(Host::Address([127, 0, 0, 1].into())), "{spelling}");
        }
    }

    #[test]
    fn a_url_is_what_was_written() {
        for (text, refusal) in [
            ("", NotAllowed::NoUrl),
            ("hooks.example.com", NotAllowed::NoUrl),
            ("/path", NotAllowed::NoUrl),
            ("https://", NotAllowed::NoUrl),
            ("https://a b.example.com/", NotAllowed::NoUrl),
            ("https://hooks.exam\nple.com/", NotAllowed::NoUrl),
            ("ht\ttps://hooks.example.com/", NotAllowed::NoUrl),
            ("https:\\\\hooks.example.com", NotAllowed::NoUrl),
            ("https://hooks.example.com\\@127.0.0.1/", NotAllowed::NoUrl),
            ("https://256.0.0.1/", NotAllowed::NoUrl),
            ("https://1.2.3.4.5/", NotAllowed::NoUrl),
            ("https://127.0.0.1.1/", NotAllowed::NoUrl),
            ("https://[::1/", NotAllowed::NoUrl),
            ("https://[fe80::1%25eth0]/", NotAllowed::NoUrl),
            ("https://hooks.example.com:99999/", NotAllowed::NoUrl),
            ("ftp://hooks.example.com/", NotAllowed::Scheme),
            ("file:///etc/passwd", NotAllowed::Scheme),
            ("gopher://127.0.0.1:6379/_", NotAllowed::Scheme),
            ("data:text/plain,x", NotAllowed::Scheme),
            ("unix:/run/docker.sock", NotAllowed::Scheme),
            ("ws://hooks.example.com/", NotAllowed::Scheme),
            ("https://user@hooks.example.com/", NotAllowed::User),
            ("https://user:password@hooks.example.com/", NotAllowed::User),
            ("https://hooks.example.com:443@127.0.0.1/", NotAllowed::User),
            ("https://hooks.example.com/#part", NotAllowed::Fragment),
            ("https://hooks.example.com./", NotAllowed::Host),
            ("https://hooks..example.com/", NotAllowed::Host),
            ("https://hooks!.example.com/", NotAllowed::Host),
            ("https://*.example.com/", NotAllowed::Host),
        ] {
            assert_eq!(Target::parse(text), Err(refusal), "{text}");
        }
        let long = format!("https://hooks.example.com/{}", "a".repeat(LONGEST));
        assert_eq!(Target::parse(&long), Err(NotAllowed::NoUrl));
    }

    #[test]
    fn an_ordinary_url_is_read() {
        let target = Target::parse("HTTPS://Hooks.Example.COM/a/../rma?key=ä").unwrap();
        assert_eq!(target.uri(), "https://hooks.example.com/rma?key=%C3%A4");
        assert_eq!((target.host(), target.port(), target.is_https()), (&Host::Name("hooks.example.com".to_owned()), 443, true));
        let target = Target::parse("http://[2606:4700::1111]:8080/").unwrap();
        assert_eq!((target.host(), target.port()), (&Host::Address("2606:4700::1111".parse().unwrap()), 8080));
        assert_eq!(Target::parse("https://bücher.example/").unwrap().host(), &Host::Name("xn--bcher-kva.example".to_owned()));
    }
}
