//! Mails to shoppers: the stored facts of a mail and its sender become a text and a page, in the language of the shopper.
//!
//! - `compose` puts words around the facts: a letter of headings, rows and steps, the same for both forms.
//! - `letter` is that letter, with its form in HTML.
//! - `letterhead` is what it shows of the merchant: sender, brand, contact and links.
//! - `plain` is its form in plain text.
//! - `sample` has made-up facts, to look at a mail.
//!
//! The same facts and letterhead always give the same mail, so that support sees what the shopper saw.

mod compose;
mod letter;
mod letterhead;
mod plain;
mod sample;

use wire::messages::mail::ShopperMail;

use self::compose::compose;
pub use self::letterhead::Letterhead;
pub(crate) use self::letterhead::portal_address;
pub use self::sample::sample;

/// A mail in both forms. It has no `Debug` because it is personal.
pub struct Rendered {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// Writes a mail. `None` if this version does not know it, or facts are missing.
#[must_use]
pub fn render(mail: &ShopperMail, letterhead: &Letterhead) -> Option<Rendered> {
    let letter = compose(mail, letterhead)?;
    let html = askama::Template::render(&letter).ok()?;
    Some(Rendered { text: plain::write(&letter), subject: letter.subject, html })
}

#[cfg(test)]
mod tests;
