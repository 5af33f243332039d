//! The business rules of orders, refunds, returns, access and delivery, as pure functions over plain values.
//!
//! Nothing here awaits, reads a clock or sees JSON. A received order reaches the rules as a borrowed [`order::Order`](orders::order::Order). Their
//! findings ([`order::Broken`](orders::order::Broken), [`order::Doubt`](orders::order::Doubt), [`refund::Remark`](orders::refund::Remark)) are data that refer to places by position; `wire` turns
//! them into the words of the contract.

pub mod id;
pub mod merchants;
pub mod messages;
pub mod money;
pub mod node;
pub mod orders;
pub mod returns;
pub mod warehouse;
