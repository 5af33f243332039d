//! The order of the questions.

use wire::returns::draft::AnsweredItem;

use crate::http::pages::error::PageError;
use crate::show::returns::portal::PortalOrder;

/// An item of the draft, by its number from 1.
pub(super) fn item<'a>(order: &'a PortalOrder, number: &str) -> Result<(usize, &'a AnsweredItem), PageError> {
    let number: usize = number.parse().map_err(|_| PageError::NotFound)?;
    let at = number.checked_sub(1).ok_or(PageError::NotFound)?;
    // The draft may be gone, or smaller after a change in another tab.
    let item = order.answers.items.get(at).ok_or(PageError::NotFound)?;
    Ok((number, item))
}

/// The page of the next question that has no answer, or the last page.
pub(super) fn next(order: &PortalOrder) -> String {
    if order.answers.items.is_empty() || order.is_gift() != order.answers.giftee.is_some() {
        return "items".to_owned();
    }
    for (item, number) in order.answers.items.iter().zip(1..) {
        if item.reason.is_none() {
            return format!("items/{number}/reason");
        }
        if item.instead.is_none() {
            return format!("items/{number}/instead");
        }
    }
    if order.answers.method.is_none() { "how".to_owned() } else { "check".to_owned() }
}

/// True if there is a choice between a refund and something else for an item. The merchant may still turn out to have nothing.
pub(super) fn has_choice(order: &PortalOrder, item: &AnsweredItem) -> bool {
    order.offers_gift_card() || order.is_exchangeable(item)
}

/// The page before the first question about the item with this number.
pub(super) fn before_reason(order: &PortalOrder, number: usize) -> String {
    let before = number.checked_sub(1).filter(|number| *number > 0);
    before.map_or_else(|| "items".to_owned(), |number| last_about(order, number))
}

/// The page before the question how to send it all back.
pub(super) fn before_how(order: &PortalOrder) -> String {
    last_about(order, order.answers.items.len())
}

/// The last question about the item with this number.
fn last_about(order: &PortalOrder, number: usize) -> String {
    let item = number.checked_sub(1).and_then(|at| order.answers.items.get(at));
    match item {
        None => "items".to_owned(),
        Some(item) if has_choice(order, item) => format!("items/{number}/instead"),
        Some(_) => format!("items/{number}/reason"),
    }
}
