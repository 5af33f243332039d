//! The node at the surface: listener, limits, clock, and what operators see.

mod clock;
pub mod listener;
mod operating;
mod rates;
mod watching;
