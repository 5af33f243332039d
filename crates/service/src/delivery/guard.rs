//! The guard: decides which URLs and addresses may be called (protection against server-side request forgery).
//!
//! Merchants enter the URLs of their systems. Without a guard, they could enter addresses of our own machines and read their
//! answers in the recorded attempts. So a URL is checked when it is saved and when it is called ([`Guard::check_url`]), and the
//! address is checked again on connecting ([`Guard::check_address`]), because a name can resolve differently each time.
//!
//! - [`Place`] classifies an address; only public addresses may be called.
//! - [`Target`] is a well-formed URL.
//! - [`Allowed`] is an exception that the operator has configured. Clouds' metadata ([`Place::Metadata`]) has none.

mod matching;
mod metadata;
mod place;
mod refusal;
mod target;

use std::net::IpAddr;

use domain::node::mode::Mode;
use ipnet::IpNet;

pub use self::place::Place;
pub use self::refusal::NotAllowed;
pub use self::target::{Host, Target};
use crate::platform::config::{Allowed, What};

/// The guard with the operator's exceptions.
#[derive(Clone, Debug)]
pub struct Guard(Vec<Allowed>);

/// An exception that is not possible in production.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is this machine itself, which can only be allowed in a sandbox")]
pub struct NoGuard(String);

impl Guard {
    /// A guard that allows public addresses and the exceptions in `allowed`.
    pub fn new(allowed: Vec<Allowed>, mode: Mode) -> Result<Self, NoGuard> {
        match (mode, allowed.iter().find(|allowed| allowed.is_this_machine())) {
            (Mode::Production, Some(here)) => Err(NoGuard(here.to_string())),
            (Mode::Production | Mode::Sandbox, _) => Ok(Self(allowed)),
        }
    }

    /// A guard that allows nothing but the host and port of `target`, wherever they are: a URL of the operator's own, which no merchant
    /// can change. Clouds' metadata stays refused.
    #[must_use]
    pub fn only(target: &Target) -> Self {
        let on_port = |what| Allowed { what, port: Some(target.port()) };
        let everywhere = [IpAddr::from([0_u8; 4]), IpAddr::from([0_u8; 16])];
        let networks = everywhere.into_iter().filter_map(|address| IpNet::new(address, 0).ok()).map(What::Network);
        let named = match target.host() {
            Host::Name(name) => What::Host(name.clone()),
            Host::Address(address) => What::Network((*address).into()),
        };
        Self(networks.chain([named]).map(on_port).collect())
    }

    /// Parses a URL and checks everything that can be checked without resolving its name.
    pub fn check_url(&self, url: &str) -> Result<Target, NotAllowed> {
        let target = Target::parse(url)?;
        let (host, port) = (target.host(), target.port());
        if let Host::Address(address) = host
            && Place::of(*address) == Place::Metadata
        {
            return Err(NotAllowed::Address(Place::Metadata));
        }
        if self.0.iter().any(|allowed| matching::is_exempt(allowed, host, port)) {
            return Ok(target);
        }
        if !target.is_https() {
            return Err(NotAllowed::Scheme);
        }
        if port != 443 {
            return Err(NotAllowed::Port);
        }
        match host {
            Host::Address(address) => self.check_address(&target, *address)?,
            Host::Name(_) => {}
        }
        Ok(target)
    }

