//! The README and the document of the operator API, followed literally.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use backhaul::app::App;
use backhaul::flow::merchants::operators::people::{self, Authority};
use backhaul::flow::merchants::operators::tokens;
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use backhaul::platform::entropy::Entropy;
use domain::merchants::operator::Role;
use secrecy::ExposeSecret as _;

use crate::binary::{Served, command};
use crate::world::Database;

/// The directory of the program under test, to be first on the PATH.
pub fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_backhaul"));
    format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap())
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[tokio::test]
async fn the_readme_leads_from_an_empty_database_to_a_stored_order() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Step by step").expect("the section is there");
    let section = section.split("\n## ").next().unwrap();
    let blocks: Vec<&str> = section.split("```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 4, "{blocks:?}");

    let database = Database::create_empty().await;
    let dir = std::env::temp_dir().join(format!("backhaul-readme-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let output = Command::new("bash")
        .args(["-c", &format!("set -euo pipefail\n{}", blocks.join("\n"))])
        .current_dir(&dir)
        .env("PATH", path())
        .env("DATABASE_URL", &database.url)
        .env("BACKHAUL__HTTP__LISTEN", free_address())
        .env("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "0")
        .env("BACKHAUL__HTTP__ADMIN_LISTEN", free_address())
        .env("BACKHAUL__CONSOLE__LISTEN", free_address())
        .output()
        .unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains(r#""result":"created""#), "{out}\n{err}");
}

/// An app on this database with the clock of the machine, as `backhaul serve` has it.
fn app_on(database: &Database) -> App {
    let settings = [("DATABASE_URL", database.url.as_str()), ("BACKHAUL__MODE", "sandbox")];
    let settings = Settings::load(None, settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).unwrap();
    App::new(settings, Clock::system(), Entropy::system()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_apis_document_leads_from_nothing_to_a_live_merchant() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/admin-api.md")).unwrap();
    let blocks: Vec<&str> = document.split("```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 5, "{blocks:?}");

    let (database, systems) = (Database::create_alone().await, sandbox::merchant::Merchant::start().await.unwrap());
    let app = app_on(&database);
    let email = "manager.one@ops.example.com".parse().unwrap();
    let (operator, _) = people::add(&app, "test", Authority::Full, &email, "Manager One", Role::Manager).await.unwrap();
    let token = tokens::make(&app, &operator, "onboarding", Role::Manager, 1).await.unwrap();
    let console = free_address();
    let mut serve = command(&database);
    serve.env("BACKHAUL__CONSOLE__LISTEN", &console).env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#);
    let _served = Served::start(serve.arg("serve"));

    let dir = std::env::temp_dir().join(format!("backhaul-admin-api-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("token.txt"), format!("{}\n", token.expose_secret())).unwrap();
    let output = Command::new("bash")
        .args(["-c", &format!("set -euo pipefail\n{}", blocks.join("\n"))])
        .current_dir(&dir)
        .env("CONSOLE", format!("http://{console}"))
        .env("MERCHANT_URL", systems.url("/rmas"))
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    let kept = |file: &str| std::fs::read_to_string(dir.join(file)).unwrap();
    let (credential, endpoint) = (kept("credential.json"), kept("endpoint.json"));
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(out.contains(r#""outcome": "200""#) && out.contains(r#""state": "live""#), "{out}\n{err}");
    assert!(credential.contains("client_secret") && endpoint.contains("signing_secret"), "{credential}\n{endpoint}");
    assert_eq!(systems.received_at("/rmas").len(), 1, "the test message arrived");
    let audit = database.texts("select distinct actor from audit").await;
    assert_eq!(audit, ["operator:manager.one@ops.example.com via token:onboarding"]);
}
