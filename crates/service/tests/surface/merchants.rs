//! Merchants' access tokens, portals and brands, and the erasure of shoppers' data. Operators, who work with the console.

mod audit;
mod brand_command;
mod client_certificates;
mod confirmations;
mod console_commands;
pub mod console_merchants;
mod console_people;
mod console_requests;
mod console_routes;
mod console_single_sign_on;
mod console_today;
mod console_tokens;
mod credentials;
mod deletion;
pub mod erasing;
pub mod json_output;
mod moving;
mod onboarding_command;
pub mod operator_api;
mod operator_command;
mod portal_command;
mod rename_command;
mod retention;
mod server_option;
mod suppression;
mod tables;
mod tokens;
