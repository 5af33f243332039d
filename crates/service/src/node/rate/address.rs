//! Addresses as the rate limiter counts them: an IPv4 address, or a whole /64 for IPv6, which usually belongs to one customer.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The bits of an IPv6 address that a host chooses freely.
const HOST_BITS: u32 = 64;

/// An address that counts as one caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    V4(Ipv4Addr),
    /// The upper half of an IPv6 address.
    V6(u64),
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> HOST_BITS) as u64),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::V6(upper) => write!(f, "{}/64", Ipv6Addr::from_bits(u128::from(*upper) << HOST_BITS)),
        }
    }
}

/// The error for a text that is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither an IPv4 address nor the /64 of an IPv6 address")]
pub struct NoAddress;

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        match text.strip_suffix("/64") {
            Some(upper) => upper.parse::<Ipv6Addr>().map(|address| IpAddr::V6(address).into()).map_err(|_| NoAddress),
            None => text.parse().map(Self::V4).map_err(|_| NoAddress),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        text.parse::<IpAddr>().expect("an address").into()
    }

    #[test]
    fn ipv6_counts_by_its_upper_half() {
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:192.0.2.7"), address("192.0.2.7"));
        assert_ne!(address("192.0.2.7"), address("192.0.2.8"));
    }

    #[test]
    fn an_address_reads_back_as_it_was_written() {
        for text in ["192.0.2.7", "2001:db8:1:2::/64", "::/64"] {
            assert_eq!(text.parse::<Address>().expect("an address").to_string(), text);
        }
        for text in ["", "2001:db8::1", "192.0.2.7/64", "nonsense"] {
            assert_eq!(text.parse::<Address>(), Err(NoAddress), "{text}");
        }
    }
}
