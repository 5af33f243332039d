//! Merchants: the access of their systems, and their brand. Operators: the people who run the installation.

pub mod access;
pub mod brand;
pub mod onboarding;
pub mod operator;
