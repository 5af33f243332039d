//! Flows on operators, the people who work with the console: signing in, invitations, roles, and what takes a second person.
//!
//! A person signs in in two steps, a password and a code of an authenticator ([`sign_in`], [`second_step`]), or with the identity
//! provider ([`single_sign_on`]). Between two steps the browser keeps a [`ticket`], sealed so that only this service can read it.

mod audit_row;
pub mod forget_outdated;
pub mod invitation;
pub mod own_account;
pub mod people;
pub mod provider;
pub mod renew_totps;
pub mod requests;
pub mod second_step;
pub mod session;
pub mod sign_in;
mod sign_in_error;
pub mod single_sign_on;
pub mod ticket;
pub mod tokens;
mod tries;
pub mod visitor;
