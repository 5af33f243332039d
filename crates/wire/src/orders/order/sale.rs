//! Stored orders as returns see them.

use domain::money::Cents;
use domain::returns::rma::money::spread_discount;
use domain::returns::rma::policy::Tag;
use domain::returns::rma::sale::{Sale, SoldLine, Weight};

use super::shape::{Entries, LineIn, OrderIn};
use crate::shape::{self, Amount, List, Text};

/// Reads a stored order; it was valid when it was received.
#[must_use]
pub fn read_stored(snapshot: &str) -> Option<OrderIn<'_>> {
    serde_json::from_str(snapshot).ok()
}

impl OrderIn<'_> {
    /// The order as returns see it.
    #[must_use]
    pub fn sale(&self) -> Sale {
        let facts = self.facts();
        let List(lines) = &self.items;
        let mut lines: Vec<SoldLine> = lines.iter().zip(&facts.lines).map(|(line, facts)| line.sold(facts)).collect();
        spread_discount(facts.discount, &mut lines);
        Sale {
            identifier: self.identifier.0.to_string(),
            status: self.status.0,
            placed_at: self.created_at.0,
            tags: tags(self.tags.as_ref()),
            lines,
        }
    }
}

impl LineIn<'_> {
    fn sold(&self, facts: &domain::orders::order::Line<'_>) -> SoldLine {
        let text = |text: &Option<Text<'_>>| text.as_ref().map(|Text(text)| text.to_string());
        SoldLine {
            identifier: self.identifier.0.to_string(),
            sku: self.sku.0.to_string(),
            title: text(&self.title),
            image_url: text(&self.image_url),
            product_identifier: text(&self.product_identifier),
            concept: text(&self.concept),
            variant_identifier: text(&self.variant_identifier),
            quantity: facts.quantity,
            shipped: facts.shipped,
            cancelled: facts.cancelled,
            unit_price: facts.unit_price,
            product: facts.product,
            discount: self.discount_amount_cents.map_or_else(Default::default, |Amount(cents)| cents),
            order_discount: Cents::default(),
            tax: facts.tax,
            weight: self.weight.map(thousandths),
            shipped_at: self.shipped_date.map(|time| time.0),
            delivered_at: self.delivered_date.map(|time| time.0),
            tags: tags(self.tags.as_ref()),
        }
    }
}

fn tags<const DEPTH: usize>(tags: Option<&Entries<shape::Tag<'_, DEPTH>>>) -> Vec<Tag> {
    tags.map(|List(tags)| tags.iter().filter_map(|tag| tag.0.as_deref().map(Tag::new)).collect()).unwrap_or_default()
}

/// Rounds up, so that a weight just above a limit does not pass.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a weight is not negative, and one beyond all limits saturates"
)]
fn thousandths(shape::Weight(pounds): shape::Weight) -> Weight {
    Weight((pounds * 1_000.0).ceil() as u32)
}
