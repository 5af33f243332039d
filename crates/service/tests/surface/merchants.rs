//! Merchants' access tokens and portals, and the erasure of shoppers' data.

mod audit;
mod erasing;
mod portal_command;
mod retention;
mod tokens;
