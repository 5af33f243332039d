//! Merchants' access tokens, portals and brands, and the erasure of shoppers' data.

mod audit;
mod brand_command;
mod erasing;
mod portal_command;
mod retention;
mod tokens;
