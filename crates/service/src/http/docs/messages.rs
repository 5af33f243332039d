//! The pages on the calls that we make to merchants' systems: one for each of the eight, and a list of them.

use askama::Template;
use domain::messages::message::Interface;
use serde_json::Value;

use super::document::{Document, Operation, text};
use super::fields::{self, Field};
use super::guides::{GUIDES, Group};
use super::markdown::{Section, code_below, short};
use super::page::{Frame, Menu, Page};
use super::samples::Sample;

/// The path of the list.
pub(super) const LIST: &str = "/docs/messages";

/// The page with the samples that verify signatures, and their heading.
const RECEIVING: (&str, &str) = ("receiving", "Verifying signatures");

/// The path of a message's page.
pub(super) fn path(interface: Interface) -> String {
    format!("{LIST}/{interface}")
}

/// The name of a message in the contract.
pub(super) const fn name(interface: Interface) -> &'static str {
    match interface {
        Interface::Rma => "RMA",
        Interface::ExchangeOrder => "Exchange order",
        Interface::ExchangeVariants => "Exchange variants",
        Interface::OutboundAsn => "Outbound ASN",
        Interface::InventoryReceipt => "Inventory receipt",
        Interface::DropShipmentConfirmation => "Drop shipment confirmation",
        Interface::DropShipmentCancellation => "Drop shipment cancellation",
        Interface::DropShipmentPartialCancellation => "Drop shipment partial cancellation",
    }
}

/// The events of an interface, each with when it happens.
const fn events(interface: Interface) -> &'static [(&'static str, &'static str)] {
    match interface {
        Interface::Rma => &[
            ("rma.created", "the shopper confirmed the return"),
            ("rma.tracking_updated", "a label was issued, or a unit's parcel moved"),
            ("rma.received", "units arrived at the warehouse"),
            ("rma.receiving_closed", "nothing more is expected to arrive, and the status did not change"),
            ("rma.refund_recorded", "a refund covers units of the return, and the status did not change"),
            ("rma.partially_refunded", "the status became `PARTIAL_REFUND`"),
            ("rma.refunded", "the status became `REFUNDED`"),
            ("rma.canceled", "the status became `CANCELED`"),
            ("rma.exchange_placed", "you placed the exchange order, and the status did not change"),
            ("rma.exchange_identified", "you named the exchange order that you had placed before"),
            ("rma.exchange_converted", "units that were to be exchanged are refunded instead, and the status did not change"),
            ("rma.resent", "nothing changed; somebody asked for the current state again"),
        ],
        Interface::ExchangeOrder => {
            &[("exchange_order.requested", "a return holds units to be exchanged for a variant or a gift card; once per order")]
        }
        Interface::ExchangeVariants => &[],
        Interface::OutboundAsn => &[
            ("outbound_asn.pending", "a shipment was announced before it left"),
            ("outbound_asn.shipped", "the shipment left the warehouse"),
            ("outbound_asn.delivered", "the shipment arrived"),
            ("outbound_asn.canceled", "an announced shipment was cancelled"),
            ("outbound_asn.ship_date_changed", "an announced shipment leaves at another time"),
            ("outbound_asn.transport_changed", "the carrier or the tracking number of an announced shipment changed"),
        ],
        Interface::InventoryReceipt => &[("inventory_receipt.received", "a unit was received against an inbound ASN; once per unit")],
        Interface::DropShipmentConfirmation => &[("drop_shipment.confirmed", "a shipment of the order left; an order may have several")],
        Interface::DropShipmentCancellation => &[
            ("drop_shipment.cancelled", "the whole order was cancelled"),
            ("drop_shipment.rejected", "the warehouse did not accept the order"),
        ],
        Interface::DropShipmentPartialCancellation => {
            &[("drop_shipment.partially_cancelled", "units of the order were cancelled; `cancelled_quantity` is the running total")]
        }
    }
}

/// The page that explains more, and its name.
const fn guide(interface: Interface) -> (&'static str, &'static str) {
    match interface {
        Interface::Rma => ("/docs/returns", "The life of a return"),
        Interface::ExchangeOrder => ("/docs/exchanges#placing-exchange-orders", "Placing exchange orders"),
        Interface::ExchangeVariants => ("/docs/exchanges#serving-variants", "Serving variants"),
        Interface::OutboundAsn => ("/docs/warehouse#for-merchant-engineers", "Outbound shipments, for merchant engineers"),
        Interface::InventoryReceipt => ("/docs/inbound#the-message", "Goods coming in"),
        Interface::DropShipmentConfirmation | Interface::DropShipmentCancellation | Interface::DropShipmentPartialCancellation => {
            ("/docs/drop-shipping#for-merchants-the-messages-you-receive", "Drop shipping")
        }
    }
}

#[derive(Template)]
#[template(path = "docs/message.html")]
struct MessagePage<'a> {
    frame: Frame<'a>,
    interface: Interface,
    method: String,
    called_at: &'static str,
    summary: String,
    description: String,
    events: Vec<(&'static str, String)>,
    guide: (&'static str, &'static str),
    headers: Vec<(String, String)>,
    /// The fields and the example of what is sent; of the answer, if it is only asked for.
    fields: Vec<Field>,
    example: Option<String>,
    answers: Vec<(String, String)>,
    answer_example: Option<String>,
    samples: Vec<Sample>,
}

