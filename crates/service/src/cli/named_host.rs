//! Calls to addresses that whoever runs the program has named.

use anyhow::{Context as _, anyhow, bail};
use domain::node::mode::Mode;
use url::{Host, Url};

use crate::delivery::client::Client;
use crate::platform::clock::Clock;
use crate::platform::config::{Allowed, Settings};

/// A client that calls the hosts of these addresses and no others. Whoever runs the program chooses them, so they may be anywhere.
pub(super) fn client(addresses: &[&Url], mut settings: Settings) -> anyhow::Result<Client> {
    let only = |address: &&Url| {
        let place = address.host_str().zip(address.port_or_known_default()).map(|(host, port)| format!("{host}:{port}"));
        let wrong = || anyhow!("{address} names no host");
        place.with_context(wrong)?.parse::<Allowed>().map_err(|_| wrong())
    };
    settings.outbound.allowed = addresses.iter().map(only).collect::<anyhow::Result<_>>()?;
    settings.mode = Mode::Sandbox;
    Ok(Client::new(&settings, Clock::system())?)
}

/// Reads the address of a service that is sent a secret: over TLS, or on this machine. `option` is what names it, `wrong` says what it
/// should be.
pub(super) fn read_secure(option: &str, url: &str, wrong: &str) -> anyhow::Result<Url> {
    let wrong = || anyhow!("{option} {url} is not {wrong}");
    let parsed = Url::parse(url).with_context(wrong)?;
    let is_local = match parsed.host().with_context(wrong)? {
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
        Host::Domain(name) => name == "localhost",
    };
    match parsed.scheme() {
        "https" => Ok(parsed),
        "http" if is_local => Ok(parsed),
        "http" => bail!("{option} {url} would send the token in the clear; use https, or a tunnel to this machine"),
        _ => Err(wrong()),
    }
}
