//! Nodes that come and go while callers call.

mod balancer;
mod callers;
pub(crate) mod rolling;
