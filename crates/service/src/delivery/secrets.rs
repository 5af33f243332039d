//! The secrets of endpoints and carriers, and the authentication and signatures made with them.

pub mod authentication;
pub mod client_pair;
pub mod renewal;
pub mod signature;
pub mod stored;
