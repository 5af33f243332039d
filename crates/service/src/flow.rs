//! The business operations: one file and one transaction each. Only a flow opens a transaction.

pub mod merchants;
pub mod messages;
pub mod node;
pub mod orders;
pub mod returns;
mod together;
pub mod warehouse;

use domain::messages::message::{Interface, Internal, Kind};

use crate::app::App;
use crate::delivery::reaction::Reactions;

/// The reactions to finished deliveries, by message kind.
#[must_use]
pub fn reactions(app: &App) -> Reactions {
    Reactions::default()
        .with(Kind::Internal(Internal::Label), returns::label_return::LabelAnswered(app.clone()))
        .with(Kind::Internal(Internal::LabelCode), returns::code_label::CodeAnswered)
        .with(Kind::EndpointTest, messages::test_endpoint::TestAnswered)
        .with(Kind::Of(Interface::ExchangeOrder), returns::place_exchange::ExchangeAnswered(app.clone()))
}
