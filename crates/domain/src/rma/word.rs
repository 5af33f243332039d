//! The words of returns, spelled as the contract does where it has them; they are stored, and never changed once released.

/// A text that is none of the words of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such {0}")]
pub struct NoWord(pub &'static str);

/// Declares an enum of which every variant has one word.
macro_rules! words {
    ($(#[$about:meta])* $name:ident, $what:literal { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$each])* $variant,)+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its word in messages and in the database.
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
            type Err = $crate::rma::NoWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or($crate::rma::NoWord($what))
            }
        }
    };
}
pub(crate) use words;

words! {
    /// How the goods come back.
    Method, "return method" {
        /// The shopper puts a label on a parcel and sends it.
        MailBack = "mail-back",
        /// The shopper drops the goods off, or has them collected, unpacked.
        ExpressReturns = "express-returns",
        /// The shopper keeps the goods; nothing travels and nothing arrives.
        CustomerKeep = "customer-keep",
    }
}

words! {
    /// Where a return stands as a whole.
    Status, "status of a return" {
        /// Confirmed by the shopper; every return starts here.
        Created = "CREATED",
        /// Receiving is closed, something was refunded, and something is not refunded yet.
        PartialRefund = "PARTIAL_REFUND",
        /// Settled; final.
        Refunded = "REFUNDED",
        /// Called off; final.
        Canceled = "CANCELED",
    }
}

words! {
    /// What the shopper gets for a unit.
    RefundType, "refund type" {
        /// The money.
        Refund = "REFUND",
        /// Another variant at the same price.
        EvenExchange = "EVEN_EXCHANGE",
        /// Something else, such as a gift card.
        UnevenExchange = "UNEVEN_EXCHANGE",
    }
}

words! {
    /// What happened to a return; the name of the message that tells of it.
    Event, "event of a return" {
        /// The shopper confirmed it.
        Created = "rma.created",
        /// A unit's parcel has a label or has moved.
        TrackingUpdated = "rma.tracking_updated",
        /// Units arrived at the warehouse.
        Received = "rma.received",
        /// Nothing more is expected to arrive.
        ReceivingClosed = "rma.receiving_closed",
        /// A refund was recorded that does not change the status.
        RefundRecorded = "rma.refund_recorded",
        /// It became [`Status::PartialRefund`].
        PartiallyRefunded = "rma.partially_refunded",
        /// It became [`Status::Refunded`].
        Refunded = "rma.refunded",
        /// It was called off.
        Canceled = "rma.canceled",
        /// The exchange order is placed.
        ExchangePlaced = "rma.exchange_placed",
        /// There is no exchange: what was to be exchanged is refunded.
        ExchangeConverted = "rma.exchange_converted",
        /// Nothing happened: the current state was asked for again.
        Resent = "rma.resent",
    }
}

words! {
    /// How far the exchange of a return has come.
    ExchangeState, "state of an exchange" {
        /// The merchant is owed the order.
        Pending = "pending",
        /// The merchant has placed it.
        Placed = "placed",
        /// It was not placed, and its units are refunded.
        Converted = "converted",
    }
}

words! {
    /// Whether a unit has arrived at the warehouse.
    Receiving, "receiving status" {
        /// It is waited for.
        Pending = "PENDING",
        /// It is there.
        Received = "RECEIVED",
        /// It was not there when receiving was closed.
        NotReceived = "NOT_RECEIVED",
    }
}

words! {
    /// What a tag means for a return.
    TagRule, "rule for a tag" {
        /// Sold for good.
        FinalSale = "final_sale",
        /// A gift card.
        GiftCard = "gift_card",
        /// Picked up in a store, where it is brought back as well.
        PickupInStore = "pickup_in_store",
        /// Sold by somebody else.
        ThirdParty = "third_party",
        /// Bought as a gift: whoever returns it is refunded to a gift card.
        Gift = "gift",
        /// Nothing stands against a return.
        Allowed = "allowed",
    }
}

words! {
    /// Why a unit cannot come back. Where several stand against it, the first of them is told.
    Obstacle, "obstacle" {
        /// The order was called off.
        OrderCancelled = "order_cancelled",
        /// The unit was called off.
        Cancelled = "cancelled",
        /// The unit has not left yet.
        NotShipped = "not_shipped",
        /// The money was paid back already.
        Refunded = "refunded",
        /// It is on its way back already.
        InReturn = "in_return",
        /// Sold for good.
        FinalSale = "final_sale",
        /// A gift card.
        GiftCard = "gift_card",
        /// Picked up in a store, and brought back there.
        PickupInStore = "pickup_in_store",
        /// Sold by somebody else.
        ThirdParty = "third_party",
        /// It is too late.
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
        read_back(Obstacle::ALL);
    }

    #[test]
    fn a_word_in_another_spelling_is_no_word() {
        assert_eq!("Refunded".parse::<Status>(), Err(NoWord("status of a return")));
        assert_eq!("mail_back".parse::<Method>().map_err(|none| none.to_string()), Err("no such return method".to_owned()));
    }
}
