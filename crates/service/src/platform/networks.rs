//! Networks such as `192.0.2.0/24`, from which callers may come.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use ipnet::IpNet;

/// The most networks of one list.
pub const MOST: usize = 32;

/// One network; a single address is a network of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(pub IpNet);

/// The error for a text that is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a network such as 10.0.0.0/8 or 2001:db8::/32")]
pub struct NoNetwork(String);

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let network = text.parse::<IpNet>().map(|network| network.trunc()).or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| NoNetwork(text.to_owned()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A list of networks. An empty one means anywhere.
#[derive(Clone, Debug, Default)]
pub struct Networks(Arc<[IpNet]>);

impl Networks {
    /// Reads a stored list. An unreadable entry fails, so that it cannot open the door to everybody.
    pub fn parse(texts: &[String]) -> Result<Self, NoNetwork> {
        texts.iter().map(|text| text.parse::<Network>().map(|network| network.0)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a caller may come from this address.
    #[must_use]
    pub fn allow(&self, address: IpAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(networks: &[&str], address: &str) -> bool {
        let texts: Vec<String> = networks.iter().map(|text| (*text).to_owned()).collect();
        Networks::parse(&texts).expect("networks").allow(address.parse().expect("an address"))
    }

    #[test]
    fn an_address_is_allowed_by_any_of_the_networks_and_by_none_at_all() {
        assert!(allow(&[], "203.0.113.9"));
        assert!(allow(&["192.0.2.0/24", "2001:db8::/32"], "192.0.2.9"));
        assert!(allow(&["192.0.2.0/24"], "::ffff:192.0.2.9"), "IPv4 mapped to IPv6");
        assert!(allow(&["2001:db8::/32"], "2001:db8::9"));
        assert!(!allow(&["192.0.2.0/24", "198.51.100.7"], "198.51.100.8"));
        assert!(!allow(&["0.0.0.0/0"], "2001:db8::9"));
    }

    #[test]
    fn a_network_is_written_by_its_first_address_and_nonsense_is_refused() {
        let written = |text: &str| text.parse::<Network>().map(|network| network.to_string());
        assert_eq!(written("192.0.2.77/24").as_deref(), Ok("192.0.2.0/24"));
        assert_eq!(written("192.0.2.1").as_deref(), Ok("192.0.2.1/32"));
        for wrong in ["", "anywhere", "192.0.2.0/33", "192.0.2"] {
            assert!(written(wrong).is_err(), "{wrong}");
            assert!(Networks::parse(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
