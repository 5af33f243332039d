//! The classification of IP addresses. Only public ones may be called.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::metadata;

/// The kind of network that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Unicast on the internet.
    Public,
    /// An address at which a cloud hands out its machines' metadata and credentials. No exception allows it.
    Metadata,
    /// Loopback. Includes `0.0.0.0` and `::`, because connecting to them reaches this machine.
    ThisMachine,
    LinkLocal,
    Private,
    /// An IPv6 address that embeds an IPv4 address. The translator may be in our own network.
    Embedded,
    /// Multicast, documentation, benchmarks, or not assigned.
    Reserved,
}

impl Place {
    /// Classifies `address` by the registries of special-purpose addresses (RFC 6890).
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        if metadata::is_metadata(address) {
            return Self::Metadata;
        }
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [0 | 127, ..] => Self::ThisMachine,
            [169, 254, ..] => Self::LinkLocal,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Self::Private,
            // Protocol assignments, documentation, 6to4 relays, benchmarks; then multicast, unassigned and broadcast.
            [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] | [198, 18 | 19, ..] | [224..=255, ..] => {
                Self::Reserved
            }
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Self::ThisMachine,
            // Compatible and mapped, translated, NAT64, 6to4, Teredo, ISATAP.
            [0, 0, 0, 0, 0, 0 | 0xffff, ..]
            | [0, 0, 0, 0, 0xffff, 0, ..]
            | [0x64, 0xff9b, ..]
            | [0x2002, ..]
            | [0x2001, 0, ..]
            | [_, _, _, _, 0 | 0x200, 0x5efe, ..] => Self::Embedded,
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            // Unique local, and the older site-local.
            [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Self::Private,
            // Protocol assignments and documentation.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Self::Reserved,
            [0x2000..=0x3fff, ..] => Self::Public,
            // All other unicast is unassigned or discard-only; the rest is multicast.
            _ => Self::Reserved,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Metadata => "the address of a cloud's metadata",
            Self::ThisMachine => "this machine",
            Self::LinkLocal => "a link-local address",
            Self::Private => "a private address",
            Self::Embedded => "an IPv4 address inside an IPv6 address",
            Self::Reserved => "a reserved address",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_address_has_its_place() {
        use Place::{Embedded, LinkLocal, Metadata, Private, Public, Reserved, ThisMachine};
        for (address, place) in [
            ("1.1.1.1", Public),
            ("8.8.8.8", Public),
            ("93.184.216.34", Public),
            ("100.63.255.255", Public),
            ("100.128.0.0", Public),
            ("172.15.255.255", Public),
            ("172.32.0.0", Public),
            ("192.167.255.255", Public),
            ("198.17.255.255", Public),
            ("198.20.0.0", Public),
            ("223.255.255.255", Public),
            ("0.0.0.0", ThisMachine),
            ("0.1.2.3", ThisMachine),
            ("127.0.0.1", ThisMachine),
            ("127.255.255.254", ThisMachine),
            ("169.254.0.1", LinkLocal),
            ("169.254.169.254", Metadata),
            ("10.0.0.1", Private),
            ("10.255.255.255", Private),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("192.168.0.1", Private),
            ("100.64.0.1", Private),
            ("100.127.255.255", Private),
            ("192.0.0.1", Reserved),
            ("192.0.0.192", Metadata),
            ("192.0.2.1", Reserved),
            ("198.51.100.1", Reserved),
            ("203.0.113.1", Reserved),
            ("192.88.99.1", Reserved),
            ("198.18.0.1", Reserved),
            ("198.19.255.255", Reserved),
            ("224.0.0.1", Reserved),
            ("239.255.255.250", Reserved),
            ("240.0.0.1", Reserved),
            ("255.255.255.255", Reserved),
            ("2606:4700:4700::1111", Public),
            ("2a00:1450:4001:82a::200e", Public),
            ("2001:4860:4860::8888", Public),
            ("::", ThisMachine),
            ("::1", ThisMachine),
            ("::2", Embedded),
            ("::7f00:1", Embedded),
            ("::127.0.0.1", Embedded),
            ("::ffff:127.0.0.1", Embedded),
            ("::ffff:8.8.8.8", Embedded),
            ("::ffff:0:127.0.0.1", Embedded),
            ("64:ff9b::a00:1", Embedded),
            ("64:ff9b::8.8.8.8", Embedded),
            ("64:ff9b:1::a00:1", Embedded),
            ("64:ff9b:1:ffff::1", Embedded),
            ("2002:7f00:1::", Embedded),
            ("2002:a9fe:a9fe::1", Metadata),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Embedded),
            ("2001::1", Embedded),
            ("2606:4700::5efe:10.0.0.1", Embedded),
            ("2606:4700::200:5efe:10.0.0.1", Embedded),
            ("fe80::1", LinkLocal),
            ("febf::1", LinkLocal),
            ("fc00::1", Private),
            ("fd00:ec2::254", Metadata),
            ("fdff:ffff::1", Private),
            ("fec0::1", Private),
            ("feff::1", Private),
            ("100::1", Reserved),
            ("100:0:0:1::1", Reserved),
            ("2001:2::1", Reserved),
            ("2001:10::1", Reserved),
            ("2001:20::1", Reserved),
            ("2001:1ff::1", Reserved),
            ("2001:db8::1", Reserved),
            ("3fff::1", Reserved),
            ("3fff:fff::1", Reserved),
            ("5f00::1", Reserved),
            ("4000::1", Reserved),
            ("1000::1", Reserved),
            ("ff02::1", Reserved),
            ("ff0e::1", Reserved),
        ] {
            assert_eq!(Place::of(address.parse().unwrap()), place, "{address}");
        }
    }

    /// An address in one of the refused networks.
    fn inside() -> impl Strategy<Value = Ipv4Addr> {
        let networks = [
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ];
        (proptest::sample::select(networks.to_vec()), any::<u32>()).prop_map(|(network, bits)| {
            let network: ipnet::Ipv4Net = network.parse().unwrap();
            Ipv4Addr::from(u32::from(network.network()) | (bits & u32::from(network.hostmask())))
        })
    }

    proptest! {
        #[test]
        fn what_is_inside_is_refused_in_every_form(address in inside(), rest in any::<[u16; 5]>()) {
            prop_assert_ne!(Place::of(address.into()), Place::Public);
            let [a, b, c, d] = address.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let [r0, r1, r2, r3, r4] = rest;
            for form in [
                address.to_ipv6_mapped(),
                address.to_ipv6_compatible(),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 1, r0, r1, r2, high, low),
                Ipv6Addr::new(0x2002, high, low, r0, r1, r2, r3, r4),
                Ipv6Addr::new(0x2001, 0, r0, r1, r2, r3, high, low),
                Ipv6Addr::new(0x2001, 0, r0, r1, r2, r3, !high, !low),
                Ipv6Addr::new(0x2606, r0, r1, r2, 0, 0x5efe, high, low),
            ] {
                prop_assert_ne!(Place::of(form.into()), Place::Public, "{}", form);
            }
        }
    }
}
