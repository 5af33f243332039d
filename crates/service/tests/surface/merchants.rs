//! Merchants' access tokens, and the erasure of shoppers' data.

mod erasing;
mod tokens;
