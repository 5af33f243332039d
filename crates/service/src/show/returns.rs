//! Returns and exchange options as they are shown.

pub mod exchanges;
pub mod rmas;
