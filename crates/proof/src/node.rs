//! Nodes and their schema, which change while callers call, the edge of a node under attack, and the cost of a cluster.

mod balancer;
mod callers;
pub(crate) mod cluster;
pub(crate) mod console;
pub(crate) mod edge;
pub(crate) mod haproxy;
pub(crate) mod migrate;
pub(crate) mod rolling;
