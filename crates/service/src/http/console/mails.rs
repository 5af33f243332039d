//! `GET /merchants/{handle}/mails`: the mails that a merchant's shoppers receive, each as a sample in each language, and "send to me".

use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use domain::returns::mail::Mail;
use serde::Deserialize;
use store::merchants::accounts::Merchant;

use super::by::{By, Permission, Support, Viewer};
use super::error::ConsoleError;
use super::form::{Path, Query};
use super::frame::{Frame, Notice, Section};
use super::merchant_head::{Head, Tab, find};
use super::merchants::capitalised;
use super::page::render;
use crate::delivery::mails::{self, Letterhead, Rendered, sample};
use crate::flow::merchants::send_sample_mail::{SampleMailError, send_sample_mail};
use crate::http::pages::headers;
use crate::platform::texts::{Language, Languages};

/// The page of a mail has its style in itself, and loads nothing but the logo.
const OF_MAIL: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
);

/// A mail in the list.
struct Row {
    name: &'static str,
    when: &'static str,
    is_off: bool,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "console/mails.html")]
struct Page {
    frame: Frame,
    head: Head,
    rows: Vec<Row>,
    mail: &'static str,
    language: &'static str,
    languages: Languages,
    from: String,
    reply_to: Option<String>,
    subject: String,
    text: String,
    /// The operator's own address.
    to: String,
    can_send: bool,
}

const fn when(mail: Mail) -> &'static str {
    match mail {
        Mail::Confirmed => "A return is started",
        Mail::LabelReady => "Its label comes later than the confirmation",
        Mail::OnItsWay => "The carrier has the goods",
        Mail::Reminder => "The goods were not handed over in 21 days",
        Mail::Refunded => "The merchant has refunded units",
        Mail::Cancelled => "The return is cancelled",
        Mail::Expired => "It was cancelled, because the goods were not handed over",
        Mail::ExchangePlaced => "The exchange order is placed",
        Mail::ExchangeSoldOut => "The exchange was turned into a refund",
        Mail::SignInLink => "A shopper asks for a link to their orders",
        Mail::Withdrawal => "A shopper withdraws from a contract",
    }
}

/// The mail and the language that are looked at.
#[derive(Default, Deserialize)]
pub(super) struct Choice {
    mail: Option<String>,
    language: Option<String>,
}

/// A mail by the name that operators know, and a language by its code.
fn parse(mail: &str, language: &str) -> Result<(Mail, Language), ConsoleError> {
    let mail = Mail::ALL.iter().copied().find(|known| known.short() == mail).ok_or(ConsoleError::NotFound)?;
    Ok((mail, Languages::default().find(language).ok_or(ConsoleError::NotFound)?))
}

/// A sample of a mail with the merchant's letterhead, with logos that this console serves.
async fn rendered<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    mail: Mail,
    language: Language,
) -> Result<(Rendered, Letterhead), ConsoleError> {
    let letterhead = Letterhead::at(&by.app, merchant.id, |_| Some(format!("/merchants/{}/brand/preview", merchant.handle))).await?;
    let facts = sample(mail, language, &letterhead.sender.name, by.now);
    let rendered = mails::render(&facts, &letterhead).ok_or_else(|| ConsoleError::Internal("a sample of a mail lacks facts".to_owned()))?;
    Ok((rendered, letterhead))
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>, Query(choice): Query<Choice>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let mail = choice.mail.as_deref().unwrap_or(Mail::Confirmed.short());
    let language = choice.language.as_deref().unwrap_or_else(|| Language::default().code());
    let (mail, language) = parse(mail, language)?;
    page(&by, &merchant, mail, language, None).await
}

async fn page<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    mail: Mail,
    language: Language,
    notice: Option<Notice>,
) -> Result<Response, ConsoleError> {
    let (Rendered { subject, text, .. }, Letterhead { sender, .. }) = rendered(by, merchant, mail, language).await?;
    let row = |listed: &Mail| Row {
        name: listed.short(),
        when: when(*listed),
        is_off: sender.switched_off.contains(listed),
        is_here: *listed == mail,
    };
    let to = by.operator.email.clone();
    let page = render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: mails", merchant.name)).with(notice),
        head: Head::new(merchant, Tab::Mails, by),
        rows: Mail::ALL.iter().map(row).collect(),
        mail: mail.short(),
        language: language.code(),
        languages: Languages::default(),
        from: sender.name.clone(),
        reply_to: sender.reply_to.clone(),
        subject,
        text,
        can_send: by.app.mailer.can_write_to(&to),
        to,
    })?;
    Ok(headers::with_frame(page))
}

/// The variable parts of the address of a sample: merchant, mail and language.
type At = (String, String, String);

/// `GET …/{mail}/{language}`: the mail alone, to be shown in a frame.
pub(super) async fn show_sample(by: By<Viewer>, Path((handle, mail, language)): Path<At>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let (mail, language) = parse(&mail, &language)?;
    let (Rendered { html, .. }, _) = rendered(&by, &merchant, mail, language).await?;
    let mut page = headers::within_frame(Html(html).into_response());
    page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, OF_MAIL);
    Ok(page)
}

/// `POST …/{mail}/{language}`: sends the sample to the operator who asks.
pub(super) async fn send(by: By<Support>, Path((handle, mail, language)): Path<At>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let (mail, language) = parse(&mail, &language)?;
    let to = by.operator.email.clone();
    send_sample_mail(&by.app, &by.actor(), merchant.id, (mail, language), &to).await.map_err(|error| match error {
        SampleMailError::Failed(failed) => failed.into(),
        error @ SampleMailError::NoServer => ConsoleError::Refused(format!("{}.", capitalised(&error.to_string()))),
    })?;
    let notice = Notice::ok(&format!("The mail is on its way to {to}."), "It takes the way that shoppers' mails take.");
    page(&by, &merchant, mail, language, Some(notice)).await
}
