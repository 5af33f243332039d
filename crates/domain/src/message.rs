//! The messages that merchants' systems are sent.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

/// What a message is about; each has its own interface in the merchant's systems, and so its own endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interface {
    /// A return was created or has changed.
    Rma,
    /// A new order for an exchange or a gift card.
    ExchangeOrder,
    /// A shipment out of the warehouse.
    OutboundAsn,
    /// A unit was received.
    InventoryReceipt,
    /// A drop shipment went out.
    DropShipmentConfirmation,
    /// A drop-ship order was called off.
    DropShipmentCancellation,
    /// Units of a drop-ship order were called off.
    DropShipmentPartialCancellation,
}

/// Why a word is no [`Interface`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an interface is rma, exchange_order, outbound_asn, inventory_receipt, drop_shipment_confirmation, drop_shipment_cancellation or drop_shipment_partial_cancellation"
)]
pub struct NoInterface;

impl Interface {
    /// Every interface.
    pub const ALL: [Self; 7] = [
        Self::Rma,
        Self::ExchangeOrder,
        Self::OutboundAsn,
        Self::InventoryReceipt,
        Self::DropShipmentConfirmation,
        Self::DropShipmentCancellation,
        Self::DropShipmentPartialCancellation,
    ];

    /// Its word on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rma => "rma",
            Self::ExchangeOrder => "exchange_order",
            Self::OutboundAsn => "outbound_asn",
            Self::InventoryReceipt => "inventory_receipt",
            Self::DropShipmentConfirmation => "drop_shipment_confirmation",
            Self::DropShipmentCancellation => "drop_shipment_cancellation",
            Self::DropShipmentPartialCancellation => "drop_shipment_partial_cancellation",
        }
    }

    /// The path below the merchant's base address, unless a whole address is given.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Rma => "/rmas",
            Self::ExchangeOrder => "/exchange_orders",
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

/// What a stored message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One of the contract's.
    Of(Interface),
    /// A trial that an operator sends to an endpoint: tried once, and in no report, feed or failure queue.
    EndpointTest,
}

impl Kind {
    /// Its word in the database; never changed once released.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Of(interface) => interface.as_str(),
            Self::EndpointTest => "endpoint_test",
        }
    }
}

impl FromStr for Kind {
    type Err = NoInterface;

    fn from_str(word: &str) -> Result<Self, NoInterface> {
        if word == Self::EndpointTest.as_str() { Ok(Self::EndpointTest) } else { word.parse().map(Self::Of) }
    }
}

/// The bucket of an endpoint: its id is random enough.
#[must_use]
pub fn bucket_of(endpoint: uuid::Uuid) -> u8 {
    endpoint.as_bytes().iter().fold(0, |hash: u8, byte| hash.wrapping_mul(31).wrapping_add(*byte))
}

/// When a message was written, to the millisecond: its id (UUID version 7) begins with the time.
#[must_use]
pub fn written_at(message: uuid::Uuid) -> DateTime<Utc> {
    let millis = i64::try_from(message.as_u128() >> 80).unwrap_or_default();
    DateTime::from_timestamp_millis(millis).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for interface in Interface::ALL {
            assert_eq!(interface.as_str().parse(), Ok(interface));
            assert_eq!(Kind::Of(interface).as_str().parse(), Ok(Kind::Of(interface)));
        }
        assert_eq!("endpoint_test".parse(), Ok(Kind::EndpointTest));
        assert_eq!("rmas".parse::<Interface>(), Err(NoInterface));
    }

    #[test]
    fn an_id_tells_when_its_message_was_written() {
        let id = uuid::Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0001);
        assert_eq!(written_at(id).timestamp_millis(), 0x0193_0000_0000);
    }

    #[test]
    fn endpoints_spread_evenly_over_the_buckets() {
        let mut counts = [0_u32; 256];
        for at in 0..25_600_u128 {
            // Ids of one moment: the first half is the same, the second is random.
            let id = uuid::Uuid::from_u128(
                0x0193_0000_0000_7000_8000_0000_0000_0000 | (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0x3fff_ffff_ffff_ffff),
            );
            if let Some(count) = counts.get_mut(usize::from(bucket_of(id))) {
                *count += 1;
            }
        }
        assert!(counts.iter().all(|count| (40..200).contains(count)), "{counts:?}");
    }
}
