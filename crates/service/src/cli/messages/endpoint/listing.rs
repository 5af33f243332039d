//! Endpoints as the command line lists and shows them: where they are, how they fare, and why they fail.

use clap::Args;
use domain::id::{Handle, MerchantId};
use domain::messages::message::Interface;
use serde::Serialize;
use store::merchants::accounts::{self, Merchant};
use store::messages::recent;
use store::messages::troubles::{self, FailingEndpoint};
use wire::messages::message::{EndpointCertificate, EndpointOut, EndpointState};

use crate::app::App;
use crate::cli::context::OfMerchants;
use crate::cli::output::{self, Format};
use crate::cli::page::PageArgs;
use crate::flow::messages::configure_endpoint::ConfigureEndpointError;
use crate::node::each_cell;
use crate::show::merchants::handles::by_handle;
use crate::show::messages::endpoints::{self, answer_in_words, word};

/// The merchants whose endpoints are read for a page of all merchants.
const MERCHANTS: i64 = 100;
/// The failing endpoints that are compared with each other, and the messages that are counted of each.
const COMPARED: i64 = 200;
const COUNTED: i64 = 1_000;

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    merchants: OfMerchants,
    /// Only endpoints that fail, or that have been reported as failing and not as recovered yet. Of all merchants, those with most
    /// messages owed and given up come first.
    #[arg(long)]
    failing: bool,
    #[command(flatten)]
    page: PageArgs,
}

/// An endpoint with its merchant. Lists and single endpoints have this one shape.
#[derive(Serialize)]
pub(super) struct Row {
    /// The merchant's handle.
    merchant: String,
    #[serde(flatten)]
    pub(super) endpoint: EndpointOut,
}

/// The endpoints of a merchant, by interface.
async fn rows_of(app: &App, handle: &str, merchant: MerchantId) -> anyhow::Result<Vec<Row>> {
    let endpoints = endpoints::list(app, merchant).await?;
    Ok(endpoints.into_iter().map(|endpoint| Row { merchant: handle.to_owned(), endpoint }).collect())
}

/// The endpoint of a merchant for an interface.
pub(super) async fn find(app: &App, merchant: &Merchant, interface: Interface) -> anyhow::Result<Row> {
    let found = rows_of(app, &merchant.handle, merchant.id).await?.into_iter().find(|row| row.endpoint.interface == interface.as_str());
    Ok(found.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?)
}

impl Row {
    fn is_failing(&self) -> bool {
        self.endpoint.state == EndpointState::Failing || self.endpoint.failing_since.is_some()
    }

    /// The cells of a list of several merchants.
    fn cells_of_all(&self) -> Vec<String> {
        [vec![self.merchant.clone()], self.cells()].concat()
    }

    fn cells(&self) -> Vec<String> {
        let Self { endpoint, .. } = self;
        let answer = endpoint.last_answer.as_ref();
        vec![
            endpoint.interface.clone(),
            word(endpoint.state).to_owned(),
            answer.map_or_else(|| "-".to_owned(), |answer| answer_in_words(&answer.outcome, answer.reason.as_deref())),
            answer.map_or_else(|| "-".to_owned(), |answer| answer.at.clone()),
            endpoint.owed.to_string(),
            endpoint.failed.to_string(),
            endpoint.authentication.clone(),
            endpoint.url.clone(),
        ]
    }
}

/// The columns of a merchant's endpoints.
const HEADERS: [&str; 8] = ["INTERFACE", "STATE", "LAST ANSWER", "AT", "OWED", "FAILED", "AUTH", "URL"];

/// Lists the endpoints of a merchant.
pub(super) async fn list(app: &App, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
    output::list(format, &rows_of(app, &merchant.handle, merchant.id).await?, &none_yet(merchant), &HEADERS, Row::cells)
}

fn none_yet(merchant: &Merchant) -> String {
    format!("{0} has no endpoints yet; `backhaul endpoint set --merchant {0}` adds one.", merchant.handle)
}

/// Lists the endpoints that are asked for, of one merchant or of all.
pub(super) async fn run(app: &App, asked: &List, format: Format) -> anyhow::Result<()> {
    match &asked.merchants {
        OfMerchants::One(merchant) => {
            let merchant = merchant.find(app).await?;
            let after: Option<Interface> = asked.page.place()?;
            let mut rows = rows_of(app, &merchant.handle, merchant.id).await?;
            rows.retain(|row| after.is_none_or(|after| row.endpoint.interface.as_str() > after.as_str()));
            rows.retain(|row| !asked.failing || row.is_failing());
            let next = asked.page.cut(&mut rows, |last| last.endpoint.interface.clone());
            let empty = if asked.failing { format!("No endpoint of {} fails.", merchant.handle) } else { none_yet(&merchant) };
            output::page(format, &rows, next.as_deref(), &empty, &HEADERS, Row::cells)
        }
        OfMerchants::All if asked.failing => list_failing(app, &asked.page, format).await,
        OfMerchants::All => list_all(app, asked, format).await,
    }
}

/// The columns of the endpoints of several merchants.
const HEADERS_OF_ALL: [&str; 9] = ["MERCHANT", "INTERFACE", "STATE", "LAST ANSWER", "AT", "OWED", "FAILED", "AUTH", "URL"];

