//! Merchants, their portals and brands, credentials, tokens, the audit log, and erasing. Operators, who belong to no merchant.

pub mod accounts;
pub mod audit;
pub mod audit_chain;
pub(crate) mod audit_rows;
pub mod brands;
pub mod credentials;
pub mod erasures;
pub mod home_audit;
pub mod mail_settings;
pub mod merchant_keys;
pub mod onboarding;
pub mod operator_codes;
pub mod operator_devices;
pub mod operator_invitations;
pub mod operator_requests;
pub mod operator_sessions;
pub mod operator_tokens;
pub mod operators;
pub mod overview;
pub mod portals;
pub mod retentions;
pub mod search;
pub mod shopper_export;
pub mod sign_in_troubles;
pub mod tokens;
pub mod unfinished;
