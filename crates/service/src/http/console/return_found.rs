//! The return that the address of a page names, and the addresses of its pages.

use store::merchants::accounts::Merchant;
use store::returns::rmas::{self, Return};

use super::by::{By, Permission};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use crate::show::returns::rmas::identifier;

/// The variable parts of the addresses of a return's pages: the merchant's handle, and the return's identifier.
pub(super) type At = (String, String);

/// The return and its merchant.
pub(super) async fn find<P: Permission>(by: &By<P>, (handle, rma): &At) -> Result<(Merchant, Return), ConsoleError> {
    let merchant = merchant_of(by, handle).await?;
    let rma = identifier(rma);
    if rma.contains('\0') {
        return Err(ConsoleError::NotFound);
    }
    let kept = rmas::find(by.app.store(merchant.id), merchant.id, &rma).await?.ok_or(ConsoleError::NotFound)?;
    Ok((merchant, kept))
}

/// The address of a return's page.
pub(super) fn return_at(handle: &str, rma: &str) -> String {
    format!("/merchants/{handle}/returns/{}", escape(rma))
}

/// The address of an order's page.
pub(super) fn order_at(handle: &str, order: &str) -> String {
    format!("/merchants/{handle}/orders/{}", escape(order))
}

/// The address of an ASN's page.
pub(super) fn asn_at(handle: &str, number: &str) -> String {
    format!("/merchants/{handle}/asns/{}", escape(number))
}

/// The address of a shipment's page.
pub(super) fn shipment_at(handle: &str, number: &str) -> String {
    format!("/merchants/{handle}/shipments/{}", escape(number))
}

/// The address of a drop-ship order's page.
pub(super) fn drop_ship_at(handle: &str, order: &str) -> String {
    format!("/merchants/{handle}/drop-ship/{}", escape(order))
}

/// An identifier as one part of a path.
fn escape(identifier: &str) -> String {
    url::form_urlencoded::byte_serialize(identifier.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_an_identifier_holds_it_is_one_part_of_the_path() {
        assert_eq!(order_at("acme", "A/1 b?c#d%é"), "/merchants/acme/orders/A%2F1%20b%3Fc%23d%25%C3%A9");
        assert_eq!(return_at("acme", "R-7KQ4-XM92"), "/merchants/acme/returns/R-7KQ4-XM92");
    }
}
