//! The operator sets up a merchant's portal: what it shows, and the host names that lead to it. Every change is audited in its own
//! transaction.

use std::collections::BTreeSet;

use chrono_tz::Tz;
use domain::id::MerchantId;
use domain::returns::withdrawal::exemption::Exemption;
use store::merchants::accounts;
use store::merchants::audit::{self, Change, Entry};
use store::merchants::portals::{self, PortalSettings};
use store::{Failed, Tx};
use wire::merchants::audit::Changes;

use crate::app::App;
use crate::delivery::transports::mail;
use crate::platform::host_name::HostName;

/// The most characters of a shop's name, and of the prefix of order numbers.
const LONGEST_NAME: usize = 100;
const LONGEST_PREFIX: usize = 20;

/// Changes to a merchant's portal. Absent fields stay as they are; an empty text restores the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortalChange {
    /// The shop's name; by default the merchant's.
    pub shop_name: Option<String>,
    /// The address that shoppers can turn to.
    pub help_email: Option<String>,
    /// The time zone in which shoppers read times.
    pub time_zone: Option<Tz>,
    /// The start of order numbers, which shoppers may leave out.
    pub number_prefix: Option<String>,
    /// Days from shipping to delivery, where nobody reports the delivery.
    pub transit_days: Option<u8>,
    /// Goods to exempt from withdrawal.
    pub exempt: Vec<Exemption>,
    /// Goods from whose contract shoppers can withdraw again.
    pub included: Vec<Exemption>,
    /// Host names to add.
    pub hosts: BTreeSet<HostName>,
}

/// The reasons a portal cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurePortalError {
    #[error("no change was given; `backhaul portal set --help` lists the options")]
    Nothing,
    #[error("a shop's name must have at most {} characters, and no control characters", LONGEST_NAME)]
    ShopName,
    #[error("`{0}` is not an e-mail address, such as help@example.com")]
    HelpEmail(String),
    #[error("the prefix of order numbers must have at most {} characters, and no spaces", LONGEST_PREFIX)]
    NumberPrefix,
    /// The other merchant is not named: whoever may change one need not know of the other.
    #[error("the host name {0} leads to another merchant's portal already; remove it there first, or choose another name")]
    HostTaken(HostName),
    #[error("the merchant has no host name {0}; `backhaul portal show --merchant HANDLE` lists its host names")]
    NoSuchHost(HostName),
    #[error(transparent)]
    Failed(#[from] Failed),
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}

/// Changes the merchant's portal. Every node follows within 5 seconds.
pub async fn set_portal(app: &App, actor: &str, merchant: MerchantId, change: PortalChange) -> Result<(), ConfigurePortalError> {
    if change == PortalChange::default() {
        return Err(ConfigurePortalError::Nothing);
    }
    check(&change)?;
    for host in &change.hosts {
        if is_taken_elsewhere(app, host).await? {
            return Err(ConfigurePortalError::HostTaken(host.clone()));
        }
    }
    let detail = describe(&change);
    let mut tx = app.begin(merchant).await?;
    // The settings may not exist yet, so lock the merchant instead.
    accounts::lock(&mut tx).await?;
    for host in &change.hosts {
        if !portals::insert_host(&mut tx, host.as_str()).await? {
            return Err(ConfigurePortalError::HostTaken(host.clone()));
        }
    }
    let before = portals::get(&mut tx).await?;
    let settings = apply(before.clone(), change);
    portals::save(&mut tx, &settings, app.now()).await?;
    let changes = differing(app, &before, &settings);
    let entry = Entry { id: app.mint(), actor, action: "portal.changed", detail: &detail, done_at: app.now() };
    audit::record(&mut tx, entry.with(Change { before: changes.before(), after: changes.after() })).await?;
    Ok(app.commit(tx).await?)
}

/// Removes a host name of the merchant's portal.
pub async fn remove_host(app: &App, actor: &str, merchant: MerchantId, host: HostName) -> Result<(), ConfigurePortalError> {
    let mut tx = app.begin(merchant).await?;
    if !portals::remove_host(&mut tx, host.as_str()).await? {
        return Err(ConfigurePortalError::NoSuchHost(host));
    }
    record(app, &mut tx, actor, "portal.host_removed", host.as_str()).await?;
    Ok(app.commit(tx).await?)
}

