//! The fields of drop-ship orders.

use crate::orders::order::{MOST_ENTRIES, MOST_ORDERS};
use crate::shape::{Amount, Count, Day, Flag, Identifier, List, Text, object};

object! {
    /// 1 to 100 drop-ship orders; either all of them are accepted or none.
    pub struct DropShipOrdersIn<'a> as "GiveDropShipOrders" at 1 {
        /// The drop-ship orders.
        drop_ship_orders: List<DropShipOrderIn<'a>, 1, MOST_ORDERS>,
    }
}

object! {
    /// An order for the warehouse to ship to the shopper.
    pub struct DropShipOrderIn<'a> as "DropShipOrder" at 3 {
        /// The merchant's identifier of the order, unique across all orders.
        client_identifier: Identifier<'a>,
        /// Shipping address.
        shipping_address: DropShipAddressIn<'a>,
        /// Billing address.
        billing_address: Option<DropShipAddressIn<'a>>,
        /// Items to ship.
        order_items: List<DropShipItemIn<'a>, 1, MOST_ENTRIES>,
        /// Brand.
        brand: Option<Text<'a>>,
        /// Sales channel.
        channel: Option<Text<'a>>,
        /// Shipping method.
        shipping_method: Option<Text<'a>>,
        /// Price of the goods.
        price_cents: Option<Amount>,
        /// Tax on the goods.
        tax_cents: Option<Amount>,
        /// Handling fee in cents.
        processing_fee_cents: Option<Amount>,
        /// Shipping cost in cents.
        shipping_cost_cents: Option<Amount>,
        /// Tax on shipping.
        shipping_tax_cents: Option<Amount>,
        /// Comments for the warehouse staff.
        comments: Option<Text<'a>>,
        /// Expected delivery date.
        expected_delivery_date: Option<Day>,
        /// True if a signature is required on delivery.
        signature_required: Option<Flag>,
        /// Packing slip.
        packing_slip_identifier: Option<Text<'a>>,
    }
}

object! {
    /// A postal address.
    pub struct DropShipAddressIn<'a> as "DropShipAddress" at 4 {
        /// Recipient.
        name: Identifier<'a>,
        /// Company.
        company: Option<Text<'a>>,
        /// Telephone number for the carrier.
        telephone_number: Option<Text<'a>>,
        /// Street and number.
        street: Identifier<'a>,
        /// Second address line.
        street2: Option<Text<'a>>,
        /// City.
        city: Identifier<'a>,
        /// State or province.
        state: Option<Text<'a>>,
        /// Postal code.
        zip_code: Option<Text<'a>>,
        /// Country.
        country: Identifier<'a>,
    }
}

object! {
    /// Units of one SKU.
    pub struct DropShipItemIn<'a> as "DropShipItem" at 5 {
        /// The merchant's identifier of the item, unique within the order.
        client_identifier: Identifier<'a>,
        /// SKU.
        sku: Identifier<'a>,
        /// Number of units.
        quantity: Count,
        /// Brand.
        brand: Option<Text<'a>>,
        /// Required condition of the units.
        condition: Option<Text<'a>>,
        /// Price of the goods.
        price_cents: Option<Amount>,
        /// Tax on the goods.
        tax_cents: Option<Amount>,
        /// Shipping cost in cents.
        shipping_cost_cents: Option<Amount>,
        /// Tax on shipping.
        shipping_tax_cents: Option<Amount>,
        /// Comments for the warehouse staff.
        comments: Option<Text<'a>>,
    }
}
