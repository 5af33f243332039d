//! Nodes and their schema, which change while callers call, and the edge of a node under attack.

mod balancer;
mod callers;
pub(crate) mod console;
pub(crate) mod edge;
pub(crate) mod haproxy;
pub(crate) mod migrate;
pub(crate) mod rolling;
