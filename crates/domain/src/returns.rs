//! Returns: their states, units and money, exchanges, labels, carriers, mails to shoppers, the right of withdrawal, and the operator's
//! work list.

pub mod carrier;
pub mod exchange;
pub mod label;
pub mod mail;
pub mod portal;
pub mod rma;
pub mod withdrawal;
pub mod work;
