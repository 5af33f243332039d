//! The enums of returns that have names on the wire and in the database. The names are the contract's where it has them; they are
//! stored, and never change once released.

/// The text is not a name of the enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what}; it is one of {}", known.join(", "))]
pub struct NoWord {
    /// What the names are for.
    pub what: &'static str,
    /// Every name.
    pub known: &'static [&'static str],
}

/// Declares an enum whose variants have names.
macro_rules! words {
    ($(#[$about:meta])* $name:ident, $what:literal { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$each])* $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Every name.
            const NAMES: &'static [&'static str] = &[$($word),+];

            /// The name in messages and in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::returns::rma::word::NoWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                let unknown = $crate::returns::rma::word::NoWord { what: $what, known: Self::NAMES };
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or(unknown)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// The method of a return.
    Method, "return method" {
        /// The shopper sends a labelled parcel.
        MailBack = "mail-back",
        /// The shopper drops the goods off or has them collected, unpacked.
        ExpressReturns = "express-returns",
        /// The shopper keeps the goods; nothing is shipped or received.
        CustomerKeep = "customer-keep",
    }
}

words! {
    /// The status of a return.
    Status, "status of a return" {
        /// Confirmed by the shopper; the initial status.
        Created = "CREATED",
        /// Receiving is closed, and some but not all units are refunded.
        PartialRefund = "PARTIAL_REFUND",
        /// Settled. Final.
        Refunded = "REFUNDED",
        /// Final.
        Cancelled = "CANCELED",
    }
}

words! {
    /// The kind of refund for a unit.
    RefundType, "refund type" {
        Refund = "REFUND",
        /// A variant at the same price.
        EvenExchange = "EVEN_EXCHANGE",
        /// Anything else, such as a gift card.
        UnevenExchange = "UNEVEN_EXCHANGE",
    }
}

words! {
    /// An event of a return; the name of its message.
    Event, "event of a return" {
        Created = "rma.created",
        /// A unit's parcel has a label or has moved.
        TrackingUpdated = "rma.tracking_updated",
        Received = "rma.received",
        /// Nothing more is expected to arrive.
        ReceivingClosed = "rma.receiving_closed",
        /// A refund that does not change the status.
        RefundRecorded = "rma.refund_recorded",
        /// The status became [`Status::PartialRefund`].
        PartiallyRefunded = "rma.partially_refunded",
        /// The status became [`Status::Refunded`].
        Refunded = "rma.refunded",
        Cancelled = "rma.canceled",
        ExchangePlaced = "rma.exchange_placed",
        /// The merchant named the order that it had placed.
        ExchangeIdentified = "rma.exchange_identified",
        /// The exchange was not placed; its units are refunded.
        ExchangeConverted = "rma.exchange_converted",
        /// Nothing happened; the current state was sent again on request.
        Resent = "rma.resent",
    }
}

words! {
    /// The state of a return's exchange.
    ExchangeState, "state of an exchange" {
        /// The exchange order is owed to the merchant.
        Pending = "pending",
        /// The merchant has placed the exchange order.
        Placed = "placed",
        /// Not placed; the units are refunded.
        Converted = "converted",
    }
}

words! {
    /// The receiving status of a unit.
    Receiving, "receiving status" {
        /// Expected.
        Pending = "PENDING",
        Received = "RECEIVED",
        /// Not there when receiving was closed.
        NotReceived = "NOT_RECEIVED",
    }
}

words! {
    /// The meaning of a tag for returns.
    TagRule, "rule for a tag" {
        FinalSale = "final_sale",
        GiftCard = "gift_card",
        /// Picked up in a store, and can only be returned there.
        PickupInStore = "pickup_in_store",
        /// Sold by a third party.
        ThirdParty = "third_party",
        /// Bought as a gift; refunded to a gift card.
        Gift = "gift",
        /// Returns are allowed.
        Allowed = "allowed",
    }
}

words! {
    /// The refunds that a return needs before it is settled.
    RefundCloses, "rule for refunds" {
        /// The first refund for a return settles all its units that are to be refunded.
        Any = "any",
        /// Every unit that is to be refunded needs to be covered.
        All = "all",
    }
}

words! {
    /// The reasons a unit cannot be returned. If several apply, the first in this order is reported.
    Obstacle, "obstacle" {
        OrderCancelled = "order_cancelled",
        Cancelled = "cancelled",
        NotShipped = "not_shipped",
        Refunded = "refunded",
        /// Already in another return.
        InReturn = "in_return",
        FinalSale = "final_sale",
        GiftCard = "gift_card",
        /// Picked up in a store, and can only be returned there.
        PickupInStore = "pickup_in_store",
        /// Sold by a third party.
        ThirdParty = "third_party",
        WindowOver = "window_over",
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::str::FromStr;

    use super::*;

    #[test]
    fn every_word_is_read_back() {
        fn read_back<T: FromStr<Err = NoWord> + fmt::Display + PartialEq + fmt::Debug>(all: &[T]) {
            for word in all {
                assert_eq!(word.to_string().parse::<T>().as_ref(), Ok(word));
            }
            assert!("".parse::<T>().is_err());
        }
        read_back(Method::ALL);
        read_back(Status::ALL);
        read_back(RefundType::ALL);
        read_back(Event::ALL);
        read_back(ExchangeState::ALL);
        read_back(Receiving::ALL);
        read_back(TagRule::ALL);
        read_back(RefundCloses::ALL);
        read_back(Obstacle::ALL);
    }

    #[test]
    fn a_word_in_another_spelling_is_no_word() {
        let told = "unknown status of a return; it is one of CREATED, PARTIAL_REFUND, REFUNDED, CANCELED";
        assert_eq!("Refunded".parse::<Status>().map_err(|none| none.to_string()), Err(told.to_owned()));
        assert_eq!("mail_back".parse::<Method>().map_err(|none| none.what), Err("return method"));
    }
}
