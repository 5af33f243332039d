//! The words of shipments, as they are sent and kept.

use std::fmt;
use std::str::FromStr;

/// A word that is none of those it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the word is unknown")]
pub struct NoWord;

/// Declares words: an enum, its texts, and how they are read and shown.
macro_rules! words {
    ($(#[doc = $doc:literal])* pub enum $name:ident { $( $(#[doc = $word_doc:literal])* $word:ident = $text:literal, )* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $word_doc])* $word, )*
        }

        impl $name {
            /// Every word.
            pub const ALL: &'static [Self] = &[$( Self::$word, )*];

            /// The word as it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$word => $text, )*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = NoWord;

            fn from_str(word: &str) -> Result<Self, NoWord> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or(NoWord)
            }
        }
    };
}

words! {
    /// Where a shipment stands, as others are told.
    pub enum Status {
        /// It has not shipped yet.
        Pending = "pending",
        /// It left the warehouse.
        Shipped = "shipped",
        /// It arrived.
        Delivered = "delivered",
        /// It was called off.
        Canceled = "canceled",
    }
}

words! {
    /// What happened to a shipment that others were told of.
    pub enum Event {
        /// It was announced.
        Pending = "outbound_asn.pending",
        /// It left the warehouse.
        Shipped = "outbound_asn.shipped",
        /// It arrived.
        Delivered = "outbound_asn.delivered",
        /// It was called off.
        Canceled = "outbound_asn.canceled",
        /// It ships on another day than was announced.
        ShipDateChanged = "outbound_asn.ship_date_changed",
    }
}

words! {
    /// What a shipment is for.
    pub enum Kind {
        /// Goods go to another place of the merchant's.
        StockTransfer = "stock_transfer",
        /// Goods go to a warehouse or a store by freight.
        Freight = "freight",
        /// Goods go back to a vendor.
        Vendor = "vendor",
    }
}

words! {
    /// What a place is.
    pub enum PlaceType {
        /// A warehouse, also a vendor's.
        Warehouse = "warehouse",
        /// A store.
        Store = "store",
    }
}

words! {
    /// Who pays the carrier.
    pub enum CarrierPayment {
        /// The sender.
        Prepaid = "prepaid",
        /// The receiver.
        Collect = "collect",
    }
}

words! {
    /// What a unit is like.
    pub enum Condition {
        /// `N`.
        N = "N",
        /// `A`.
        A = "A",
        /// `R`.
        R = "R",
        /// `B`.
        B = "B",
        /// `TT`.
        Tt = "TT",
        /// `C`.
        C = "C",
        /// `X`.
        X = "X",
    }
}

words! {
    /// What a carton refers to.
    pub enum ReferenceType {
        /// A stock transfer order.
        StockTransferOrder = "StockTransferOrder",
        /// A return authorisation.
        Ra = "RA",
        /// A return.
        Rma = "RMA",
        /// An order.
        ForwardOrder = "ForwardOrder",
        /// An order of the returns portal.
        ReturnsPortalOrder = "ReturnsPortalOrder",
    }
}
