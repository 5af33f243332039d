//! The person of a session.

use domain::merchants::operator::Operator;
use uuid::Uuid;

/// The person of a session.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) operator: Operator,
    pub(super) session: Uuid,
}
