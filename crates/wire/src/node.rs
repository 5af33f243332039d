//! What a node tells the operator's systems.

pub mod otlp;
