//! The commands to try next, ready to paste.

use std::net::SocketAddr;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use secrecy::{ExposeSecret as _, SecretString};

use super::database::Database;
use super::paint::Paint;
use super::seed::Demo;

/// The seeded orders among which one is chosen to try the portal with.
const SHOWN: usize = 10;

/// The network of the simulated systems.
pub(super) const LOOPBACK: &str = "127.0.0.1/32";

/// The addresses of what runs.
pub(super) struct Addresses {
    pub(super) service: SocketAddr,
    pub(super) console: SocketAddr,
    pub(super) mailbox: SocketAddr,
    /// The link for the console's first administrator; none if there is one already.
    pub(super) first_link: Option<SecretString>,
}

/// The welcome text: the addresses, blocks of commands with a comment each, to paste into another terminal one by one or all at once,
/// and last, where they are still on the screen, the credentials. Unless messages are shown from now on, it says how to see them.
pub(super) fn welcome(
    addresses: &Addresses,
    database: &Database,
    demos: &(Demo, Demo),
    now: DateTime<Utc>,
    paint: Paint,
    shows_messages: bool,
) -> String {
    let base = &format!("http://{}", addresses.service);
    let (shoes, outdoor) = demos;
    let credential = |demo: &Demo| {
        let (name, id, secret) = (demo.shop.name, &demo.credential.client_id, demo.credential.client_secret.expose_secret());
        format!("  {}  client_id {id}  client_secret {secret}", paint.bold(&format!("{name:12}")))
    };
    let part = |(sentence, commands): (&str, String)| format!("{}\n{commands}\n", paint.dim(&format!("# {sentence}")));
    let end = match database {
        Database::Temporary(..) => "Ctrl-C stops the sandbox and removes its data.",
        Database::Given(_) => "Ctrl-C stops the sandbox. Its data stays in the database; `backhaul dev --reset` starts from scratch.",
    };
    let head = format!("\n{} {}\n", paint.bold("Backhaul is running on"), paint.good(base));
    let mails = place("Mailbox", &format!("http://{}", addresses.mailbox), "All mails that are sent", paint);
    let docs = place("Docs", &format!("{base}/docs"), "Guides, and every call, message and error", paint);
    let paste = "\nPaste this into another terminal, step by step or all at once:\n".to_owned();
    let quiet =
        if shows_messages { "" } else { "Messages go on arriving. `backhaul dev --verbose` shows each of them here, with the log.\n" };
    let before = [head, portal(base, shoes, now, paint), console(addresses, paint), mails, docs, paste].into_iter();
    let commands = parts(base, database, shoes, now).into_iter().map(part);
    let after = [own_server(shoes, paint), credential(shoes), credential(outdoor), format!("\n{quiet}{}\n", paint.bold(end))];
    before.chain(commands).chain(after).collect::<Vec<_>>().join("\n")
}

/// A page to open, and what it is for.
fn place(name: &str, address: &str, purpose: &str, paint: Paint) -> String {
    format!("  {}  {}\n  {purpose}\n", paint.bold(&format!("{name:12}")), paint.good(address))
}

/// Where the operator's people work.
fn console(addresses: &Addresses, paint: Paint) -> String {
    let purpose = match &addresses.first_link {
        Some(link) => format!("Whoever opens this link within 72 hours becomes its first administrator:\n  {}", link.expose_secret()),
        None => "Sign in as before".to_owned(),
    };
    place("Console", &format!("http://{}", addresses.console), &purpose, paint)
}

/// The commands that send a merchant's messages to the developer's own server. They are not among those to paste, because they take a
/// server.
fn own_server(demo: &Demo, paint: Paint) -> String {
    let sentence =
        "# With a server of your own, here on port 9000 of this machine: send it the messages about returns, and a first one to try.";
    format!(
        "{}\nbackhaul endpoint set rma --merchant {merchant} --url http://127.0.0.1:9000/rmas\nbackhaul endpoint test rma --merchant {merchant}\n",
        paint.dim(sentence),
        merchant = demo.handle
    )
}

/// Where to return something as a shopper, and with which order.
fn portal(base: &str, demo: &Demo, now: DateTime<Utc>, paint: Paint) -> String {
    let orders = demo.shop.orders(SHOWN, now);
    let text =
        |order: &serde_json::Value, field: &str| order.pointer(field).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    let shipped = orders.iter().find(|order| text(order, "/status") == "Shipped");
    let (number, email) = shipped.map(|order| (text(order, "/identifier"), text(order, "/customer/email"))).unwrap_or_default();
    let purpose = format!("Return something as a shopper: order number {number}, e-mail {email}");
    place("Portal", &format!("{base}/r/{}", demo.handle), &purpose, paint)
}

