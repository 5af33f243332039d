//! The kinds of messages, and their endpoints.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::id::{EndpointId, MerchantId};
use crate::messages::delivery::Schedule;

/// An interface of the merchant's systems; each has its own endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interface {
    /// Returns.
    Rma,
    /// Orders for exchanges and gift cards.
    ExchangeOrder,
    /// The variants that a line can be exchanged for. It is queried, and sent no messages.
    ExchangeVariants,
    /// Shipments out of the warehouse.
    OutboundAsn,
    /// Received units.
    InventoryReceipt,
    /// Shipped drop shipments.
    DropShipmentConfirmation,
    /// Cancelled and rejected drop-ship orders.
    DropShipmentCancellation,
    /// Cancelled units of drop-ship orders.
    DropShipmentPartialCancellation,
}

/// The text is not an [`Interface`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an interface must be rma, exchange_order, exchange_variants, outbound_asn, inventory_receipt, drop_shipment_confirmation, drop_shipment_cancellation or drop_shipment_partial_cancellation"
)]
pub struct NoInterface;

impl Interface {
    /// Every interface.
    pub const ALL: [Self; 8] = [
        Self::Rma,
        Self::ExchangeOrder,
        Self::ExchangeVariants,
        Self::OutboundAsn,
        Self::InventoryReceipt,
        Self::DropShipmentConfirmation,
        Self::DropShipmentCancellation,
        Self::DropShipmentPartialCancellation,
    ];

    /// The name on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rma => "rma",
            Self::ExchangeOrder => "exchange_order",
            Self::ExchangeVariants => "exchange_variants",
            Self::OutboundAsn => "outbound_asn",
            Self::InventoryReceipt => "inventory_receipt",
            Self::DropShipmentConfirmation => "drop_shipment_confirmation",
            Self::DropShipmentCancellation => "drop_shipment_cancellation",
            Self::DropShipmentPartialCancellation => "drop_shipment_partial_cancellation",
        }
    }

    /// True for an interface that is queried while a caller waits. All others are sent messages.
    #[must_use]
    pub const fn is_asked(self) -> bool {
        match self {
            Self::ExchangeVariants => true,
            Self::Rma
            | Self::ExchangeOrder
            | Self::OutboundAsn
            | Self::InventoryReceipt
            | Self::DropShipmentConfirmation
            | Self::DropShipmentCancellation
            | Self::DropShipmentPartialCancellation => false,
        }
    }

    /// The path below the merchant's base URL, unless a whole URL is configured.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Rma => "/rmas",
            Self::ExchangeOrder => "/exchange_orders",
            Self::ExchangeVariants => "/sku/{variant_identifier}/variants",
            Self::OutboundAsn => "/outbound_asn",
            Self::InventoryReceipt => "/inventory_receipt",
            Self::DropShipmentConfirmation => "/drop_shipment_confirmation",
            Self::DropShipmentCancellation => "/drop_shipment_cancellation",
            Self::DropShipmentPartialCancellation => "/drop_shipment_partial_cancellation",
        }
    }

    /// The major version of its messages.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::ExchangeOrder => "2",
            Self::Rma
            | Self::ExchangeVariants
            | Self::OutboundAsn
            | Self::InventoryReceipt
            | Self::DropShipmentConfirmation
            | Self::DropShipmentCancellation
            | Self::DropShipmentPartialCancellation => "1",
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Interface {
    type Err = NoInterface;

    fn from_str(word: &str) -> Result<Self, NoInterface> {
        Self::ALL.into_iter().find(|interface| interface.as_str() == word).ok_or(NoInterface)
    }
}

/// Internal work that goes through the delivery engine. Merchants never see it: it appears in none of their feeds, reports or
/// failure queues. Failures are listed for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Internal {
    Mail,
    /// A notice to the operator's own systems.
    OperatorHook,
    /// A label to buy. It is not given up as long as the return waits for it.
    Label,
    /// The QR code of a label to fetch.
    LabelCode,
    /// A label to void.
    LabelVoid,
}

