//! Flows on returns, exchanges, labels, photos, and carriers.

pub mod answer_draft;
pub mod cancel_return;
pub mod carrier_event;
pub mod carrier_webhook;
pub mod close_case;
pub mod code_label;
pub mod configure_carrier;
pub mod confirm_refund;
pub mod convert_exchange;
pub mod fetch_photo;
pub mod find_order;
pub mod forget_outdated;
pub mod label_return;
pub(super) mod label_work;
pub mod list_unidentified_exchanges;
pub mod order_label;
pub mod place_exchange;
pub mod receive_return;
pub mod record_exchange;
pub mod resend_return;
pub(super) mod save_return;
pub mod send_link;
pub mod set_policy;
pub mod start_over;
pub mod start_return;
pub mod wake_returns;
