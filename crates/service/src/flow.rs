//! The business verbs: one file, one verb, one transaction.

pub mod merchants;
pub mod messages;
pub mod node;
pub mod orders;
pub mod returns;
pub mod warehouse;

use domain::messages::message::{Interface, Internal, Kind};

use crate::app::App;
use crate::delivery::reaction::Reactions;

/// What follows from which delivery.
#[must_use]
pub fn reactions(app: &App) -> Reactions {
    Reactions::default()
        .with(Kind::Internal(Internal::Label), returns::label_return::LabelBought(app.clone()))
        .with(Kind::Of(Interface::ExchangeOrder), returns::place_exchange::ExchangeAnswered(app.clone()))
}
