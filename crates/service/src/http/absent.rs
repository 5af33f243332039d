//! The words about a record that is absent, as told apart from a route that does not exist: "acme has no order 4711".
//!
//! A handler answers that what its path names is not there; the words come from here. They name the merchant and what the caller asked
//! for, and are the same whether nobody has it or another merchant does.

use axum::response::Response;
use percent_encoding::percent_decode_str;

use super::asker::Asker;
use super::error::ApiError;

/// The longest name that is repeated.
const LONGEST: usize = 255;

/// What a route names, with the parameters of its path in braces. The first that a route begins with counts.
const NAMED: &[(&str, &str)] = &[
    ("/v1/orders/{identifier}/lines/{line}", "order {identifier}, or that order has no line {line}"),
    ("/v1/orders/{identifier}", "order {identifier}"),
    ("/v1/returns/{rma_identifier}/label/code", "return {rma_identifier}, or there is no QR code for it, or not yet"),
    ("/v1/returns/{rma_identifier}/label", "return {rma_identifier}, or no label was bought for it yet"),
    ("/v1/returns/{rma_identifier}", "return {rma_identifier}"),
    ("/v1/expected_returns/{rma_identifier}", "return {rma_identifier}"),
    ("/v1/exchange_orders/{original_order_id}", "exchange for order {original_order_id}"),
    ("/v1/work_items/{work_item_id}", "open case {work_item_id}"),
    ("/v1/order_imports/{import_id}", "import {import_id}"),
    ("/v1/order_imports", "import with this id"),
    ("/v1/messages/{message_id}", "message {message_id}; messages are kept for 30 days"),
    ("/v1/drop_ship_orders/{client_identifier}", "drop-ship order {client_identifier}"),
    ("/v1/inbound_asns/{asn_number}", "inbound ASN {asn_number}"),
    ("/v1/outbound_shipments/{asn_number}", "shipment {asn_number}"),
    ("/v1/carrier_webhooks/{account}", "carrier account {account}"),
    ("/v1/returns", "order with this identifier"),
    ("/v1/portal_links", "order with this identifier"),
    ("/v1/carrier_events", "return with this identifier"),
];

/// Puts into words what is absent, if an answer says no more than that.
pub(super) fn explain(response: &mut Response, asker: &Asker, route: &str, path: &str) {
    let Some(error) = response.extensions_mut().get_mut::<ApiError>() else { return };
    if matches!(error, ApiError::NotFound) {
        let handle = asker.known().and_then(|known| known.handle.as_deref());
        *error = ApiError::Absent(sentence(handle, route, path));
    }
}

fn sentence(handle: Option<&str>, route: &str, path: &str) -> String {
    let begins = |named: &str| route.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let what = NAMED.iter().find(|(named, _)| begins(named)).map_or("such record", |(_, what)| *what);
    let given = |name: &str| -> String {
        let is = |parameter: &str| parameter.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) == Some(name);
        let given = route.split('/').zip(path.split('/')).find(|(parameter, _)| is(parameter)).map_or("", |(_, given)| given);
        // A caller's text goes back to that caller alone, without anything that a terminal obeys.
        percent_decode_str(given).decode_utf8_lossy().chars().filter(|letter| !letter.is_control()).take(LONGEST).collect()
    };
    let (mut words, mut rest) = (String::new(), what);
    while let Some((before, (name, after))) = rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        words += before;
        words += &given(name);
        rest = after;
    }
    words += rest;
    let who = handle.map_or_else(|| "There is".to_owned(), |handle| format!("{handle} has"));
    format!("{who} no {words}. Check the identifiers in the request, and that the access token is the right merchant's.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_named() {
        let told = |route: &str, path: &str| sentence(Some("acme"), route, path).split_once(". ").map(|(told, _)| told.to_owned());
        let told = |route: &str, path: &str| told(route, path).unwrap_or_default();
        assert_eq!(told("/v1/orders/{identifier}", "/v1/orders/47%2011"), "acme has no order 47 11");
        assert_eq!(told("/v1/orders/{identifier}/returnable", "/v1/orders/x/returnable"), "acme has no order x");
        let (route, path) =
            ("/v1/orders/{identifier}/lines/{line}/exchange_options", "/v1/orders/%7Bline%7D/lines/L%00%1b9/exchange_options");
        assert_eq!(told(route, path), "acme has no order {line}, or that order has no line L9");
        assert_eq!(told("/v1/new/{thing}", "/v1/new/x"), "acme has no such record");
        assert_eq!(
            sentence(None, "/v1/carrier_webhooks/{account}", "/v1/carrier_webhooks/y").split('.').next(),
            Some("There is no carrier account y")
        );
    }
}
