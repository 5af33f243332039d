//! Returns, exchanges, withdrawals, labels and carriers on the wire.

pub mod api;
pub mod carrier;
pub mod draft;
pub mod easypost;
pub mod exchange_address;
pub mod exchange_order;
pub mod label;
pub mod portal_link;
pub mod rma;
pub mod variants;
pub mod withdrawal;
pub mod work;
