//! The meaning of a merchant's answer to an exchange order.

/// The statuses that a merchant may declare to mean that the order cannot be placed. Any other failure leaves it open.
pub const CANNOT_BE_PLACED: [u16; 3] = [409, 410, 422];

/// True for the statuses that a merchant may declare to mean that the order cannot be placed.
#[must_use]
pub fn cannot_be_placed(status: u16) -> bool {
    CANNOT_BE_PLACED.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_statuses_may_mean_that_an_order_cannot_be_placed() {
        let statuses: Vec<u16> = (100..600).filter(|status| cannot_be_placed(*status)).collect();
        assert_eq!(statuses, [409, 410, 422]);
    }
}