/// Lists the endpoints of all merchants, by handle and interface.
async fn list_all(app: &App, asked: &List, format: Format) -> anyhow::Result<()> {
    let (page, mut rows) = (&asked.page, Vec::new());
    let after: Option<(Handle, Option<Interface>)> = page.after(read_place)?;
    let cells = app.of_each_cell();
    if let Some((handle, Some(interface))) = &after {
        let begun = each_cell::each(app, |store| accounts::find(store, handle)).await?;
        if let Some((cell, begun)) = cells.iter().zip(begun).find_map(|(cell, begun)| Some((cell, begun?))) {
            rows = rows_of(cell, &begun.handle, begun.id).await?;
            rows.retain(|row| row.endpoint.interface.as_str() > interface.as_str());
        }
    }
    let begin = after.as_ref().map(|(handle, _)| handle.as_str());
    let of_cells = each_cell::placed(&cells, each_cell::each(app, |store| recent::merchants(store, begin, MERCHANTS)).await?);
    let mut merchants = by_handle(app, of_cells, |(_, account)| &account.handle).await?;
    merchants.truncate(usize::try_from(MERCHANTS)?);
    for (cell, account) in &merchants {
        if rows.len() > page.limit() {
            break;
        }
        rows.extend(rows_of(cell, &account.handle, account.id).await?);
    }
    let next = page.cut(&mut rows, |last| format!("{}/{}", last.merchant, last.endpoint.interface));
    // There may be more merchants than are read at once, and few of them may have endpoints.
    let unread = merchants.last().filter(|_| i64::try_from(merchants.len()).is_ok_and(|read| read == MERCHANTS));
    let next = next.or_else(|| unread.map(|(_, last)| last.handle.clone()));
    output::page(format, &rows, next.as_deref(), "No merchant has endpoints here.", &HEADERS_OF_ALL, Row::cells_of_all)
}

/// Reads the place where a page ended: at an endpoint, or after all endpoints of a merchant.
fn read_place(cursor: &str) -> Option<(Handle, Option<Interface>)> {
    match cursor.split_once('/') {
        Some((handle, interface)) => Some((handle.parse().ok()?, Some(interface.parse().ok()?))),
        None => Some((cursor.parse().ok()?, None)),
    }
}

/// Lists the endpoints of all merchants that have been reported as failing, those with most messages owed and given up first.
async fn list_failing(app: &App, page: &PageArgs, format: Format) -> anyhow::Result<()> {
    // They are compared with each other, so they have one page.
    page.after(|_| None::<Handle>)?;
    let most = page.limit();
    let found = each_cell::each(app, |store| troubles::failing(store, false, COMPARED, COUNTED)).await?;
    let (found, of_cells): (Vec<Vec<FailingEndpoint>>, Vec<bool>) = found.into_iter().unzip();
    let cells = app.of_each_cell();
    let place = |(_, failing): &(&App, FailingEndpoint)| (failing.failing_since, failing.merchant, failing.endpoint);
    let mut failing = each_cell::merge(each_cell::placed(&cells, found), place);
    let compared = usize::try_from(COMPARED)?;
    let more = of_cells.contains(&true) || failing.len() > compared;
    failing.truncate(compared);
    failing.sort_by_key(|(_, failing)| std::cmp::Reverse(failing.waiting + failing.given_up));
    let is_whole = failing.len() <= most && !more;
    let mut rows = Vec::new();
    for (cell, failing) in failing.iter().take(most) {
        // It may have been removed meanwhile.
        let of_merchant = rows_of(cell, &failing.handle, failing.merchant).await?;
        rows.extend(of_merchant.into_iter().find(|row| row.endpoint.interface == failing.interface));
    }
    output::list(format, &rows, "No endpoint has been reported as failing.", &HEADERS_OF_ALL, Row::cells_of_all)?;
    if !is_whole {
        output::note(&format!(
            "More endpoints fail. Of all, the {COMPARED} that have failed longest are compared; --limit shows more of them."
        ));
    }
    Ok(())
}

/// Shows an endpoint: what answers the question why it fails comes first.
pub(super) fn show(row: &Row, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return output::one(format, row);
    }
    let EndpointOut { last_answer, client_certificate, .. } = &row.endpoint;
    let endpoint = &row.endpoint;
    let some = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let certificate = |certificate: &EndpointCertificate| {
        format!("{}, until {}, SHA-256 {}", certificate.subject, certificate.expires_at, certificate.sha256)
    };
    let waits: Vec<String> = endpoint.waits.iter().map(ToString::to_string).collect();
    output::facts(&[
        ("merchant", row.merchant.clone()),
        ("interface", endpoint.interface.clone()),
        ("state", word(endpoint.state).to_owned()),
        ("last_answer", last_answer.as_ref().map_or("-".to_owned(), |last| answer_in_words(&last.outcome, last.reason.as_deref()))),
        ("last_answer_at", some(last_answer.as_ref().map(|last| last.at.as_str()))),
        ("last_success_at", some(endpoint.last_success_at.as_deref())),
        ("failing_since", some(endpoint.failing_since.as_deref())),
        ("next_attempt_at", some(endpoint.next_attempt_at.as_deref())),
        ("owed", endpoint.owed.to_string()),
        ("past_due", endpoint.past_due.to_string()),
        ("failed", endpoint.failed.to_string()),
        ("url", endpoint.url.clone()),
        ("authentication", endpoint.authentication.clone()),
        ("token_url", some(endpoint.token_url.as_deref())),
        ("client_certificate", client_certificate.as_ref().map_or("-".to_owned(), certificate)),
        ("slots", endpoint.slots.to_string()),
        ("per_second", endpoint.per_second.to_string()),
        ("waits", some(Some(waits.join(", ").as_str()).filter(|waits| !waits.is_empty()))),
        ("changed_at", endpoint.changed_at.clone()),
    ]);
    Ok(())
}
