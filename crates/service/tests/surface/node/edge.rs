//! The edge of the service under attack: whatever strangers send, it stays cheap, small and closed.

mod admin;
mod attacker;
mod headers;
mod labels;
mod malformed;
mod production;
mod refusals;
mod resets;