fn parts(base: &str, database: &Database, demo: &Demo, now: DateTime<Utc>) -> Vec<(&'static str, String)> {
    const AUTHORIZED: &str = r#"-H "Authorization: Bearer $TOKEN""#;
    const JSON: &str = "-H 'Content-Type: application/json'";
    let (id, secret) = (&demo.credential.client_id, demo.credential.client_secret.expose_secret());
    let order = format!("MY-{}", now.timestamp());
    let carrier = demo.carrier.url();
    vec![
        (
            "Get a token. It is valid for 25 hours.",
            format!(
                r#"BASE={base}
TOKEN=$(curl -sS "$BASE/oauth/token" -d grant_type=client_credentials \
  -d client_id={id} -d client_secret={secret} | sed -E 's/.*"access_token":"([^"]+)".*/\1/')"#
            ),
        ),
        (
            "Push an order.",
            format!(r#"curl -sSw '\n' "$BASE/returns_portal_orders" {AUTHORIZED} {JSON} -H 'Api-Version: 3' -d '{}'"#, sample(&order, now)),
        ),
        (
            "See which units can be returned, until when, and how.",
            format!(r#"curl -sSw '\n' "$BASE/v1/orders/{order}/returnable" {AUTHORIZED}"#),
        ),
        (
            "Start a return.",
            format!(
                r#"RMA=$(curl -sS "$BASE/v1/returns" {AUTHORIZED} {JSON} -d '
{{"order_identifier": "{order}", "return_method": "mail-back", "items": [
  {{"order_line_item_identifier": "{order}-1", "quantity": 1, "return_reason": "TOO_SMALL"}}]}}' \
  | sed -E 's/.*"rma_identifier":"([^"]+)".*/\1/')
echo "$RMA""#
            ),
        ),
        (
            "Download its label as a PDF, as soon as the label is bought.",
            format!(r#"curl -fsS --retry 10 --retry-delay 1 --retry-all-errors "$BASE/v1/returns/$RMA/label" {AUTHORIZED} -o label.pdf"#),
        ),
        (
            "Let the carrier scan the parcel.",
            format!(
                r#"TRACKING=$(curl -sS "$BASE/v1/returns/$RMA" {AUTHORIZED} | sed -E 's/.*"tracking_number":"([^"]+)".*/\1/')
curl -sSw '\n' {carrier}/sim/scan -d "{{\"tracking_code\": \"$TRACKING\", \"status\": \"in_transit\"}}""#
            ),
        ),
        (
            "Ask the merchant's system what the other pair can be exchanged for.",
            format!(r#"curl -sSw '\n' "$BASE/v1/orders/{order}/lines/{order}-1/exchange_options?reason=TOO_SMALL" {AUTHORIZED}"#),
        ),
        (
            "Exchange it: the merchant is asked to place an exchange order.",
            format!(
                r#"curl -sSw '\n' "$BASE/v1/returns" {AUTHORIZED} {JSON} -d '
{{"order_identifier": "{order}", "return_method": "mail-back", "items": [
  {{"order_line_item_identifier": "{order}-1", "return_reason": "TOO_SMALL", "exchange_sku": "RUN-43"}}]}}'"#
            ),
        ),
        (
            "List the messages about the return, then the feed of all messages (live: /v1/events/stream).",
            format!(
                r#"curl -sSw '\n' "$BASE/v1/messages?subject=$RMA" {AUTHORIZED}
curl -sSw '\n' "$BASE/v1/events?limit=10" {AUTHORIZED}"#
            ),
        ),
        (
            "Try the operator's commands.",
            format!(
                r"{}
backhaul merchant list
backhaul policy show --merchant demo-outdoor
backhaul returns list --merchant demo-shoes
backhaul messages list --merchant demo-shoes
backhaul doctor",
                environment(database)
            ),
        ),
        (
            "Jump three weeks ahead: shoppers who have not sent their parcel are reminded by mail. (Tokens expire, too; get a new one.)",
            "backhaul clock advance 21d".to_owned(),
        ),
    ]
}

/// The environment for the operator's commands: the database, and the PATH if the program is not on it.
fn environment(database: &Database) -> String {
    let mut lines = Vec::new();
    let program = std::env::current_exe().ok();
    let dir = program.as_deref().and_then(std::path::Path::parent);
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(dir) = dir
        && !std::env::split_paths(&path).any(|on_path| on_path == dir)
    {
        lines.push(format!(r#"export PATH="{}:$PATH""#, dir.display()));
    }
    lines.push(format!(r#"export BACKHAUL__MODE=sandbox BACKHAUL__OUTBOUND__ALLOWED='["{LOOPBACK}"]'"#));
    lines.push(match database {
        Database::Temporary(cluster, _) => format!("export DATABASE_URL='{}'", cluster.url("postgres")),
        // It may contain a password, so it is not printed.
        Database::Given(_) => "# Set DATABASE_URL as in this terminal.".to_owned(),
    });
    lines.join("\n")
}

/// An order of two pairs of shoes, shipped yesterday.
fn sample(identifier: &str, now: DateTime<Utc>) -> String {
    let time = |days| (now - TimeDelta::days(days)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let (placed, shipped) = (time(3), time(1));
    format!(
        r#"
{{"returns_portal_order": {{"orders": [{{
  "identifier": "{identifier}", "status": "Shipped", "total_amount_cents": 19224, "currency": "USD",
  "product_amount_cents": 17800, "tax_amount_cents": 1424,
  "created_at": "{placed}", "updated_at": "{shipped}",
  "customer": {{"identifier": "pat@example.com", "email": "pat@example.com"}},
  "shipping_address": {{"name": "Pat Example", "street1": "9 Example Street", "city": "Exampleton", "state": "OH",
    "zip_code": "43001", "country_code": "US"}},
  "items": [{{"identifier": "{identifier}-1", "sku": "RUN-42", "title": "Running shoe", "variant_identifier": "RUN",
    "quantity": 2, "quantity_shipped": 2, "shipped_date": "{shipped}", "unit_price_amount_cents": 8900,
    "product_amount_cents": 17800, "tax_amount_cents": 1424, "weight": 1.6}}],
  "transactions": [], "refunds": [], "discounts": []}}]}}}}"#
    )
}
