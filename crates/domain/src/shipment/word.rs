//! The words of shipments, as they are sent and kept.

use crate::rma::word::words;

words! {
    /// Where a shipment stands, as others are told.
    Status, "status of a shipment" {
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
    Event, "event of a shipment" {
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
    Kind, "kind of shipment" {
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
    PlaceType, "type of a place" {
        /// A warehouse, also a vendor's.
        Warehouse = "warehouse",
        /// A store.
        Store = "store",
    }
}

words! {
    /// Who pays the carrier.
    CarrierPayment, "carrier payment type" {
        /// The sender.
        Prepaid = "prepaid",
        /// The receiver.
        Collect = "collect",
    }
}

words! {
    /// Where a shipment stands.
    State, "state of a shipment" {
        /// Units can be added; nobody was told of it.
        Open = "open",
        /// Its units are fixed, and it was told that it will ship.
        Announced = "announced",
        /// It left the warehouse.
        Shipped = "shipped",
        /// It arrived.
        Delivered = "delivered",
        /// It was called off.
        Canceled = "canceled",
    }
}
