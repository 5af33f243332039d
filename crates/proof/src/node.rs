//! Nodes and their schema, which change while callers call.

mod balancer;
mod callers;
pub(crate) mod console;
pub(crate) mod migrate;
pub(crate) mod rolling;