/// True if a merchant in another cell has the host name. Each cell keeps only those of its own merchants apart.
async fn is_taken_elsewhere(app: &App, host: &HostName) -> Result<bool, Failed> {
    for other in app.cells().iter().filter(|cell| cell.name() != app.place().name()) {
        if portals::find_handle(&other.store, host.as_str()).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check(change: &PortalChange) -> Result<(), ConfigurePortalError> {
    let PortalChange { shop_name, help_email, number_prefix, .. } = change;
    let is_long = |text: &str, most: usize| text.chars().count() > most;
    if shop_name.as_deref().is_some_and(|name| is_long(name, LONGEST_NAME) || name.contains(char::is_control)) {
        return Err(ConfigurePortalError::ShopName);
    }
    if let Some(email) = help_email.as_deref().filter(|email| !email.is_empty() && !mail::is_address(email)) {
        return Err(ConfigurePortalError::HelpEmail(email.to_owned()));
    }
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    if number_prefix.as_deref().is_some_and(|prefix| is_long(prefix, LONGEST_PREFIX) || prefix.contains(is_blank)) {
        return Err(ConfigurePortalError::NumberPrefix);
    }
    Ok(())
}

fn apply(settings: PortalSettings, change: PortalChange) -> PortalSettings {
    let text = |old: Option<String>, new: Option<String>| new.or(old).filter(|text| !text.is_empty());
    PortalSettings {
        shop_name: text(settings.shop_name, change.shop_name),
        help_email: text(settings.help_email, change.help_email),
        time_zone: change.time_zone.map(|zone| zone.name().to_owned()).or(settings.time_zone),
        number_prefix: text(settings.number_prefix, change.number_prefix),
        transit_days: change.transit_days.map(i16::from).or(settings.transit_days),
        exemptions: exempt(settings.exemptions, &change.exempt, &change.included),
    }
}

/// The exemptions after a change. Of two for the same goods the new one holds.
fn exempt(old: Vec<String>, new: &[Exemption], included: &[Exemption]) -> Vec<String> {
    let goods = |text: &str| text.split_once('=').map(|(_, tag)| tag.to_owned());
    let changed: Vec<String> = new.iter().chain(included).map(ToString::to_string).collect();
    let kept = old.into_iter().filter(|old| !changed.iter().any(|changed| goods(changed) == goods(old)));
    kept.chain(new.iter().map(ToString::to_string)).collect()
}

/// The fields in which two settings differ, for the audit log.
fn differing(app: &App, before: &PortalSettings, after: &PortalSettings) -> Changes {
    let print = |settings: &PortalSettings| settings.help_email.as_deref().map(|address| app.fingerprints.audited(address));
    Changes::default()
        .field("shop_name", before.shop_name.clone(), after.shop_name.clone())
        .field("help_email", print(before), print(after))
        .field("time_zone", before.time_zone.clone(), after.time_zone.clone())
        .field("number_prefix", before.number_prefix.clone(), after.number_prefix.clone())
        .field("transit_days", before.transit_days, after.transit_days)
        .field("exemptions", before.exemptions.clone(), after.exemptions.clone())
}

/// The changes as text, for the audit log.
fn describe(change: &PortalChange) -> String {
    let text = |name: &str, value: Option<&str>| {
        value.map(|value| if value.is_empty() { format!("no {name}") } else { format!("{name}: {value}") })
    };
    let settings = [
        text("shop_name", change.shop_name.as_deref()),
        // The address may be a person's.
        change.help_email.as_deref().map(|address| if address.is_empty() { "no help_email" } else { "help_email changed" }.to_owned()),
        text("time_zone", change.time_zone.map(Tz::name)),
        text("number_prefix", change.number_prefix.as_deref()),
        change.transit_days.map(|days| format!("transit_days: {days}")),
    ];
    let exempt = change.exempt.iter().map(|exemption| format!("exempt {exemption}"));
    let included = change.included.iter().map(|exemption| format!("not exempt {exemption}"));
    let hosts = change.hosts.iter().map(|host| format!("host {host}"));
    settings.into_iter().flatten().chain(exempt).chain(included).chain(hosts).collect::<Vec<_>>().join("; ")
}
