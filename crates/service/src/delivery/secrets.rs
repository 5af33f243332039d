//! The secrets of endpoints and carriers, and what is made with them: authentication and signatures.

pub mod authentication;
pub mod signature;
pub mod stored;
