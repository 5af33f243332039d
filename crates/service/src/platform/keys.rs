//! Keys kept outside the database, and the tokens and secrets made with them.

pub mod bearer;
pub mod fingerprint;
pub mod password;
pub mod sealing;
pub mod totp;
