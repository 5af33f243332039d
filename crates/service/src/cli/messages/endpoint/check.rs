//! `backhaul endpoint check`: checks whether a merchant's endpoints are fit to go live.

use anyhow::bail;
use clap::Args;
use domain::messages::endpoint_check::{Finding, State};
use domain::messages::message::Interface;
use serde::Serialize;
use wire::messages::endpoint_check::{happened, key, name, next, seconds, why, word};

use crate::app::App;
use crate::cli::context::{OfMerchant, actor};
use crate::cli::output::{self, Format};
use crate::delivery::endpoint_check::Checked;
use crate::flow::messages::check_endpoints::{CHECK_TIMEOUT, check_endpoints};

#[derive(Args)]
pub(in crate::cli) struct Check {
    #[command(flatten)]
    merchant: OfMerchant,
    /// The only interface to check; without it, every interface that has an endpoint.
    #[arg(long)]
    interface: Option<Interface>,
    /// The variant identifier to query `exchange_variants` for, best one that the merchant's system knows.
    #[arg(long, default_value = "test")]
    variant_identifier: String,
}

#[derive(Serialize)]
struct CheckedOut {
    interface: &'static str,
    url: String,
    took_ms: u128,
    checks: Vec<CheckOut>,
}

#[derive(Serialize)]
struct CheckOut {
    check: &'static str,
    state: &'static str,
    happened: String,
    why: &'static str,
    next: Option<String>,
}

impl CheckedOut {
    fn new(checked: &Checked) -> Self {
        let check = |finding: &Finding| CheckOut {
            check: key(finding.check()),
            state: word(finding.state()),
            happened: happened(finding),
            why: why(finding.check()),
            next: next(finding),
        };
        Self {
            interface: checked.interface.as_str(),
            url: checked.url.clone(),
            took_ms: checked.took.as_millis(),
            checks: checked.findings.iter().map(check).collect(),
        }
    }
}

/// Checks, and prints the report. What failed or could not be checked is an error.
pub(super) async fn run(app: &App, asked: &Check, format: Format) -> anyhow::Result<()> {
    let merchant = asked.merchant.find(app).await?;
    output::note(&format!("Checking the endpoints of {} with test messages, for at most {} s …", merchant.handle, CHECK_TIMEOUT.as_secs()));
    let done = |checked: &Checked| output::note(&format!("  {} after {}: {}", checked.interface, seconds(checked.took), summary(checked)));
    let all = check_endpoints(app, &actor(), merchant.id, asked.interface, &asked.variant_identifier, done).await?;
    match format {
        Format::Json => output::text(&format!("{}\n", serde_json::to_string_pretty(&all.iter().map(CheckedOut::new).collect::<Vec<_>>())?)),
        Format::Table => all.iter().for_each(|checked| output::text(&report(checked))),
    }
    let names = |state| {
        let with = all.iter().filter(|checked| checked.count(state) > 0).map(|checked| checked.interface.as_str());
        with.collect::<Vec<_>>().join(", ")
    };
    match (names(State::Failed), names(State::NotChecked)) {
        (failed, _) if !failed.is_empty() => bail!("not fit to go live: {failed}; the report says what to do"),
        (_, unchecked) if !unchecked.is_empty() => bail!("not everything could be checked: {unchecked}; the report says why"),
        _ => Ok(()),
    }
}

/// The number of checks with each result, such as `8 passed, 1 failed`.
fn summary(checked: &Checked) -> String {
    let states = [State::Passed, State::Failed, State::Warned, State::NotChecked, State::NotApplicable];
    let counted = states.into_iter().map(|state| (checked.count(state), word(state))).filter(|(count, _)| *count > 0);
    counted.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// The report on one endpoint, for people.
fn report(checked: &Checked) -> String {
    let head = format!("\n{}  {}\n", checked.interface, checked.url);
    [head].into_iter().chain(checked.findings.iter().map(paragraph)).collect()
}

/// A finding, with its reason and the next step if it did not pass.
fn paragraph(finding: &Finding) -> String {
    let (state, check) = (finding.state(), finding.check());
    let line = format!("  {:14}  {:23}  {}\n", word(state), name(check), happened(finding));
    match (state, next(finding)) {
        (State::Failed | State::Warned, Some(next)) => {
            let indent = " ".repeat(43);
            format!("{line}{indent}Why it matters: {}\n{indent}What to do: {next}\n", why(check))
        }
        _ => line,
    }
}
