//! Matching a host and an address against what the operator allows.

use std::net::IpAddr;

use super::place::Place;
use super::target::Host;
use crate::platform::config::{Allowed, What, is_localhost};

/// Whether `allowed` names `host` at `port` itself, so that http and this port are allowed too.
pub(super) fn names(allowed: &Allowed, host: &Host, port: u16) -> bool {
    let named = match (&allowed.what, host) {
        (What::Network(network), Host::Address(address)) => network.contains(address),
        (What::Host(name), Host::Name(other)) => name == other,
        (What::Network(_), Host::Name(_)) | (What::Host(_), Host::Address(_)) => false,
    };
    named && is_for(allowed, port)
}

/// Whether `host` may be connected to at `address`, which is not public.
pub(super) fn leads(allowed: &Allowed, host: &Host, port: u16, address: IpAddr) -> bool {
    let leads = match (&allowed.what, host) {
        (What::Network(network), Host::Address(_) | Host::Name(_)) => network.contains(&address),
        // Whoever can change what a name leads to should not come here or to the wire with it, in no form.
        (What::Host(name), Host::Name(other)) => {
            name == other
                && match Place::of(address) {
                    Place::ThisMachine => is_localhost(name),
                    Place::LinkLocal | Place::Embedded => false,
                    Place::Public | Place::Private | Place::Reserved => true,
                }
        }
        (What::Host(_), Host::Address(_)) => false,
    };
    leads && is_for(allowed, port)
}

fn is_for(allowed: &Allowed, port: u16) -> bool {
    allowed.port.is_none_or(|only| only == port)
}
