//! A merchant as commands show it.

use serde::Serialize;
use store::merchants::accounts::Merchant;
use wire::time;

/// A merchant.
#[derive(Serialize)]
pub(super) struct MerchantOut {
    pub(super) handle: String,
    pub(super) name: String,
    pub(super) state: &'static str,
    technical_contact: Option<String>,
    retention_days: i32,
    refund_days: i32,
    pub(super) created_at: String,
    merchant_id: String,
}

impl From<Merchant> for MerchantOut {
    fn from(merchant: Merchant) -> Self {
        Self {
            state: merchant.state(),
            handle: merchant.handle,
            name: merchant.name,
            technical_contact: merchant.technical_contact,
            retention_days: merchant.retention_days,
            refund_days: merchant.refund_days,
            created_at: time::write(merchant.created_at),
            merchant_id: merchant.id.to_string(),
        }
    }
}
