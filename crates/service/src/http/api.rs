//! The handlers of the API, one module per resource.

pub(super) mod merchants;
pub(super) mod messages;
pub(super) mod orders;
pub(super) mod returns;
pub(super) mod warehouse;
