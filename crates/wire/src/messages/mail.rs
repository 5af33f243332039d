//! Mails as stored until they are sent, and for as long as support may want to see them. No type has `Debug`: recipients and contents
//! are personal.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A stored mail.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum MailBody {
    Shopper(Box<ShopperMail>),
    Plain(PlainMail),
}

/// A mail with a text of its own: a notice to an operator or a merchant.
#[derive(Clone, Serialize, Deserialize)]
pub struct PlainMail {
    /// An e-mail address.
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// The facts of a mail to a shopper. The words are put around them when it is sent, and again when support looks at it. New fields
/// are optional, so that mails that an earlier version stored are still sent.
#[derive(Clone, Serialize, Deserialize)]
pub struct ShopperMail {
    /// The name of the mail, such as `mail.confirmed`.
    pub mail: String,
    /// An e-mail address.
    pub to: String,
    /// The code of the language.
    pub language: String,
    /// The first name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address that the button opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<AboutReturn>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<AboutWithdrawal>,
}

/// A statement of withdrawal as a mail acknowledges it, in the words that the shopper confirmed.
#[derive(Clone, Serialize, Deserialize)]
pub struct AboutWithdrawal {
    pub reference: String,
    pub at: DateTime<Utc>,
    /// The sentence that withdraws.
    pub sentence: String,
    /// The facts of the statement, each with its name.
    pub facts: Vec<(String, String)>,
    /// The order is known.
    #[serde(default)]
    pub matched: bool,
    /// The goods were a gift, so the shopper who withdraws does not have them.
    #[serde(default)]
    pub gift: bool,
    /// The last moment to send the goods back, if there are any to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_by: Option<DateTime<Utc>>,
}

/// A return as a mail tells of it. Amounts are in cents; those of a gift are left out.
#[derive(Clone, Serialize, Deserialize)]
pub struct AboutReturn {
    pub rma: String,
    /// The order; left out for a gift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    pub method: String,
    /// The time of the news.
    pub at: DateTime<Utc>,
    /// The last moment to hand the goods over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DateTime<Utc>>,
    pub goods: Vec<Goods>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking_number: Option<String>,
    /// We buy the label.
    #[serde(default)]
    pub label_ordered: bool,
    /// The goods are still with the shopper.
    #[serde(default)]
    pub waiting: bool,
    /// Something is exchanged: `goods`, a gift `card`, or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange_order: Option<String>,
    #[serde(default)]
    pub by_shopper: bool,
}

/// Goods that come back.
#[derive(Clone, Serialize, Deserialize)]
pub struct Goods {
    pub title: String,
    pub units: u32,
    /// The refund type.
    pub gets: String,
}

/// The money of a return.
#[derive(Clone, Serialize, Deserialize)]
pub struct Money {
    pub currency: String,
    /// What is still to be refunded, as far as is known.
    pub to_come: i64,
    /// The fee that is deducted from it.
    #[serde(default)]
    pub fee: i64,
    /// What the merchant refunded just now.
    #[serde(default)]
    pub refunded: i64,
}

/// Serialises a plain mail for storage.
#[must_use]
pub fn write(mail: &PlainMail) -> String {
    let PlainMail { to, subject, text } = mail;
    serde_json::json!({ "to": to, "subject": subject, "text": text }).to_string()
}

/// Serialises a mail to a shopper for storage. `None` if that is impossible.
#[must_use]
pub fn write_shopper(mail: &ShopperMail) -> Option<String> {
    serde_json::to_string(mail).ok()
}

/// Deserialises a stored mail.
#[must_use]
pub fn read(body: &[u8]) -> Option<MailBody> {
    serde_json::from_slice(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_read_as_it_was_written() {
        let mail = PlainMail { to: "pat@example.com".to_owned(), subject: "Grüße".to_owned(), text: "Line\n\"quoted\"\n".to_owned() };
        let Some(MailBody::Plain(read)) = read(write(&mail).as_bytes()) else { panic!("a plain mail") };
        assert_eq!((read.to, read.subject, read.text), (mail.to, mail.subject, mail.text));
        assert!(super::read(b"{}").is_none());
        assert!(super::read(br#"{"erased":true}"#).is_none());
    }

    /// The oldest and shortest form; it must be read for ever.
    #[test]
    fn a_mail_to_a_shopper_that_this_version_stored_stays_readable() {
        let stored = r#"{"mail":"mail.confirmed","to":"pat@example.com","language":"en","about":{"rma":"R-F779-W5W2","method":"mail-back","at":"2026-03-01T12:00:00Z","goods":[{"title":"Harbour Runner","units":2,"gets":"REFUND"}],"label_ordered":false,"waiting":false,"by_shopper":false}}"#;
        let Some(MailBody::Shopper(mail)) = read(stored.as_bytes()) else { panic!("a mail to a shopper") };
        assert_eq!(write_shopper(&mail).as_deref(), Some(stored));
        let bare = stored.replace(r#","label_ordered":false,"waiting":false,"by_shopper":false"#, "");
        assert!(matches!(read(bare.as_bytes()), Some(MailBody::Shopper(_))), "what is false may be left out");
    }
}