impl Internal {
    /// Every kind of internal work.
    pub const ALL: [Self; 5] = [Self::Mail, Self::OperatorHook, Self::Label, Self::LabelCode, Self::LabelVoid];

    /// The name in the database; never changed once released.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::OperatorHook => "operator_hook",
            Self::Label => "label",
            Self::LabelCode => "label_code",
            Self::LabelVoid => "label_void",
        }
    }

    /// The endpoint for such work of a merchant. It is derived from the merchant's id, so it needs no lookup, and is as random.
    #[must_use]
    pub const fn endpoint_of(self, merchant: MerchantId) -> EndpointId {
        let mark: u128 = match self {
            Self::Mail => 0x6d61_696c,
            Self::OperatorHook => 0x686f_6f6b,
            Self::Label => 0x6c61_6265,
            Self::LabelCode => 0x636f_6465,
            Self::LabelVoid => 0x766f_6964,
        };
        EndpointId(Uuid::from_u128(merchant.0.as_u128() ^ mark))
    }
}

/// The transport of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// HTTP, to an endpoint of the merchant.
    Endpoint,
    /// SMTP, to the operator's mail server.
    Mail,
    /// HTTP, to the operator's webhook.
    OperatorHook,
    /// Several HTTP calls, to the merchant's carrier.
    Carrier,
}

/// The kind of a stored message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A message of the contract.
    Of(Interface),
    /// An operator's test message: attempted once, and in no report, feed or failure queue.
    EndpointTest,
    Internal(Internal),
}

