//! `backhaul doctor`: what is wrong, and how to mend it.

use std::process::ExitCode;

use super::output::{self, Format};
use crate::app::App;
use crate::certificate;
use crate::clock::Clock;
use crate::config::Settings;
use crate::entropy::Entropy;
use crate::health::{self, Check};

pub(super) async fn run(settings: anyhow::Result<Settings>, format: Format) -> anyhow::Result<ExitCode> {
    let app = settings.and_then(|settings| Ok(App::new(settings, Clock::system(), Entropy::system())?));
    let checks = match app {
        Ok(app) => {
            let mut checks = vec![Check::good("settings", "right")];
            checks.extend(health::examine(&app).await);
            checks.extend(certificate::examine(&app.settings, app.clock.wall()));
            checks
        }
        Err(error) => vec![Check::bad("settings", format!("{error:#}"), "`backhaul config default` explains every setting")],
    };
    output::list(format, &checks, "", &["OK", "CHECK", "FOUND", "WHAT TO DO"], |check| {
        let sign = if check.ok { "yes" } else { "no" };
        vec![sign.to_owned(), check.name.to_owned(), check.found.clone(), check.mend.clone().unwrap_or_default()]
    })?;
    Ok(if checks.iter().all(|check| check.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
