//! What takes a second person.

use domain::id::MerchantId;
use domain::merchants::operator::OperatorId;
use store::messages::failure_selection::Selection;

use crate::flow::merchants::erase_shopper::ErasureTarget;
use crate::platform::keys::Kind;

/// What an administrator asks for.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Overwriting the personal data of these orders.
    EraseShopper { merchant: MerchantId, orders: Vec<ErasureTarget> },
    /// Discarding these entries of the failure queue, as many as there were.
    DiscardFailures { merchant: MerchantId, selection: Selection, count: i64 },
    /// Making a person an administrator.
    MakeAdmin(OperatorId),
    /// Using another key of this kind, the first one of the settings.
    RotateKeys(Kind),
}
