//! Merchants' access tokens, and the erasure of shoppers' data.

mod audit;
mod erasing;
mod retention;
mod tokens;
