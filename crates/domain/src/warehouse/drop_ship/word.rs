//! The states and events of drop-ship orders. Their names are stored, and never change once released.

use crate::returns::rma::word::words;

words! {
    /// The status of a drop-ship order or of one of its items.
    Status, "status of a drop-ship order" {
        /// Nothing has shipped yet.
        Accepted = "accepted",
        /// Some units have shipped, others are still open.
        PartiallyShipped = "partially_shipped",
        /// Every unit that was not cancelled has shipped. Final.
        Shipped = "shipped",
        /// Every unit was cancelled. Final.
        Cancelled = "cancelled",
        /// The warehouse rejected it. Final.
        Rejected = "rejected",
    }
}

words! {
    /// An event of a drop-ship order; the name of its message.
    Event, "event of a drop-ship order" {
        /// A shipment left the warehouse.
        Confirmed = "drop_shipment.confirmed",
        Cancelled = "drop_shipment.cancelled",
        Rejected = "drop_shipment.rejected",
        PartiallyCancelled = "drop_shipment.partially_cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for status in Status::ALL {
            assert_eq!(status.to_string().parse(), Ok(*status));
        }
        for event in Event::ALL {
            assert_eq!(event.to_string().parse(), Ok(*event));
        }
        assert!("canceled".parse::<Status>().is_err());
    }
}
