//! `backhaul doctor`: checks the installation, and says how to fix what is wrong.

use std::process::ExitCode;

use clap::Args;

use crate::app::App;
#[cfg(feature = "simulators")]
use crate::cli::dev::machine::machine;
use crate::cli::output::{self, Format};
use crate::node::health::{self, Check};
use crate::node::{certificate, database};
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

impl Doctor {
    /// The checks of this machine, if it is asked for them alone.
    #[cfg(feature = "simulators")]
    fn machine(&self) -> Option<Vec<Check>> {
        self.dev.then(machine)
    }

    #[cfg(not(feature = "simulators"))]
    const fn machine(&self) -> Option<Vec<Check>> {
        None
    }
}

pub(in crate::cli) async fn run(doctor: Doctor, settings: anyhow::Result<Settings>, format: Format) -> anyhow::Result<ExitCode> {
    let checks = match doctor.machine() {
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
            checks.extend(certificate::examine(&app.settings, app.clock.wall()));
            checks.extend(certificate::examine_hosts(&app).await);
            checks
        }
        Err(error) => {
            vec![Check::bad("settings", format!("{error:#}"), "correct the setting; `backhaul config default` explains all of them")]
        }
    }
}
