//! The business verbs: one file, one verb, one transaction.

pub mod accept_orders;
pub mod add_units;
pub mod advance_clock;
pub mod announce_asns;
pub mod cancel_drop_ship_order;
pub mod cancel_return;
pub mod carrier_event;
pub mod carrier_webhook;
pub mod change_asn;
pub mod close_asn;
pub mod configure_carrier;
pub mod configure_endpoint;
pub mod configure_merchant;
pub mod configure_place;
pub mod convert_exchange;
pub mod create_shipment;
pub mod erase_shopper;
pub mod forget_carrier_events;
pub mod import_orders;
pub mod issue_token;
pub mod keep_refusal;
pub mod label_return;
pub mod move_shipment;
pub mod place_exchange;
pub mod receive_return;
pub mod receive_units;
pub mod resend_return;
pub mod retry_failures;
pub mod retry_message;
pub mod set_limit;
pub mod set_policy;
pub mod ship_drop_ship_order;
pub mod start_return;
pub mod take_drop_ship_orders;
pub mod tell_drop_ship;
mod tell_return;
mod tell_shipment;
pub mod wake_returns;
pub mod work_on_failure;

use domain::message::{Interface, Internal, Kind};

use crate::app::App;
use crate::outbound::reaction::Reactions;

/// What follows from which delivery.
#[must_use]
pub fn reactions(app: &App) -> Reactions {
    Reactions::default()
        .with(Kind::Internal(Internal::Label), label_return::LabelBought(app.clone()))
        .with(Kind::Of(Interface::ExchangeOrder), place_exchange::ExchangeAnswered(app.clone()))
}
