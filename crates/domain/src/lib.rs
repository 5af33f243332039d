//! The business rules of orders, refunds, returns, access and delivery, as pure functions over plain values.
//!
//! Nothing here awaits, reads a clock or sees JSON. A received order reaches the rules as a borrowed [`order::Order`]. Their
//! findings ([`order::Broken`], [`order::Doubt`], [`refund::Conflict`]) are data that refer to places by position; `wire` turns
//! them into the words of the contract.

pub mod access;
pub mod asn;
pub mod carrier;
pub mod delivery;
pub mod drop_ship;
pub mod exchange;
pub mod feed;
pub mod id;
pub mod inbound;
pub mod message;
pub mod mode;
pub mod money;
pub mod notice;
pub mod order;
pub mod place;
pub mod promptness;
pub mod refund;
pub mod rma;
pub mod shipment;
pub mod shopper;
pub mod snapshot;
