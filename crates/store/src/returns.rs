//! Returns, withdrawals, policies, claims on units, exchange orders, labels, parcels, photos, carriers, and the work list.

pub mod carrier_accounts;
pub mod carrier_events;
pub mod carrier_webhooks;
pub mod drop_offs;
pub mod exchange_orders;
pub mod idempotency;
pub mod label_orders;
pub mod labels;
pub mod parcels;
pub mod photos;
pub mod portal_links;
pub mod portal_misses;
pub mod portal_sessions;
pub mod return_drafts;
pub mod return_links;
pub mod return_policies;
pub mod returnable_orders;
pub mod rma_events;
pub mod rma_pages;
pub mod rmas;
pub mod unit_claims;
pub mod withdrawal_drafts;
pub mod withdrawals;
pub mod work_items;
