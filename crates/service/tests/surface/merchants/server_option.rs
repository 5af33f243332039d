//! `backhaul --server`: the same commands through the operator API, without the database's password.

use std::path::PathBuf;
use std::process::{Command, Output};

use domain::merchants::operator::Role;
use sandbox::merchant::{Answer, Merchant as Systems};

use crate::binary::{backhaul, err, out};
use crate::world::World;
use crate::world::script::Script;

/// A person at a terminal that has a token and no database.
struct Terminal {
    server: String,
    token_file: PathBuf,
}

impl Terminal {
    fn of(script: &Script<'_>) -> Self {
        // Every test has a port of its own, while tokens of the same seed are alike.
        let port = script.world.console.rsplit(':').next().unwrap();
        let token_file = std::env::temp_dir().join(format!("backhaul-token-{}-{port}", std::process::id()));
        std::fs::write(&token_file, format!("{}\n", script.token)).unwrap();
        Self { server: script.world.console.clone(), token_file }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backhaul"));
        command.env_clear().env("BACKHAUL_SERVER", &self.server).env("BACKHAUL_TOKEN_FILE", &self.token_file);
        command
    }

    fn runs(&self, words: &[&str]) -> Output {
        self.command().args(words).output().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.token_file);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_says_the_same_here_and_through_a_server() {
    let world = World::new().await;
    let terminal = Terminal::of(&world.script(Role::Admin).await);
    assert!(out(&terminal.runs(&["merchant", "add", "acme", "--name", "Acme Shoes"])).contains("acme"));
    let changes: &[&[&str]] = &[
        &["merchant", "set", "acme", "--technical-contact", "ops@example.com", "-o", "json"],
        &["credential", "issue", "--merchant", "acme", "--scope", "orders", "--scope", "carrier", "--label=--odd label"],
        &["policy", "set", "--merchant", "acme", "--window-days", "45"],
    ];
    for words in changes {
        let done = terminal.runs(words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let same: &[&[&str]] = &[
        &["merchant", "list"],
        &["merchant", "list", "-o", "json"],
        &["merchant", "show", "acme", "-o", "json"],
        &["merchant", "show", "nobody"],
        &["merchant", "show"],
        &["credential", "list", "--merchant", "acme"],
        &["endpoint", "list", "--merchant", "acme"],
        &["endpoint", "list", "--all-merchants"],
        &["endpoint", "list", "--all-merchants", "--merchant", "acme"],
        &["endpoint", "list", "--all-merchants", "--failing", "-o", "json"],
        &["endpoint", "show", "--merchant", "acme", "rma"],
        &["failures", "list", "--all-merchants"],
        &["messages", "list", "--all-merchants", "-o", "json"],
        &["failures", "list", "--merchant", "acme"],
        &["failures", "retry", "--merchant", "acme"],
        &["failures", "retry", "--merchant", "acme", "--endpoint", "rma"],
        &["messages", "list", "--merchant", "acme", "--limit", "5"],
        &["policy", "show", "--merchant", "acme"],
        &["operator", "roles"],
        &["operator", "add", "no address", "--name", "X", "--role", "viewer"],
        &["warehouse", "list", "--merchant", "acme"],
    ];
    for words in same {
        let (here, there) = (backhaul(&world.database, words), terminal.runs(words));
        // The usage, which follows some errors, also names the options that are given.
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split("\n\nUsage:").next().unwrap_or_default().to_owned();
        let all = |output: &Output| (text(&output.stdout), text(&output.stderr), output.status.code());
        assert_eq!(all(&here), all(&there), "{words:?}");
    }
    // The environment here names a merchant, and the flag wins there too.
    let all = terminal.command().env("BACKHAUL_MERCHANT", "acme").args(["endpoint", "list", "--all-merchants"]).output().unwrap();
    assert!(out(&all).contains("No merchant has endpoints here."));
    let audit = world.database.texts("select distinct actor from audit").await;
    assert_eq!(audit, ["operator:admin.script@ops.example.com via token:nightly"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_and_a_file_travel_with_the_command() {
    let world = World::new().await;
    let terminal = Terminal::of(&world.script(Role::Manager).await);
    out(&terminal.runs(&["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let set = ["endpoint", "set", "--merchant", "acme", "rma", "--url", "http://127.0.0.1:9/rmas", "--authentication", "bearer"];
    assert!(err(&terminal.runs(&set)).contains("BACKHAUL_ENDPOINT_SECRET"));
    let made = out(&terminal.command().args(set).env("BACKHAUL_ENDPOINT_SECRET", "s3cr3t").output().unwrap());
    assert!(made.contains("signing_secret"), "{made}");
    assert!(out(&terminal.runs(&["endpoint", "list", "--merchant", "acme"])).contains("bearer"));
    let logo = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo/shoes.png");
    let shown = out(&terminal.runs(&["brand", "set", "--merchant", "acme", "--logo", logo]));
    assert!(shown.contains("brand/") && shown.contains(".png"), "{shown}");
    assert!(
        err(&terminal.runs(&["brand", "set", "--merchant", "acme", "--logo", "/nowhere.png"]))
            .contains("cannot read the logo /nowhere.png")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_work_says_what_to_do_next() {
    let world = World::new().await;
    let viewer = world.script(Role::Viewer).await;
    let terminal = Terminal::of(&viewer);
    let told = |command: &mut Command| err(&command.output().unwrap());
    let list = ["merchant", "list"];
    assert!(
        told(terminal.command().args(["merchant", "add", "acme", "--name", "x"]))
            .contains("takes the role manager, and the token has the role viewer")
    );
    assert!(told(terminal.command().args(["shopper", "erase", "--merchant", "acme", "--order", "1"])).contains("takes a second person"));
    assert!(told(terminal.command().args(["serve"])).contains("cannot be run through --server"));
    assert!(told(terminal.command().args(["--as", "a@example.com"]).args(list)).contains("the token says who acts"));
    assert!(told(terminal.command().env_remove("BACKHAUL_TOKEN_FILE").args(list)).contains("make one in the console under Your account"));
    assert!(told(terminal.command().env("BACKHAUL_TOKEN_FILE", "/nowhere").args(list)).contains("cannot read the token file /nowhere"));
    for (server, why) in [
        ("http://127.0.0.1:9", "cannot be reached: the connection was refused; check the address"),
        ("http://console.example.com", "would send the token in the clear; use https"),
        ("console.example.com", "is not the address of a console"),
        ("ftp://console.example.com", "is not the address of a console"),
        (world.portal.as_str(), "not as the operator API does"),
    ] {
        let refused = told(terminal.command().env("BACKHAUL_SERVER", server).args(list));
        assert!(refused.contains(why), "{server}: {refused}");
    }
    let old = Systems::start().await.unwrap();
    old.answer("/admin/v1", Answer::status(404).body(r#"{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "x"}"#));
    let refused = told(terminal.command().env("BACKHAUL_SERVER", old.url("")).args(list));
    assert!(refused.contains("does not know `backhaul merchant list`: it is older than this program"), "{refused}");
    std::fs::write(&terminal.token_file, "bho_wrong").unwrap();
    let refused = told(terminal.command().args(list));
    assert!(refused.contains("unknown, expired or revoked") && refused.contains("Make a new one in the console"), "{refused}");
}