impl Kind {
    /// The name in the database; never changed once released.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Of(interface) => interface.as_str(),
            Self::EndpointTest => "endpoint_test",
            Self::Internal(internal) => internal.as_str(),
        }
    }

    /// True for internal work, which merchants never see.
    #[must_use]
    pub const fn is_internal(self) -> bool {
        match self {
            Self::Of(_) | Self::EndpointTest => false,
            Self::Internal(_) => true,
        }
    }

    /// The retry schedule, unless the endpoint has its own.
    #[must_use]
    pub fn schedule(self) -> Schedule {
        match self {
            Self::Internal(Internal::Label) => Schedule::patient(),
            Self::Of(_)
            | Self::EndpointTest
            | Self::Internal(Internal::Mail | Internal::OperatorHook | Internal::LabelCode | Internal::LabelVoid) => Schedule::default(),
        }
    }

    /// The transport of this kind.
    #[must_use]
    pub const fn transport(self) -> Transport {
        match self {
            Self::Of(_) | Self::EndpointTest => Transport::Endpoint,
            Self::Internal(Internal::Mail) => Transport::Mail,
            Self::Internal(Internal::OperatorHook) => Transport::OperatorHook,
            Self::Internal(Internal::Label | Internal::LabelCode | Internal::LabelVoid) => Transport::Carrier,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = NoInterface;

    fn from_str(word: &str) -> Result<Self, NoInterface> {
        let internal = Internal::ALL.into_iter().find(|internal| internal.as_str() == word);
        match internal {
            Some(internal) => Ok(Self::Internal(internal)),
            None if word == Self::EndpointTest.as_str() => Ok(Self::EndpointTest),
            None => word.parse().map(Self::Of),
        }
    }
}

/// The bucket of an endpoint, derived from its random id.
#[must_use]
pub fn bucket_of(endpoint: Uuid) -> u8 {
    endpoint.as_bytes().iter().fold(0, |hash: u8, byte| hash.wrapping_mul(31).wrapping_add(*byte))
}

/// The time a message was written, to the millisecond: its id (UUID version 7) begins with it.
#[must_use]
pub fn written_at(message: Uuid) -> DateTime<Utc> {
    let millis = i64::try_from(message.as_u128() >> 80).unwrap_or_default();
    DateTime::from_timestamp_millis(millis).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for interface in Interface::ALL {
            assert_eq!(interface.to_string().parse(), Ok(interface));
            assert_eq!(Kind::Of(interface).as_str().parse(), Ok(Kind::Of(interface)));
        }
        for kind in Internal::ALL.map(Kind::Internal).into_iter().chain([Kind::EndpointTest]) {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!("rmas".parse::<Interface>(), Err(NoInterface));
    }

    #[test]
    fn an_interface_has_the_contracts_path_and_version() {
        let found: Vec<String> = Interface::ALL.iter().map(|interface| format!("{} {}", interface.path(), interface.version())).collect();
        let expected = [
            "/rmas 1",
            "/exchange_orders 2",
            "/sku/{variant_identifier}/variants 1",
            "/outbound_asn 1",
            "/inventory_receipt 1",
            "/drop_shipment_confirmation 1",
            "/drop_shipment_cancellation 1",
            "/drop_shipment_partial_cancellation 1",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn variants_are_asked_for_and_everything_else_is_sent() {
        let asked: Vec<Interface> = Interface::ALL.into_iter().filter(|interface| interface.is_asked()).collect();
        assert_eq!(asked, [Interface::ExchangeVariants]);
    }

    #[test]
    fn a_label_is_not_given_up_and_everything_else_is_retried_five_times() {
        let kinds = Interface::ALL.map(Kind::Of).into_iter().chain(Internal::ALL.map(Kind::Internal)).chain([Kind::EndpointTest]);
        for kind in kinds {
            let patient = kind == Kind::Internal(Internal::Label);
            assert_eq!(kind.schedule(), if patient { Schedule::patient() } else { Schedule::default() }, "{kind}");
        }
    }

    #[test]
    fn merchants_see_messages_and_not_our_own_work() {
        let internal = |kind: Kind| (kind.is_internal(), kind.transport());
        for kind in Interface::ALL.map(Kind::Of).into_iter().chain([Kind::EndpointTest]) {
            assert_eq!(internal(kind), (false, Transport::Endpoint), "{kind}");
        }
        let transports = Internal::ALL.map(|work| internal(Kind::Internal(work)));
        let expected = [Transport::Mail, Transport::OperatorHook, Transport::Carrier, Transport::Carrier, Transport::Carrier];
        assert_eq!(transports, expected.map(|transport| (true, transport)));
    }

    #[test]
    fn work_of_our_own_has_endpoints_of_its_own_for_each_merchant() {
        let [first, second] = [1, 2].map(|number| MerchantId(Uuid::from_u128(number << 40)));
        let endpoints: std::collections::HashSet<_> =
            Internal::ALL.into_iter().flat_map(|internal| [first, second].map(|merchant| internal.endpoint_of(merchant))).collect();
        assert_eq!(endpoints.len(), 2 * Internal::ALL.len());
        assert!(!endpoints.contains(&EndpointId(first.0)));
        // The low bits of an id are random too: they must not be lost in the endpoint.
        let [first, second] = [u128::MAX, u128::MAX - 1].map(|number| MerchantId(Uuid::from_u128(number)));
        assert_ne!(Internal::Label.endpoint_of(first), Internal::Label.endpoint_of(second));
    }

    #[test]
    fn an_id_tells_when_its_message_was_written() {
        let id = Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0001);
        assert_eq!(written_at(id).timestamp_millis(), 0x0193_0000_0000);
    }

    #[test]
    fn endpoints_spread_evenly_over_the_buckets() {
        let mut counts = [0_u32; 256];
        for at in 0..25_600_u128 {
            // Ids made at the same moment: the first half is equal, the second is random.
            let id = Uuid::from_u128(
                0x0193_0000_0000_7000_8000_0000_0000_0000 | (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0x3fff_ffff_ffff_ffff),
            );
            if let Some(count) = counts.get_mut(usize::from(bucket_of(id))) {
                *count += 1;
            }
        }
        assert!(counts.iter().all(|count| (40..200).contains(count)), "{counts:?}");
    }
}