    /// Checks that `address`, one of the addresses of `target`, may be connected to.
    pub fn check_address(&self, target: &Target, address: IpAddr) -> Result<(), NotAllowed> {
        let place = Place::of(address);
        let is_exempt = || self.0.iter().any(|allowed| matching::may_resolve_to(allowed, target.host(), target.port(), address));
        if place == Place::Public || place != Place::Metadata && is_exempt() {
            return Ok(());
        }
        match target.host() {
            Host::Address(_) => Err(NotAllowed::Address(place)),
            Host::Name(_) => Err(NotAllowed::Name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allowed: &[&str]) -> Guard {
        Guard::new(allowed.iter().map(|text| text.parse().unwrap()).collect(), Mode::Sandbox).unwrap()
    }

    fn check(guard: &Guard, url: &str) -> Result<(), NotAllowed> {
        guard.check_url(url).map(|_| ())
    }

    #[test]
    fn urls_are_checked_when_they_are_saved() {
        use NotAllowed::{Address, Port, Scheme};
        let (guard, here) = (guard(&[]), Err(Address(Place::ThisMachine)));
        for (url, expected) in [
            ("https://hooks.example.com/rma", Ok(())),
            ("https://hooks.example.com:443/rma", Ok(())),
            ("https://localhost/", Ok(())), // a name like any other: refused when it is resolved
            ("https://93.184.216.34/", Ok(())),
            ("https://[2606:4700:4700::1111]/", Ok(())),
            ("http://hooks.example.com/", Err(Scheme)),
            ("http://hooks.example.com:443/", Err(Scheme)),
            ("https://hooks.example.com:80/", Err(Port)),
            ("https://hooks.example.com:8443/", Err(Port)),
            ("https://hooks.example.com:22/", Err(Port)),
            ("https://hooks.example.com:0/", Err(Port)),
            ("https://127.0.0.1/", here),
            ("https://127.0.0.1:8080/", Err(Port)),
            ("http://127.0.0.1/", Err(Scheme)),
            ("https://2130706433/", here),
            ("https://0x7f.1/", here),
            ("https://0177.0.0.1/", here),
            ("https://127.1/", here),
            ("https://0/", here),
            ("https://0.0.0.0/", here),
            ("https://[::1]/", here),
            ("https://[::]/", here),
            ("https://[0:0:0:0:0:0:0:1]/", here),
            ("https://[::ffff:127.0.0.1]/", Err(Address(Place::Embedded))),
            ("https://[::ffff:7f00:1]/", Err(Address(Place::Embedded))),
            ("https://[64:ff9b::7f00:1]/", Err(Address(Place::Embedded))),
            ("https://[2002:7f00:1::]/", Err(Address(Place::Embedded))),
            ("https://[2001:0:7f00:1::]/", Err(Address(Place::Embedded))),
            ("https://169.254.169.254/latest/meta-data/", Err(Address(Place::Metadata))),
            ("https://2852039166/", Err(Address(Place::Metadata))),
            ("https://0xa9fea9fe/", Err(Address(Place::Metadata))),
            ("https://[fe80::1]/", Err(Address(Place::LinkLocal))),
            ("https://10.0.0.1/", Err(Address(Place::Private))),
            ("https://012.0.0.1/", Err(Address(Place::Private))),
            ("https://3232235521/", Err(Address(Place::Private))),
            ("https://[fd00::1]/", Err(Address(Place::Private))),
            ("https://224.0.0.1/", Err(Address(Place::Reserved))),
            ("https://255.255.255.255/", Err(Address(Place::Reserved))),
        ] {
            assert_eq!(check(&guard, url), expected, "{url}");
        }
    }

    #[test]
    fn a_guard_for_one_url_of_the_operator_allows_it_wherever_it_is() {
        for url in ["http://127.0.0.1:4318/v1/traces", "http://[::1]:4318/v1/traces", "http://10.0.0.7:4318/v1/traces"] {
            let target = Target::parse(url).unwrap();
            assert_eq!(check(&Guard::only(&target), url), Ok(()), "{url}");
        }
        let target = Target::parse("http://collector.internal.example:4318/v1/traces").unwrap();
        let guard = Guard::only(&target);
        assert_eq!(guard.check_url("http://collector.internal.example:4318/v1/traces"), Ok(target.clone()));
        for address in ["127.0.0.1", "10.0.0.7", "fd00::7", "93.184.216.34"] {
            assert_eq!(guard.check_address(&target, address.parse().unwrap()), Ok(()), "{address}");
        }
        assert_eq!(guard.check_address(&target, [169, 254, 169, 254].into()), Err(NotAllowed::Name));
        assert_eq!(check(&guard, "http://other.internal.example:4318/"), Err(NotAllowed::Scheme));
        assert_eq!(check(&guard, "http://collector.internal.example:4317/"), Err(NotAllowed::Scheme));
    }

    #[test]
    fn what_is_allowed_is_called_on_its_port_and_without_tls() {
        let guard = guard(&["127.0.0.1:8080", "10.1.0.0/16", "hooks.internal.example:8443"]);
        for url in [
            "http://127.0.0.1:8080/",
            "https://127.0.0.1:8080/",
            "http://2130706433:8080/",
            "http://10.1.2.3/",
            "https://10.1.2.3:9999/",
            "http://hooks.internal.example:8443/",
        ] {
            assert_eq!(check(&guard, url), Ok(()), "{url}");
        }
        for (url, refusal) in [
            ("http://127.0.0.1:8081/", NotAllowed::Scheme),
            ("https://127.0.0.1/", NotAllowed::Address(Place::ThisMachine)),
            ("https://127.0.0.2:8080/", NotAllowed::Port),
            ("http://[::ffff:127.0.0.1]:8080/", NotAllowed::Scheme),
            ("https://10.2.0.1/", NotAllowed::Address(Place::Private)),
            ("http://[::ffff:10.1.2.3]/", NotAllowed::Scheme),
            ("https://hooks.internal.example:8444/", NotAllowed::Port),
            ("http://other.internal.example:8443/", NotAllowed::Scheme),
        ] {
            assert_eq!(check(&guard, url), Err(refusal), "{url}");
        }
    }

    #[test]
    fn a_name_leads_only_where_it_may() {
        let guard = guard(&["10.1.0.0/16:443", "hooks.internal.example", "localhost:3000"]);
        let leads = |url: &str, address: &str| guard.check_address(&Target::parse(url).unwrap(), address.parse().unwrap());
        assert_eq!(leads("https://hooks.example.com/", "93.184.216.34"), Ok(()));
        assert_eq!(leads("https://hooks.example.com/", "192.168.0.1"), Err(NotAllowed::Name));
        assert_eq!(leads("https://hooks.example.com/", "10.1.0.1"), Ok(()));
        assert_eq!(leads("https://hooks.example.com:8443/", "10.1.0.1"), Err(NotAllowed::Name));
        assert_eq!(leads("http://hooks.internal.example/", "192.168.0.1"), Ok(()));
        assert_eq!(leads("http://hooks.internal.example/", "127.0.0.1"), Err(NotAllowed::Name));
        assert_eq!(leads("http://hooks.internal.example/", "169.254.169.254"), Err(NotAllowed::Name));
        assert_eq!(leads("http://hooks.internal.example/", "::ffff:127.0.0.1"), Err(NotAllowed::Name));
        assert_eq!(leads("http://localhost:3000/", "127.0.0.1"), Ok(()));
        assert_eq!(leads("http://localhost:3001/", "127.0.0.1"), Err(NotAllowed::Name));
    }

    #[test]
    fn no_exception_leads_to_a_clouds_metadata() {
        let everything = guard(&["0.0.0.0/0", "::/0", "metadata.google.internal", "hooks.internal.example"]);
        for address in metadata::all_forms() {
            let host = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
            for url in [format!("https://{host}/"), format!("http://{host}/latest/meta-data/"), format!("http://{host}:32526/")] {
                assert_eq!(check(&everything, &url), Err(NotAllowed::Address(Place::Metadata)), "{url}");
            }
            for url in ["http://metadata.google.internal/", "http://hooks.internal.example/", "https://hooks.example.com/"] {
                let led = everything.check_address(&Target::parse(url).unwrap(), address);
                assert_eq!(led, Err(NotAllowed::Name), "{url} at {address}");
            }
        }
        assert_eq!(check(&everything, "http://10.1.2.3/"), Ok(()), "everything else is as it was allowed");
        assert_eq!(check(&everything, "http://[64:ff9b::10.1.2.3]/"), Ok(()));
    }

    #[test]
    fn this_machine_is_allowed_in_a_sandbox_only() {
        let guard = |text: &str, mode| Guard::new(vec![text.parse().unwrap()], mode).map(|_| ());
        assert_eq!(guard("127.0.0.1:8080", Mode::Sandbox), Ok(()));
        assert_eq!(guard("127.0.0.1:8080", Mode::Production), Err(NoGuard("127.0.0.1/32:8080".to_owned())));
        assert!(guard("localhost", Mode::Production).is_err());
        assert_eq!(guard("10.0.0.0/8", Mode::Production), Ok(()));
    }
}
