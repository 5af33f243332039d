//! Stored rows turned into what people and machines are shown.

pub mod merchants;
pub mod messages;
pub mod orders;
pub mod returns;
pub mod warehouse;
