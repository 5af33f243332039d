//! A part of a merchant's failure queue that is worked on at once: an interface, and of it what failed since a time or for a reason.

use chrono::{DateTime, Utc};
use clap::Args;
use domain::messages::message::Kind;
use store::merchants::accounts::Merchant;
use store::messages::failure_selection::Selection;
use store::messages::failures::{self, Group, Of};

use super::listing::{count, groups_table, show_groups};
use crate::app::App;
use crate::cli::moment::moment;
use crate::cli::output::{self, Format};
use crate::cli::session;

/// The options that name a part.
#[derive(Args)]
pub(in crate::cli) struct Part {
    /// Everything of this interface, also what its removed endpoints left behind; `mail` and `operator_hook` are internal work.
    #[arg(long, value_name = "INTERFACE")]
    pub(super) endpoint: Option<Kind>,
    /// Only messages that failed at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment, requires = "endpoint")]
    pub(super) since: Option<DateTime<Utc>>,
    /// Only messages that failed for this reason, as `backhaul failures list` shows it, such as 503.
    #[arg(long, requires = "endpoint")]
    pub(super) reason: Option<String>,
}

/// The entries of a part, as they were when it was looked at.
pub(super) struct Covered {
    groups: Vec<Group>,
    since: Option<DateTime<Utc>>,
    until: DateTime<Utc>,
}

impl Part {
    /// Looks at the entries of `kind` that this part covers.
    pub(super) async fn covered(&self, app: &App, merchant: &Merchant, kind: Kind) -> anyhow::Result<Covered> {
        let until = app.now();
        let mut groups = failures::groups(app.store(merchant.id), merchant.id, Of::Interface(kind), self.since).await?;
        groups.retain(|group| self.reason.as_ref().is_none_or(|reason| *reason == group.reason));
        Ok(Covered { groups, since: self.since, until })
    }
}

impl Covered {
    /// The number of entries, at most 10,000 of each endpoint.
    pub(super) fn count(&self) -> i64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// The number of entries in words.
    pub(super) fn told(&self) -> String {
        match self.count() {
            1 => "1 message".to_owned(),
            many => format!("{} messages", count(many)),
        }
    }

    /// The selection of each group. What fails later is left alone.
    pub(super) fn selections(&self) -> impl Iterator<Item = Selection> {
        self.groups.iter().map(|group| Selection::Group {
            endpoint: group.endpoint,
            reason: group.reason.clone(),
            since: self.since,
            until: self.until,
        })
    }

    /// Shows the groups to whoever confirms. A caller of the API reads them as the result.
    pub(super) fn preview(&self, merchant: &Merchant, format: Format) -> anyhow::Result<()> {
        if session::remote().is_some() {
            show_groups(merchant, &self.groups, format)
        } else {
            output::note(groups_table(merchant, &self.groups).trim_end());
            Ok(())
        }
    }
}

/// The sentence for a part that covers nothing.
pub(super) const NOTHING: &str = "The failure queue has no messages for this interface.";
