//! The merchant that a command acts for, and the person who runs it.

use std::fmt;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use domain::id::Handle;
use domain::merchants::operator::Operator;
use domain::messages::message::Interface;
use store::merchants::accounts::{self, Merchant};
use store::merchants::operators;

use super::session;
use crate::app::App;
use crate::flow::merchants::operators::people::Authority;

/// The merchant that a command acts for.
#[derive(Args)]
pub(super) struct OfMerchant {
    /// The merchant's handle, as in `backhaul merchant list`.
    #[arg(id = "merchant", long = "merchant", value_name = "HANDLE", env = "BACKHAUL_MERCHANT", hide_env_values = true)]
    pub(super) handle: Handle,
}

impl OfMerchant {
    pub(super) async fn find(&self, app: &App) -> anyhow::Result<Merchant> {
        find_merchant(app, &self.handle).await
    }
}

/// The merchant whose things a command lists, or all of them.
///
/// The environment may name a merchant, as for every command. `--all-merchants` is typed, so it wins; only a `--merchant` that is typed
/// too contradicts it. Clap does not tell the two apart, so this is read by hand.
pub(super) enum OfMerchants {
    One(OfMerchant),
    All,
}

/// The name of the flag for all merchants.
pub(super) const ALL_MERCHANTS: &str = "all_merchants";

impl clap::Args for OfMerchants {
    fn augment_args(command: clap::Command) -> clap::Command {
        let all = Arg::new(ALL_MERCHANTS).long("all-merchants").action(ArgAction::SetTrue);
        OfMerchant::augment_args(command)
            .mut_arg("merchant", |merchant| merchant.required(false).required_unless_present(ALL_MERCHANTS))
            .arg(all.help("Of all merchants; also if the environment names one"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OfMerchants {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if !matches.get_flag(ALL_MERCHANTS) {
            return OfMerchant::from_arg_matches(matches).map(Self::One);
        }
        if matches.value_source("merchant") == Some(ValueSource::CommandLine) {
            let why = "the argument '--all-merchants' cannot be used with '--merchant <HANDLE>'\n";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, why));
        }
        Ok(Self::All)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The endpoint that a command acts on.
#[derive(Args)]
pub(super) struct OfEndpoint {
    #[command(flatten)]
    pub(super) merchant: OfMerchant,
    /// The endpoint's interface: `rma`, `exchange_order`, `exchange_variants`, `outbound_asn`, `inventory_receipt`,
    /// `drop_shipment_confirmation`, `drop_shipment_cancellation` or `drop_shipment_partial_cancellation`.
    pub(super) interface: Interface,
}

impl fmt::Display for OfMerchant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

/// The merchant with this handle.
pub(super) async fn find_merchant(app: &App, handle: &Handle) -> anyhow::Result<Merchant> {
    let found = accounts::find(app.cell(), handle).await?;
    found.with_context(|| format!("there is no merchant `{handle}`; run `backhaul merchant list` to see all merchants"))
}

/// The answer to whoever runs a command elsewhere that takes minutes, or a server that the service does not know.
pub(super) const AT_A_TERMINAL: &str = "this is done at a terminal of the installation, where it says how far it is";

/// The app of the cell of the merchant that a command names; the app itself if it names none.
pub(super) async fn of_named_merchant(app: App, named: Option<Handle>) -> anyhow::Result<App> {
    match named {
        Some(handle) if app.has_several_cells() => Ok(app.of_handle(&handle).await?),
        _ => Ok(app),
    }
}

/// The merchant that a command line names. The environment may name one for a list of all merchants, which goes by none.
pub(super) fn named_merchant(mut matches: &ArgMatches) -> Option<Handle> {
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    if matches!(matches.try_get_one(ALL_MERCHANTS), Ok(Some(true))) {
        return None;
    }
    ["merchant", "handle"].into_iter().find_map(|name| matches.try_get_one::<Handle>(name).ok().flatten().cloned())
}

/// The operator in whose name this command runs.
static AS_OPERATOR: OnceLock<Operator> = OnceLock::new();

/// Runs the rest of this command in the name of the operator with this e-mail address, who must exist and be enabled.
pub(super) async fn act_as(app: &App, email: &str) -> anyhow::Result<()> {
    let email = email.trim().to_lowercase();
    let account = operators::find(app.home(), &email).await?;
    let account = account.with_context(|| format!("there is no operator {email}; run `backhaul operator list` to see all operators"))?;
    if account.disabled_at.is_some() {
        bail!("the operator {email} is disabled; `backhaul operator enable {email}` enables them again");
    }
    let _ = AS_OPERATOR.set(account.operator);
    Ok(())
}

/// The caller of this command, for the audit log.
pub(super) fn actor() -> String {
    session::remote().map_or_else(user, |remote| remote.actor.clone())
}

/// The authority of the caller over other people: at a terminal they can do everything anyway, elsewhere it takes two of them.
pub(super) fn authority() -> Authority {
    if session::remote().is_some() { Authority::Admin } else { Authority::Full }
}

/// The operator in whose name the command runs, for what only a person can do.
pub(super) fn operator() -> anyhow::Result<Operator> {
    let operator = session::remote().map(|remote| remote.operator.clone()).or_else(|| AS_OPERATOR.get().cloned());
    operator.context("this is done by a person; say by whom with --as EMAIL")
}

/// The user of this command line.
#[expect(clippy::disallowed_methods, reason = "the user's name is not a setting")]
fn user() -> String {
    let user = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "unknown".to_owned());
    match AS_OPERATOR.get() {
        Some(operator) => format!("{} via cli:{user}", operator.actor()),
        None => format!("cli:{user}"),
    }
}
