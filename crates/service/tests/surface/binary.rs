//! The `backhaul` program, run as an operator runs it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::world::Database;

/// Runs `backhaul` with these arguments on `database`.
pub fn backhaul(database: &Database, words: &[&str]) -> Output {
    command(database).args(words).output().unwrap()
}

pub fn command(database: &Database) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backhaul"));
    command.envs(database.settings()).env("BACKHAUL__MODE", "sandbox").env("USER", "tester").env_remove("SUDO_USER");
    command.env("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "0");
    command.env("BACKHAUL__HTTP__LISTEN", "127.0.0.1:0").env("BACKHAUL__HTTP__ADMIN_LISTEN", "127.0.0.1:0");
    command.env("BACKHAUL__CONSOLE__LISTEN", "127.0.0.1:0");
    command
}

pub fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A running `backhaul serve`, stopped at the end of the test.
pub struct Served {
    pub child: Child,
    pub base: String,
    /// The address of the portal's own listener, if it has one.
    pub portal: Option<String>,
    log: std::sync::mpsc::Receiver<String>,
}

impl Served {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, log) = std::sync::mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).for_each(|line| _ = sender.send(line)));
        let mut served = Self { child, base: String::new(), portal: None, log };
        let line = served.wait_for("\"serving\"");
        let line: Value = serde_json::from_str(&line).unwrap();
        served.base = format!("http://{}", line["address"].as_str().unwrap());
        served.portal = line["portal"].as_str().map(str::to_owned);
        served
    }

    /// Waits for the next log line that contains `word`.
    pub fn wait_for(&self, word: &str) -> String {
        self.read_to(word).pop().unwrap()
    }

    /// The log up to the next line that contains `word`, which is waited for.
    pub fn read_to(&self, word: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.log.recv_timeout(std::time::Duration::from_secs(30)).unwrap_or_else(|_| panic!("no line with {word}"));
            let found = line.contains(word);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// Stops it as an orchestrator does, and returns the rest of its log.
    pub fn terminate(mut self) -> (bool, String) {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        let status = self.child.wait().unwrap();
        (status.success(), self.log.iter().collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `backhaul` with the settings that production needs.
pub fn production(database: &Database) -> Command {
    let mut command = command(database);
    command.env("BACKHAUL__MODE", "production").env("BACKHAUL__KEYS__FINGERPRINT", "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
    command.env("BACKHAUL__KEYS__SEALING", "k1:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=");
    command
}

#[tokio::test]
async fn production_does_not_listen_without_tls_unless_a_proxy_terminates_it() {
    let database = Database::create_empty().await;
    out(&production(&database).arg("migrate").output().unwrap());
    for roles in [&["serve"][..], &["serve", "--role", "api"]] {
        let refused = err(&production(&database).args(roles).output().unwrap());
        assert!(refused.contains("production serves only over TLS") && refused.contains("http.behind_tls_proxy = true"), "{refused}");
    }
    let served = Served::start(production(&database).env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true").arg("serve"));
    let page = reqwest::get(format!("{}/openapi.json", served.base)).await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(served.terminate().0);
    // A process that only delivers has no public listener.
    let mut delivers = production(&database).args(["serve", "--role", "deliver"]).stdout(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(delivers.stdout.take().unwrap());
    assert!(log.lines().map_while(Result::ok).any(|line| line.contains("delivering")));
    delivers.kill().unwrap();
    delivers.wait().unwrap();
}

#[tokio::test]
async fn the_first_migration_fixes_the_mode() {
    let database = Database::create_empty().await;
    assert!(err(&backhaul(&database, &["serve"])).contains("the database has no schema yet; run `backhaul migrate`"));
    let migrations = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations")).unwrap().count();
    let applied = format!("{migrations} migrations applied; the schema is up to date (sandbox).\n");
    assert_eq!(out(&backhaul(&database, &["migrate"])), applied);
    assert_eq!(out(&backhaul(&database, &["migrate"])), "The schema is up to date (sandbox).\n");

    let production = |words: &[&str]| {
        let mut command = production(&database);
        command.env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true").args(words).output().unwrap()
    };
    assert!(err(&production(&["migrate"])).contains("this database is a sandbox installation and cannot become production"));
    assert!(err(&production(&["serve"])).contains("the database is a sandbox installation, but the settings say mode = \"production\""));
    let doctor = production(&["doctor"]);
    assert!(!doctor.status.success());
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("BACKHAUL__MODE=sandbox"));

    let mut connection = database.connect().await;
    for change in ["update installation set mode = 'production'", "delete from installation"] {
        let refused = sqlx::query(sqlx::AssertSqlSafe(change)).execute(&mut connection).await.unwrap_err();
        assert!(refused.to_string().contains("installation never changes"), "{refused}");
    }
}

#[tokio::test]
async fn every_listing_is_a_table_for_people_and_json_for_scripts() {
    let database = Database::create().await;
    let json = |words: &[&str]| -> Value { serde_json::from_str(&out(&backhaul(&database, words))).unwrap() };
    assert!(out(&backhaul(&database, &["merchant", "list"])).contains("backhaul merchant add HANDLE"), "an empty list says what to do");
    let added = json(&["merchant", "add", "acme", "--name", "Acme Shoes", "--technical-contact", "ops@example.com", "-o", "json"]);
    assert_eq!((&added["handle"], &added["state"]), (&"acme".into(), &"onboarding".into()));
    assert!(err(&backhaul(&database, &["merchant", "add", "acme", "--name", "Again"])).contains("the merchant `acme` already exists"));
    for words in [&["merchant", "set", "acme"][..], &["merchant", "add", "other", "--name", "Other"]] {
        let refused = err(&backhaul(&database, &[words, &["--technical-contact", "the night shift"]].concat()));
        assert!(refused.contains("`the night shift` is not an e-mail address") && refused.contains("ops@example.com"), "{refused}");
    }
    assert!(
        err(&backhaul(&database, &["merchant", "add", "No Handle", "--name", "x"])).contains("a handle must be 2 to 40 lower-case letters")
    );

    let issued = json(&["credential", "issue", "--merchant", "acme", "--scope", "orders", "--label", "oms", "-o", "json"]);
    let client_id = issued["client_id"].as_str().unwrap();
    assert!(issued["client_secret"].as_str().unwrap().starts_with("bhs_"));
    let table = out(&backhaul(&database, &["credential", "list", "--merchant", "acme"]));
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(rows.next().unwrap()[..6], ["CLIENT", "ID", "SCOPE", "LABEL", "STATE", "ISSUED"]);
    assert_eq!(rows.next().unwrap()[..4], [client_id, "orders", "oms", "live"]);
    out(&backhaul(&database, &["credential", "revoke", "--merchant", "acme", client_id, "--yes"]));
    assert_eq!(json(&["credential", "list", "--merchant", "acme", "-o", "json"])["items"][0]["state"], "revoked");
    assert!(err(&backhaul(&database, &["credential", "revoke", "--merchant", "acme", client_id])).contains("no live credential"));

    out(&backhaul(&database, &["merchant", "pause", "acme", "--yes"]));
    assert_eq!(json(&["merchant", "list", "-o", "json"])["items"][0]["state"], "paused");
    assert_eq!(json(&["merchant", "resume", "acme", "-o", "json"])["state"], "onboarding");
    assert_eq!(json(&["merchant", "show", "acme", "-o", "json"])["technical_contact"], "ops@example.com");
    for listing in [&["orders", "refused"][..], &["orders", "warned"]] {
        assert_eq!(json(&[listing, &["--merchant", "acme", "-o", "json"]].concat()), serde_json::json!({ "items": [], "next": null }));
    }
    assert!(json(&["doctor", "-o", "json"])["items"].as_array().unwrap().len() >= 13);
    assert!(err(&backhaul(&database, &["merchant", "show", "nobody"])).contains("there is no merchant `nobody`"));
}

#[tokio::test]
async fn the_documents_that_commands_print_are_those_of_the_program() {
    let database = Database::create_empty().await;
    assert_eq!(out(&backhaul(&database, &["openapi"])), backhaul::http::openapi::text());
    assert_eq!(out(&backhaul(&database, &["config", "default"])), backhaul::platform::config::DEFAULTS);
    assert!(out(&backhaul(&database, &["config", "check"])).contains("The settings are valid."));
    let wrong = command(&database).env("BACKHAUL__HTTP__LISTN", "x").args(["config", "check"]).output().unwrap();
    assert!(err(&wrong).contains("unknown field `listn`"));
    let shown = out(&backhaul(&database, &["config", "check"]));
    assert!(shown.parse::<toml::Table>().unwrap()["http"]["listen"].is_str() && !shown.contains(&database.url), "{shown}");
    // What `serve` refuses before it asks the database is refused here.
    let unsafe_settings: [(&str, &str); 3] = [
        ("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "false"),
        ("BACKHAUL__TLS__CERTIFICATE", "/nowhere.pem"),
        ("DATABASE_URL", "postgres://db.example.com/backhaul?sslmode=disable"),
    ];
    for (name, value) in unsafe_settings {
        let run = |words: &[&str]| {
            let mut command = production(&database);
            let proxied = command.env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true").env(name, value).args(words).output().unwrap();
            err(&proxied)
        };
        assert_eq!(run(&["config", "check"]), run(&["serve"]), "{name}");
    }
    let mut sound = production(&database);
    out(&sound.env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true").args(["config", "check"]).output().unwrap());
    let misnamed = command(&database).env("BACKHAUL__HTTP__CONNECTIONS", "many").args(["config", "check"]).output().unwrap();
    assert!(err(&misnamed).contains("http.connections: "), "a wrong value is told with its setting");
    let keyless = command(&database).env("BACKHAUL__MODE", "production").args(["config", "check"]).output().unwrap();
    assert!(err(&keyless).contains("openssl rand -base64 32"));
}

#[tokio::test]
async fn a_reader_who_has_enough_is_no_failure_but_lost_output_is() {
    let database = Database::create_empty().await;
    let through = |shell: &str| {
        let mut through = Command::new("bash");
        through.args(["-c", &format!("set -o pipefail; {shell}"), env!("CARGO_BIN_EXE_backhaul")]);
        through.env("DATABASE_URL", &database.url).output().unwrap()
    };
    let first = through("\"$0\" openapi | head -1");
    assert_eq!((out(&first).as_str(), String::from_utf8_lossy(&first.stderr).as_ref()), ("{\n", ""));
    for nobody in ["\"$0\" config default | true", "\"$0\" --help | true"] {
        assert_eq!(String::from_utf8_lossy(&through(nobody).stderr), "", "{nobody}");
    }
    let full = err(&through("\"$0\" openapi > /dev/full"));
    assert!(full.contains("standard output cannot be written, so some of it is missing"), "{full}");
}

#[tokio::test]
async fn support_sees_what_was_refused_and_what_does_not_add_up() {
    use crate::world::{World, message, order};

    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = order("77");
    wrong["currency"] = "dollars".into();
    merchant.publishes(&message([wrong])).await.faults();
    let mut odd = order("78");
    odd["total_amount_cents"] = 1.into();
    merchant.publishes(&message([odd])).await.warnings();
    let refused = out(&backhaul(&world.database, &["orders", "refused", "--merchant", "acme"]));
    assert!(refused.contains("77") && refused.contains("orders[0].currency: must be three letters, such as USD"), "{refused}");
    let warned = out(&backhaul(&world.database, &["orders", "warned", "--merchant", "acme"]));
    assert!(warned.contains("78") && warned.contains("total_amount_cents: differs from product − discount"), "{warned}");
    world.merchant("zeta").await;
    let of_another = out(&backhaul(&world.database, &["orders", "warned", "--merchant", "zeta", "-o", "json"]));
    assert!(of_another.contains("\"items\": []"), "each merchant's on its own");
}

#[tokio::test]
async fn a_service_that_is_told_to_end_finishes_what_it_has_begun() {
    let database = Database::create().await;
    let served = Served::start(command(&database).arg("serve"));
    // A request whose body is still arriving at the signal.
    let address = served.base.trim_start_matches("http://").to_owned();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let body = "grant_type=client_credentials&client_id=x&client_secret=y";
    let head = format!(
        "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert!(interim.starts_with(b"HTTP/1.1 100 Continue"), "the service is reading the body");
    let pid = served.child.id().to_string();
    Command::new("kill").arg(&pid).status().unwrap();
    served.wait_for("shutdown requested");
    std::io::Write::write_all(&mut stream, body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let (clean, log) = served.terminate();
    assert!(clean && log.contains("shutdown complete"), "{log}");
}
