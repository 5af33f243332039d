//! Matches hosts and addresses against the operator's exceptions.

use std::net::IpAddr;

use super::place::Place;
use super::target::Host;
use crate::platform::config::{Allowed, What, is_localhost};

/// True if `allowed` covers `host` and `port`, so that plain HTTP and this port are allowed too.
pub(super) fn is_exempt(allowed: &Allowed, host: &Host, port: u16) -> bool {
    let named = match (&allowed.what, host) {
        (What::Network(network), Host::Address(address)) => network.contains(address),
        (What::Host(name), Host::Name(other)) => name == other,
        (What::Network(_), Host::Name(_)) | (What::Host(_), Host::Address(_)) => false,
    };
    named && is_for(allowed, port)
}

/// True if `host` may be connected to at `address`, which is not public.
pub(super) fn may_resolve_to(allowed: &Allowed, host: &Host, port: u16, address: IpAddr) -> bool {
    let matches = match (&allowed.what, host) {
        (What::Network(network), Host::Address(_) | Host::Name(_)) => network.contains(&address),
        // Whoever controls the DNS of an allowed name must not reach this machine or link-local addresses, in any notation.
        (What::Host(name), Host::Name(other)) => {
            name == other
                && match Place::of(address) {
                    Place::ThisMachine => is_localhost(name),
                    Place::Metadata | Place::LinkLocal | Place::Embedded => false,
                    Place::Public | Place::Private | Place::Reserved => true,
                }
        }
        (What::Host(_), Host::Address(_)) => false,
    };
    matches && is_for(allowed, port)
}

fn is_for(allowed: &Allowed, port: u16) -> bool {
    allowed.port.is_none_or(|only| only == port)
}
