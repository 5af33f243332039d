//! The addresses at which clouds hand out the metadata and credentials of their machines. Whoever reads them is the machine, so
//! nothing that the operator allows may lead there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of IPv4.
const V4: [Ipv4Addr; 8] = [
    // AWS, Google Cloud, Azure, Oracle, Alibaba, DigitalOcean, Hetzner, IBM, Linode, Vultr, OVHcloud, OpenStack and others.
    Ipv4Addr::new(169, 254, 169, 254),
    // AWS: the credentials of ECS tasks and of EKS pods.
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // Azure: the platform's own channel, in a public network.
    Ipv4Addr::new(168, 63, 129, 16),
    // Alibaba Cloud.
    Ipv4Addr::new(100, 100, 100, 200),
    // Oracle Cloud, the classic one.
    Ipv4Addr::new(192, 0, 0, 192),
    // Scaleway.
    Ipv4Addr::new(169, 254, 42, 42),
    // Tencent Cloud.
    Ipv4Addr::new(169, 254, 0, 23),
];

/// The addresses of IPv6.
const V6: [Ipv6Addr; 7] = [
    // AWS: metadata, and the credentials of EKS pods.
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    // Google Cloud.
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    // Oracle Cloud.
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    // Scaleway.
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
    // Linode.
    Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1),
    // OpenStack, and what is built on it.
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

/// True if a cloud hands out metadata at this address, in any notation that leads there.
pub(super) fn is_metadata(address: IpAddr) -> bool {
    let is_listed = |address: Ipv4Addr| V4.contains(&address);
    match address {
        IpAddr::V4(address) => is_listed(address),
        IpAddr::V6(address) => V6.contains(&address) || embedded(address).into_iter().any(is_listed),
    }
}

/// Every address of IPv4 that a translator could find in this one. Not every reading is meant; one that is not meant refuses an
/// address that nobody has.
fn embedded(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // NAT64: at the end, or behind a prefix of 48 bits, around the eight bits in the middle that are nothing (RFC 6052).
        [0x64, 0xff9b, _, fourth, fifth, sixth, high, low] => {
            let ([_, third_octet], [fourth_octet, _]) = (fifth.to_be_bytes(), sixth.to_be_bytes());
            vec![of(high, low), of(fourth, u16::from_be_bytes([third_octet, fourth_octet]))]
        }
        // Teredo: its server, and its client, inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => vec![of(server_high, server_low), of(!high, !low)],
        // Compatible and mapped, translated, 6to4, ISATAP.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => vec![of(high, low)],
        _ => Vec::new(),
    }
}

/// Every address of the lists, and each of IPv4 in every form of IPv6.
#[cfg(test)]
pub(super) fn all_forms() -> Vec<IpAddr> {
    let in_v6 = |address: Ipv4Addr| {
        let [a, b, c, d] = address.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        [
            address.to_ipv6_mapped(),
            address.to_ipv6_compatible(),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, high, u16::from(c), u16::from(d) << 8, 0, 0),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 0),
            Ipv6Addr::new(0x2002, high, low, 1, 2, 3, 4, 5),
            Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
            Ipv6Addr::new(0x2001, 0, 1, 2, 3, 4, !high, !low),
            Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
            Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0x200, 0x5efe, high, low),
        ]
    };
    let embedded = V4.into_iter().flat_map(in_v6).map(IpAddr::V6);
    V4.into_iter().map(IpAddr::V4).chain(V6.map(IpAddr::V6)).chain(embedded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_of_every_large_cloud_is_known() {
        for address in [
            "169.254.169.254",
            "fd00:ec2::254",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "169.254.170.2",
            "169.254.0.23",
            "fd20:ce::254",
            "::ffff:168.63.129.16",
            "64:ff9b::a9fe:a9fe",
            "2002:a83f:8110::",
            "fd00:c1::a9fe:a9fe",
            "fe80::a9fe:a9fe",
        ] {
            assert!(is_metadata(address.parse().expect("an address")), "{address}");
        }
        for address in ["169.254.169.253", "168.63.129.17", "fd00:ec2::255", "64:ff9b::a9fe:a9fd", "2606:4700::1", "::1", "10.0.0.1"] {
            assert!(!is_metadata(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn every_form_is_known() {
        let forms = all_forms();
        assert!(forms.len() > 100, "{}", forms.len());
        for address in forms {
            assert!(is_metadata(address), "{address}");
        }
    }
}
