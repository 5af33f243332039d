//! An attacker with many addresses, who searches for orders.

use std::net::Ipv4Addr;

use crate::returns::portal::browser::{Browser, Page};

/// An address in a network of its own for each purpose.
pub(super) fn address(network: u8, number: u32) -> String {
    Ipv4Addr::from_bits(Ipv4Addr::new(network, 0, 0, 0).to_bits() + number).to_string()
}

/// Searches for an order.
pub(super) async fn search(browser: &mut Browser, order: &str, key: &str) -> Option<Page> {
    let path = browser.path("");
    browser.post(&path, &[("order", order), ("key", key)]).await
}
