//! `backhaul dev`: everything on a laptop, nothing configured.

use std::path::PathBuf;

use clap::Args;
use domain::access::Scopes;
use domain::id::Handle;
use domain::mode::Mode;
use sandbox::postgres::Cluster;
use secrecy::ExposeSecret as _;
use store::installation;
use tokio::sync::watch;

use super::{output, serve};
use crate::app::App;
use crate::clock::Clock;
use crate::config::{LogFormat, Settings};
use crate::entropy::Entropy;
use crate::flow::configure_merchant as flow;
use crate::telemetry;

#[derive(Args)]
pub(super) struct Dev {
    /// The port of the service on this machine; 0 takes a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
}

pub(super) async fn run(dev: Dev, settings: Settings) -> anyhow::Result<()> {
    let dir: PathBuf = std::env::temp_dir().join(format!("backhaul-dev-{}", std::process::id()));
    output::line("Starting a temporary PostgreSQL …");
    let cluster = Cluster::start(&dir)?;
    let served = serve_on(&cluster, dev, settings).await;
    cluster.stop()?;
    served
}

async fn serve_on(cluster: &Cluster, dev: Dev, mut settings: Settings) -> anyhow::Result<()> {
    let url = cluster.url("postgres");
    settings.mode = Mode::Sandbox;
    settings.database.set_url(&url);
    settings.http.listen = format!("127.0.0.1:{}", dev.port);
    "127.0.0.1:0".clone_into(&mut settings.http.admin_listen);
    settings.tls.turn_off();
    settings.log.format = LogFormat::Text;
    telemetry::start(&settings.log);
    installation::migrate(&url, Mode::Sandbox, Clock::system().now()).await?;

    let app = App::new(settings, Clock::system(), Entropy::system())?;
    let handle: Handle = "demo".parse()?;
    let merchant = flow::add_merchant(&app, "dev", &handle, "Demo Shoes", None).await?;
    let credential = flow::issue_credential(&app, "dev", merchant, Scopes::all(), "backhaul dev").await?;

    let (leave, leaving) = watch::channel(false);
    tokio::spawn(serve::on_signal(app.clone(), leave));
    serve::serve(app, &serve::Serve::default(), leaving, |address| {
        output::text(&welcome(&format!("http://{address}"), &url, &credential.client_id, credential.client_secret.expose_secret()));
    })
    .await
}

/// What to do next, ready to paste.
fn welcome(base: &str, database: &str, client_id: &str, client_secret: &str) -> String {
    format!(
        r#"
Backhaul is running as a sandbox on {base} with the merchant `demo`. Ctrl-C ends it and removes its data.

Paste this into another terminal to get a token, push an order and look at it:

TOKEN=$(curl -s {base}/oauth/token -d grant_type=client_credentials \
  -d client_id={client_id} -d client_secret={client_secret} | sed -E 's/.*"access_token":"([^"]+)".*/\1/')

curl -s {base}/returns_portal_orders -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Api-Version: 3' -d '
{{"returns_portal_order": {{"orders": [{{
  "identifier": "1001", "status": "Shipped", "total_amount_cents": 5400, "currency": "USD",
  "product_amount_cents": 5000, "tax_amount_cents": 400,
  "created_at": "2026-01-05T10:00:00Z", "updated_at": "2026-01-06T09:30:00Z",
  "customer": {{"email": "pat@example.com"}},
  "items": [{{"identifier": "1001-1", "sku": "SHOE-42", "title": "Running shoe", "quantity": 1, "quantity_shipped": 1,
    "unit_price_amount_cents": 5000, "product_amount_cents": 5000, "tax_amount_cents": 400}}],
  "transactions": [], "refunds": [], "discounts": []}}]}}}}'

curl -s {base}/v1/orders/1001 -H "Authorization: Bearer $TOKEN"

The operator's commands work on it as well:

export DATABASE_URL='{database}' BACKHAUL__MODE=sandbox
backhaul merchant list

"#
    )
}
