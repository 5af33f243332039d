//! `backhaul doctor`: checks the installation, and says how to fix what is wrong.

use std::process::ExitCode;

use clap::Args;

use crate::app::App;
#[cfg(feature = "simulators")]
use crate::cli::dev::machine::machine;
use crate::cli::output::{self, Format};
use crate::node::health::{self, Check};
use crate::node::{Node, certificate, database, disk, places, proxies};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;
use crate::platform::entropy::Entropy;

#[derive(Args)]
pub(in crate::cli) struct Doctor {
    #[cfg(feature = "simulators")]
    /// Check only that this machine can run `backhaul dev`: PostgreSQL's programs and a writable temporary directory.
    #[arg(long)]
    dev: bool,
}

pub(in crate::cli) async fn run(doctor: Doctor, settings: anyhow::Result<Settings>, format: Format) -> anyhow::Result<ExitCode> {
    #[cfg(feature = "simulators")]
    let of_machine = doctor.dev.then(machine);
    #[cfg(not(feature = "simulators"))]
    let of_machine = {
        let Doctor {} = doctor;
        None
    };
    let checks = match of_machine {
        Some(checks) => checks,
        None => installation(settings).await,
    };
    output::list(format, &checks, "", &["OK", "CHECK", "FOUND", "WHAT TO DO"], |check| {
        let sign = if check.ok { "yes" } else { "no" };
        let name = check.cell.as_ref().map_or_else(|| check.name.to_owned(), |cell| format!("{} of {cell}", check.name));
        vec![sign.to_owned(), name, check.found.clone(), check.mend.clone().unwrap_or_default()]
    })?;
    Ok(if checks.iter().all(|check| check.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The check of the database, which says which one it is.
fn naming(check: Check, named: &str) -> Check {
    let found = if check.ok { named.to_owned() } else { format!("{} ({named})", check.found) };
    Check { found, ..check }
}

/// The checks of one cell.
async fn examine_cell(node: &Node) -> Vec<Check> {
    let examined = health::examine(node).await;
    let named = database::named(node).await;
    // On a cluster, the node that holds the cell is known by now.
    let mut checks = vec![database::protection(&node.settings, node.place())];
    checks.extend(examined.into_iter().map(|check| if check.name == "database" { naming(check, &named) } else { check }));
    checks.extend(database::examine(node).await);
    checks
}

async fn installation(settings: anyhow::Result<Settings>) -> Vec<Check> {
    let app = settings.and_then(|settings| Ok(App::new(settings, Clock::system(), Entropy::system())?));
    match app {
        Ok(app) => {
            let mut checks = vec![Check::good("settings", "valid")];
            for node in app.of_each_cell() {
                let of_cell = examine_cell(&node).await;
                checks.extend(of_cell.into_iter().map(|check| check.of(node.place())));
            }
            checks.extend(places::examine(&app).await);
            checks.extend(proxies::examine(&app).await);
            checks.extend(certificate::examine(&app.settings, app.clock.wall()));
            checks.extend(certificate::examine_hosts(&app).await);
            checks.extend(certificate::examine_bound(&app).await);
            checks.extend(database::plain_http(&app.settings));
            for node in app.of_each_cell() {
                checks.extend(disk::examine(&node).await.map(|check| check.of(node.place())));
            }
            checks
        }
        Err(error) => {
            vec![Check::bad("settings", output::told(&error), "correct the setting; `backhaul config default` explains all of them")]
        }
    }
}
