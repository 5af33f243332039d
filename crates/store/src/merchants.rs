//! Merchants, their portals and brands, credentials, tokens, the audit log, and erasing.

pub mod accounts;
pub mod audit;
pub mod brands;
pub mod credentials;
pub mod erasures;
pub mod mail_settings;
pub mod portals;
pub mod retentions;
pub mod tokens;
