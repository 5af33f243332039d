//! The states, events and kinds of shipments, as sent and stored.

use crate::returns::rma::word::words;

words! {
    /// The status of a shipment in messages.
    Status, "status of a shipment" {
        Pending = "pending",
        Shipped = "shipped",
        Delivered = "delivered",
        Cancelled = "canceled",
    }
}

words! {
    /// An event of a shipment; the name of its message.
    Event, "event of a shipment" {
        Pending = "outbound_asn.pending",
        Shipped = "outbound_asn.shipped",
        Delivered = "outbound_asn.delivered",
        Cancelled = "outbound_asn.canceled",
        ShipDateChanged = "outbound_asn.ship_date_changed",
        /// Another carrier, tracking number or bill of lading.
        TransportChanged = "outbound_asn.transport_changed",
    }
}

words! {
    /// The kind of a shipment.
    Kind, "kind of shipment" {
        /// To another place of the merchant.
        StockTransfer = "stock_transfer",
        /// To a warehouse or a store, by freight.
        Freight = "freight",
        /// Back to a vendor.
        Vendor = "vendor",
    }
}

words! {
    /// The type of a place.
    PlaceType, "type of a place" {
        /// A warehouse, including a vendor's.
        Warehouse = "warehouse",
        Store = "store",
    }
}

words! {
    /// The party that pays the carrier.
    CarrierPayment, "carrier payment type" {
        /// The sender pays.
        Prepaid = "prepaid",
        /// The receiver pays.
        Collect = "collect",
    }
}

words! {
    /// The state of a shipment.
    State, "state of a shipment" {
        /// Units can be added; the merchant does not know of it yet.
        Open = "open",
        /// Its units are fixed, and the merchant knows of it.
        Announced = "announced",
        Shipped = "shipped",
        Delivered = "delivered",
        Cancelled = "canceled",
    }
}
