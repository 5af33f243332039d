//! The words of drop-ship orders; they are stored, and never changed once released.

use crate::rma::word::words;

words! {
    /// Where a drop-ship order or one of its items stands.
    Status, "status of a drop-ship order" {
        /// The warehouse has it, and nothing has left yet.
        Accepted = "accepted",
        /// Some units have left, and some are still to leave.
        PartiallyShipped = "partially_shipped",
        /// Whatever was not called off has left; final.
        Shipped = "shipped",
        /// Every unit was called off; final.
        Cancelled = "cancelled",
        /// The warehouse refused it; final.
        Rejected = "rejected",
    }
}

words! {
    /// What happened to a drop-ship order; the name of the message that tells of it.
    Event, "event of a drop-ship order" {
        /// A shipment left.
        Confirmed = "drop_shipment.confirmed",
        /// The order was called off.
        Cancelled = "drop_shipment.cancelled",
        /// The order was refused.
        Rejected = "drop_shipment.rejected",
        /// Some of its units were called off.
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