#[derive(Template)]
#[template(path = "docs/messages.html")]
struct ListPage<'a> {
    frame: Frame<'a>,
    rows: Vec<(String, &'static str, String, &'static str)>,
}

/// The samples that verify a signature, in four languages.
fn samples() -> Vec<Sample> {
    let (slug, heading) = RECEIVING;
    let markdown = GUIDES.iter().find(|guide| guide.slug == slug).map(|guide| guide.markdown).unwrap_or_default();
    let known = |language: &str| match language {
        "bash" => Some("Shell, with openssl"),
        "python" => Some("Python"),
        "typescript" => Some("TypeScript"),
        "rust" => Some("Rust"),
        _ => None,
    };
    code_below(markdown, heading).into_iter().filter_map(|(language, code)| Some(Sample { language: known(&language)?, code })).collect()
}

/// The call of an interface in the document.
fn find(document: &Document, interface: Interface) -> Option<Operation<'_>> {
    document.webhooks().into_iter().find(|call| call.path == interface.as_str())
}

/// The page of a message.
pub(super) fn page(document: &Document, menu: &Menu, interface: Interface) -> Option<Page> {
    let call = find(document, interface)?;
    let title = name(interface);
    let lede = format!("{}.", call.title());
    let sent = call.reads();
    let answers = call.answers();
    let answered = answers.iter().find_map(|(_, _, bodies)| bodies.first().copied());
    let main = if interface.is_asked() { answered } else { sent.first().copied() };
    let fields = main.and_then(|body| body.schema()).map(|schema| fields::of(document, schema)).unwrap_or_default();
    let headers = call.parameters().iter().filter(|parameter| text(parameter, "in") == "header");
    let headers: Vec<(String, String)> =
        headers.map(|header: &Value| (text(header, "name").to_owned(), short(text(header, "description")))).collect();
    let events: Vec<(&str, String)> = events(interface).iter().map(|(event, when)| (*event, short(when))).collect();
    let shown = MessagePage {
        frame: Frame::new(menu, LIST, title, &lede),
        interface,
        method: call.method.to_uppercase(),
        called_at: interface.path(),
        summary: lede.clone(),
        description: short(call.description()),
        events,
        guide: guide(interface),
        headers,
        fields,
        example: main.and_then(|body| document.example(body)),
        answers: answers.iter().map(|(status, meaning, _)| ((*status).to_owned(), short(meaning))).collect(),
        answer_example: answered.filter(|_| !interface.is_asked()).and_then(|body| document.example(body)),
        samples: if interface.is_asked() { Vec::new() } else { samples() },
    };
    let html = shown.render().unwrap_or_default();
    Some(Page::new(Group::Reference, title.to_owned(), lede.clone(), searched(interface, &lede, &shown), html))
}

/// The list of all messages.
pub(super) fn list(document: &Document, menu: &Menu) -> Page {
    let (title, lede) = ("Messages", "The eight requests that Backhaul sends to a merchant's systems.");
    let told = |interface: Interface| find(document, interface).map(|call| call.title().to_owned()).unwrap_or_default();
    let rows = Interface::ALL.into_iter().map(|interface| (path(interface), name(interface), told(interface), interface.path())).collect();
    let html = ListPage { frame: Frame::new(menu, LIST, title, lede), rows }.render().unwrap_or_default();
    let text = format!("{lede} {}", Interface::ALL.map(name).join(" "));
    let sections = vec![Section { anchor: String::new(), heading: title.to_owned(), text }];
    Page::new(Group::Reference, title.to_owned(), lede.to_owned(), sections, html)
}

/// The text by which a message is found.
fn searched(interface: Interface, lede: &str, shown: &MessagePage<'_>) -> Vec<Section> {
    let section = |anchor: &str, heading: &str, text: String| Section { anchor: anchor.to_owned(), heading: heading.to_owned(), text };
    let fields = shown.fields.iter().map(|field| field.path.as_str()).collect::<Vec<_>>().join(" ");
    let events = events(interface).iter().map(|(event, when)| format!("{event} {when}")).collect::<Vec<_>>().join(" ");
    vec![
        section("", name(interface), format!("{lede} {interface} {}", interface.path())),
        section("when", "When it is sent", events),
        section("fields", "Fields", fields),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_event_is_on_the_page_of_its_message() {
        let told = |interfaces: &[Interface]| -> BTreeSet<&str> {
            interfaces.iter().flat_map(|interface| events(*interface)).map(|(event, _)| *event).collect()
        };
        let returns = domain::returns::rma::Event::ALL.iter().map(|event| event.as_str()).collect();
        assert_eq!(told(&[Interface::Rma]), returns);
        let shipments = domain::warehouse::shipment::Event::ALL.iter().map(|event| event.as_str()).collect();
        assert_eq!(told(&[Interface::OutboundAsn]), shipments);
        let drop_shipments = domain::warehouse::drop_ship::Event::ALL.iter().map(|event| event.as_str()).collect();
        let interfaces =
            [Interface::DropShipmentConfirmation, Interface::DropShipmentCancellation, Interface::DropShipmentPartialCancellation];
        assert_eq!(told(&interfaces), drop_shipments);
    }

    #[test]
    fn signatures_are_verified_in_four_languages() {
        let languages: Vec<&str> = samples().iter().map(|sample| sample.language).collect();
        assert_eq!(languages, ["Shell, with openssl", "Python", "TypeScript", "Rust"]);
    }
}
