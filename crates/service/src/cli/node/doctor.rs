//! `backhaul doctor`: checks the installation, and says how to fix what is wrong.

use std::process::ExitCode;

use clap::Args;

use crate::app::App;
#[cfg(feature = "simulators")]
use crate::cli::dev::machine::machine;
use crate::cli::output::{self, Format};
use crate::node::health::{self, Check};
use crate::node::{certificate, database, proxies};
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
        vec![sign.to_owned(), check.name.to_owned(), check.found.clone(), check.mend.clone().unwrap_or_default()]
    })?;
    Ok(if checks.iter().all(|check| check.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn installation(settings: anyhow::Result<Settings>) -> Vec<Check> {
    let app = settings.and_then(|settings| Ok(App::new(settings, Clock::system(), Entropy::system())?));
    match app {
        Ok(app) => {
            let mut checks = vec![Check::good("settings", "valid")];
            checks.push(database::protection(&app.settings));
            checks.extend(health::examine(&app).await);
            checks.extend(database::examine(&app).await);
            checks.extend(proxies::examine(&app).await);
            checks.extend(certificate::examine(&app.settings, app.clock.wall()));
            checks.extend(certificate::examine_hosts(&app).await);
            checks.extend(certificate::examine_bound(&app).await);
            checks
        }
        Err(error) => {
            vec![Check::bad("settings", output::told(&error), "correct the setting; `backhaul config default` explains all of them")]
        }
    }
}
