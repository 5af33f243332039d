//! A process with two cells.

use std::sync::Arc;

use backhaul::app::App;
use backhaul::http;
use backhaul::node::Phase;
use backhaul::platform::clock::Clock;
use backhaul::platform::entropy::Entropy;

use super::{Database, World, beginning, serve, settings};

/// The setting of a second cell in the database at `url`.
pub fn second_cell(url: &str) -> (&'static str, String) {
    ("BACKHAUL__CELLS", format!(r#"[{{ name = "b", url = "{url}" }}]"#))
}

impl World {
    /// A process with two cells on databases of their own, as it is seen from each: the API of the second world serves the second cell,
    /// and the console of both is that of the process.
    pub async fn of_two_cells() -> (Self, Self) {
        let (first, second) = (Arc::new(Database::create().await), Arc::new(Database::create().await));
        let process = Self::of_the_process(first, &second.url).await;
        let app = process.app.of_each_cell().pop().unwrap();
        let there = Self {
            base: serve(&app, http::router(&app)).await,
            app,
            database: second,
            admin: process.admin.clone(),
            portal: process.portal.clone(),
            console: process.console.clone(),
            client: process.client.clone(),
            deliverer: tokio::sync::OnceCell::new(),
        };
        (process, there)
    }

    /// A process whose second cell does not answer.
    pub async fn with_a_silent_cell() -> Self {
        let first = Arc::new(Database::create().await);
        let nowhere = first.url.replace(first.name(), "nowhere");
        Self::of_the_process(first, &nowhere).await
    }

    async fn of_the_process(first: Arc<Database>, second: &str) -> Self {
        let (name, cells) = second_cell(second);
        let settings = settings(&first, &[(name, &cells)]);
        let app = App::new(settings, Clock::fixed(beginning()), Entropy::seeded(1)).unwrap();
        let base = serve(&app, http::router(&app)).await;
        let admin = serve(&app, http::admin_router(&app, None)).await;
        let portal = serve(&app, http::portal_listener_router(&app)).await;
        let console = serve(&app, http::console_router(&app, backhaul::cli::operator_api())).await;
        app.enter(Phase::Serving);
        let (client, deliverer) = (reqwest::Client::new(), tokio::sync::OnceCell::new());
        Self { app, database: first, base, admin, portal, console, client, deliverer }
    }
}
