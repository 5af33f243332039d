//! Order intake under load and faults.

mod bare;
pub(crate) mod chaos;
pub(crate) mod growth;
pub(crate) mod intake;
pub(crate) mod load;
pub(crate) mod order;
