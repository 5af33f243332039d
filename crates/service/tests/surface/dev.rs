//! `backhaul dev`: the time to the first message, the printed commands pasted into a shell, and the errors at startup.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::binary::{backhaul, err, out};
use crate::readme::path;
use crate::world::Database;

/// The longest acceptable wait for the first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(30);

/// A running `backhaul dev`.
struct Running {
    child: Child,
    lines: Receiver<String>,
    /// The lines printed until it was ready.
    printed: Vec<String>,
    /// The time from the start to the first message.
    first_message: Option<Duration>,
}

fn dev(database: Option<&Database>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backhaul"));
    command.arg("dev").env_remove("DATABASE_URL");
    if let Some(database) = database {
        command.env("DATABASE_URL", &database.url);
    }
    command
}

/// The answer of a page, with its headers.
fn get(base: &str, path: &str) -> String {
    let address = base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let begun = Instant::now();
        let mut child = command.args(["--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).for_each(|line| _ = sender.send(line)));
        let mut running = Self { child, lines, printed: Vec::new(), first_message: None };
        loop {
            let line = running.line();
            if line.contains("rma.created") && running.first_message.is_none() {
                running.first_message = Some(begun.elapsed());
            }
            running.printed.push(line);
            if running.printed.last().unwrap().starts_with("Ctrl-C stops the sandbox") {
                return running;
            }
        }
    }

    /// Waits for the next line that it prints.
    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_mins(1)).unwrap_or_else(|_| panic!("nothing more after\n{}", self.printed.join("\n")))
    }

    /// Waits until each of these words was printed.
    fn says(&self, words: &[&str]) {
        let mut missing = words.to_vec();
        while !missing.is_empty() {
            let line = self.line();
            missing.retain(|word| !line.contains(word));
        }
    }

    /// All commands to paste, from the first to the last.
    fn commands(&self) -> String {
        let first = self.printed.iter().position(|line| line.starts_with("BASE=")).unwrap();
        let last = self.printed.iter().position(|line| line.starts_with("backhaul clock advance 21d")).unwrap();
        let outside = self.printed[..first].iter().chain(&self.printed[last + 1..]).find(|line| line.contains("curl "));
        assert_eq!(outside, None, "every command is pasted");
        self.printed[first..=last].join("\n")
    }

    /// The printed line that begins with this word, without it.
    fn after(&self, word: &str) -> &str {
        let found = self.printed.iter().find_map(|line| line.trim_start().strip_prefix(word));
        found.unwrap_or_else(|| panic!("no line with {word}\n{}", self.printed.join("\n"))).trim()
    }

    /// The commands that point an endpoint at a server of one's own, with the environment that they need.
    fn commands_for_own_server(&self) -> String {
        let wanted = |line: &&String| line.starts_with("export ") || line.starts_with("backhaul endpoint ");
        self.printed.iter().filter(wanted).cloned().collect::<Vec<_>>().join("\n")
    }

    fn end(mut self) {
        self.ask_to_leave();
        assert!(self.child.wait().unwrap().success(), "it exits cleanly");
    }

    fn ask_to_leave(&self) {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
    }

    /// The directory of its PostgreSQL.
    fn cluster(&self) -> PathBuf {
        std::env::temp_dir().join(format!("backhaul-dev-{}", self.child.id()))
    }
}

/// Stops the program even if the test fails.
impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.ask_to_leave();
            let _ = self.child.wait();
        }
    }
}

fn pasted(commands: &str) -> Output {
    let dir = std::env::temp_dir().join(format!("backhaul-paste-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let script = format!("set -euo pipefail\n{commands}\nhead -c 5 label.pdf\n");
    let output = Command::new("bash").args(["-c", &script]).current_dir(&dir).env("PATH", path()).output().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    output
}

/// The parts of the README's sample output that do not change between runs: sentences, and steps without their times.
fn shown_in_the_readme() -> Vec<String> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, block) = readme.split_once("```text\nStarting a sandbox").unwrap();
    let lines = block.split("\n```").next().unwrap().lines().skip(1);
    let steps = lines.filter(|line| line.starts_with("  - ") || line.starts_with(char::is_uppercase));
    steps.map(|line| line.split('…').next().unwrap().split("http").next().unwrap().trim_end().to_owned()).collect()
}

#[test]
fn what_dev_prints_can_be_pasted() {
    let running = Running::start(dev(None).arg("--verbose"));
    let first_message = running.first_message.expect("a message is delivered without any command");
    assert!(first_message < FIRST_MESSAGE, "{first_message:?}");
    let printed = running.printed.join("\n");
    assert!(!printed.contains('\x1b'), "no colours without a terminal\n{printed}");
    for text in
        ["PRE_TRANSIT", "TRANSIT", "exchange_order.requested", "rma.exchange_placed", "exchanged by X-SWAP-", "Demo Shoes", "Demo Outdoor"]
    {
        assert!(printed.contains(text), "{text}\n{printed}");
    }
    let shown = shown_in_the_readme();
    assert!(shown.len() >= 6, "{shown:?}");
    // With --verbose there is no need to say how to see more.
    for line in shown.iter().filter(|line| !line.starts_with("Messages go on arriving")) {
        assert!(printed.contains(line), "the README shows {line:?}\n{printed}");
    }

    let commands = running.commands();
    let output = pasted(&commands);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}\n{commands}");
    for expected in [
        r#""result":"created""#,
        r#""warnings":[]"#,
        r#""returnable":2"#,
        r#""status":"in_transit""#,
        r#""sku":"RUN-44""#,
        r#""exchange":{"state":"pending""#,
        r#""event":"rma.created""#,
        "499        yes",
        "Demo Outdoor",
        "%PDF-",
    ] {
        assert!(out.contains(expected), "{expected}\n{out}\n{err}");
    }
    running.says(&[
        "drop_shipment.confirmed",
        "drop_shipment.partially_cancelled",
        "drop_shipment.cancelled",
        "drop_shipment.rejected",
        "inventory_receipt.received",
        "outbound_asn.pending",
        "outbound_asn.shipped",
        "outbound_asn.delivered",
        "outbound_asn.canceled",
        "OUT-S-1_2",
        "a mail to ",
    ]);
    let mailbox = running.after("Mailbox").to_owned();
    let listed = get(&mailbox, "/");
    assert!(listed.contains("Your return is confirmed") && listed.contains("content-security-policy: default-src 'none'"), "{listed}");
    let mail = get(&mailbox, "/mails/1");
    assert!(mail.contains("<iframe sandbox") && mail.contains("nothing to unsubscribe from"), "{mail}");
    assert!(get(&mailbox, "/mails/1/html").contains("content-security-policy: sandbox; default-src 'none'"));
    // Whichever of the two shops was first.
    let html = get(&mailbox, "/mails/1/html");
    assert!(["#6a1b9a", "#f08a24"].iter().any(|accent| html.contains(accent)), "in the accent of the shop: {html}");
    assert!(get(&mailbox, "/mails/0").starts_with("HTTP/1.1 404"));
    let cluster = running.cluster();
    assert!(cluster.exists());
    running.end();
    assert!(!cluster.exists(), "its data is removed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_run_ends_with_the_credentials_and_is_quiet_afterwards() {
    let running = Running::start(&mut dev(None));
    let at = |start: &str| running.printed.iter().position(|line| line.trim_start().starts_with(start)).unwrap();
    let order = [at("Backhaul is running on"), at("BASE="), at("backhaul endpoint set"), at("Demo Outdoor  client_id"), at("Ctrl-C stops")];
    assert!(order.is_sorted() && order[4] - order[3] < 5, "{}", running.printed.join("\n"));
    let quiet = "Messages go on arriving. `backhaul dev --verbose` shows each of them here, with the log.";
    assert!(running.printed.iter().any(|line| line == quiet) && shown_in_the_readme().iter().any(|line| line == quiet));
    // The port was any, and every link has the one that it became.
    let base = running.after("Backhaul is running on").to_owned();
    assert!(!base.ends_with(":0") && running.after("BASE=") == base && running.after("Portal").starts_with(&format!("{base}/r/")));

    // Its own server gets the messages.
    let systems = sandbox::merchant::Merchant::start().await.unwrap();
    let own_server = running.commands_for_own_server();
    let script = own_server.replace("http://127.0.0.1:9000/rmas", &systems.url("/rmas"));
    assert_ne!(script, own_server);
    let run = |script: &str| {
        let script = format!("set -euo pipefail\n{script}");
        out(&Command::new("bash").args(["-c", &script]).env("PATH", path()).output().unwrap())
    };
    let tried = run(&script);
    assert!(tried.contains("200") && !systems.received_at("/rmas").is_empty(), "{tried}");

    // The simulated systems work on, and neither print anything nor use up the developer's requests.
    let environment: Vec<&str> = script.lines().filter(|line| line.starts_with("export ")).collect();
    let look = format!("{}\nbackhaul messages list --merchant demo-outdoor -o json", environment.join("\n"));
    let begun = Instant::now();
    while !run(&look).contains("outbound_asn") {
        assert!(begun.elapsed() < Duration::from_mins(1), "the warehouse works");
    }
    let answer = get(&base, "/v1/orders/none");
    assert!(answer.contains("ratelimit-remaining: 2499\r\n"), "{answer}");
    let console = running.after("Console").to_owned();
    let invitation = running.printed.iter().find_map(|line| line.trim().strip_prefix(&format!("{console}/invitation/"))).unwrap();
    assert!(get(&console, &format!("/invitation/{invitation}")).starts_with("HTTP/1.1 200"));
    while get(running.after("Mailbox"), "/mails/1").starts_with("HTTP/1.1 404") {
        assert!(begun.elapsed() < Duration::from_mins(1), "shoppers get mails");
    }
    let mail = get(running.after("Mailbox"), "/mails/1");
    assert!(mail.contains(&format!("{base}/")), "links in mails have the port too: {mail}");
    let more: Vec<String> = running.lines.try_iter().collect();
    assert!(more.is_empty(), "{more:?}");
    running.end();
}

#[test]
fn no_postgresql_is_left_behind_when_nobody_reads_any_more() {
    let mut child = dev(None).args(["--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let cluster = std::env::temp_dir().join(format!("backhaul-dev-{}", child.id()));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("Temporary PostgreSQL")));
    assert!(cluster.exists());
    drop(lines);
    child.wait().unwrap();
    assert!(!cluster.exists());
}

#[test]
fn neither_a_closed_terminal_nor_a_kill_leaves_postgresql_behind_for_good() {
    // A directory of its own, so that no other test cleans up.
    let places = std::env::temp_dir().join(format!("bh-left-{}", std::process::id()));
    std::fs::create_dir(&places).unwrap();
    let start = || {
        let mut child =
            dev(None).args(["--port", "0"]).env("TMPDIR", &places).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("Temporary PostgreSQL")));
        let cluster = places.join(format!("backhaul-dev-{}", child.id()));
        assert!(cluster.exists());
        (child, cluster, lines)
    };
    let (mut killed, left, _lines) = start();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(left.exists(), "nobody could stop it");
    let postgres = std::fs::read_to_string(left.join("data/postmaster.pid")).unwrap().lines().next().unwrap().to_owned();

    let (mut closed, cluster, lines) = start();
    assert!(!left.exists(), "the next run removes what a killed one left");
    let is_running = std::fs::read_to_string(format!("/proc/{postgres}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!is_running, "and stops it");
    // A terminal that is closed sends SIGHUP, and nobody reads any more.
    drop(lines);
    Command::new("kill").args(["-HUP", &closed.id().to_string()]).status().unwrap();
    assert!(closed.wait().unwrap().success());
    assert!(!cluster.exists());
    assert_eq!(std::fs::read_dir(&places).unwrap().count(), 0, "no lock stays either");
    std::fs::remove_dir(&places).unwrap();
}

#[tokio::test]
async fn a_sandbox_of_ones_own_keeps_its_data_until_it_is_reset() {
    let database = Database::create_empty().await;
    Running::start(&mut dev(Some(&database))).end();
    assert_eq!((database.count("merchant").await, database.count("customer_order").await), (2, 50));
    for merchant in ["demo-shoes", "demo-outdoor"] {
        let warned = out(&backhaul(&database, &["orders", "warned", "--merchant", merchant, "-o", "json"]));
        assert!(warned.contains("\"items\": []"), "the sample orders add up");
    }

    let accents = "select accent from brand where logo is not null and dark_logo is not null order by accent";
    assert_eq!(database.texts(accents).await, ["#6a1b9a", "#f08a24"], "a first look shows two brands");

    Running::start(&mut dev(Some(&database))).end();
    assert_eq!((database.count("merchant").await, database.count("rma").await), (2, 6));

    let unsure = dev(Some(&database)).args(["--port", "0", "--reset"]).stdin(Stdio::null()).output().unwrap();
    let refused = err(&unsure);
    assert!(refused.contains("--reset drops all") && refused.contains("give --yes to go ahead"), "{refused}");
    let reset = Running::start(dev(Some(&database)).args(["--reset", "--yes"]));
    assert!(reset.printed.iter().any(|line| line.contains("tables of this sandbox were dropped")), "{:?}", reset.printed);
    reset.end();
    assert_eq!((database.count("merchant").await, database.count("rma").await), (2, 3));
}

#[tokio::test]
async fn a_production_database_is_refused_even_to_be_reset() {
    let database = Database::create_empty().await;
    let mut migrate = Command::new(env!("CARGO_BIN_EXE_backhaul"));
    out(&migrate.arg("migrate").env("DATABASE_URL", &database.url).env("BACKHAUL__MODE", "production").output().unwrap());
    for words in [&["--port", "0"][..], &["--port", "0", "--reset"]] {
        let refused = err(&dev(Some(&database)).args(words).output().unwrap());
        assert!(refused.contains("DATABASE_URL names a production database, and `backhaul dev` never touches one"), "{refused}");
    }
    assert!(store::node::installation::forget_sandbox(&database.url).await.is_err(), "the database refuses it as well");
    assert_eq!(database.texts("select mode from installation").await, ["production"]);
}

#[tokio::test]
async fn a_database_of_something_else_is_left_alone() {
    let database = Database::create_empty().await;
    sqlx::query("create table theirs ()").execute(&mut database.connect().await).await.unwrap();
    let refused = err(&dev(Some(&database)).args(["--port", "0"]).output().unwrap());
    assert!(refused.contains("with 1 table of another program"), "{refused}");
}

#[test]
fn a_database_that_does_not_answer_is_named() {
    let mut command = dev(None);
    command.env("DATABASE_URL", "postgres://127.0.0.1:1/nowhere").args(["--port", "0"]);
    let refused = err(&command.output().unwrap());
    assert!(refused.contains("the database that DATABASE_URL names is unreachable"), "{refused}");
}

#[test]
fn a_port_that_is_taken_is_named_before_anything_starts() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = dev(None).args(["--port", &port]).output().unwrap();
    let refused = err(&output);
    assert!(refused.contains(&format!("port {port} is in use by another program")) && refused.contains("--port"), "{refused}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn the_consoles_port_is_checked_before_anything_starts_too() {
    // The port before one that is taken, and free itself.
    let taken = std::iter::repeat_with(|| TcpListener::bind("127.0.0.1:0").unwrap());
    let before = |taken: &TcpListener| taken.local_addr().unwrap().port() - 1;
    let taken = taken.take(20).find(|taken| TcpListener::bind(("127.0.0.1", before(taken))).is_ok()).unwrap();
    let port = before(&taken);
    let output = dev(None).args(["--port", &port.to_string()]).output().unwrap();
    let refused = err(&output);
    let whose = format!("port {}, which the console takes beside {port}, is in use by another program", port + 1);
    assert!(refused.contains(&whose) && refused.contains("`backhaul dev --port "), "{refused}");
    assert_eq!(output.stdout, b"", "no PostgreSQL was started");
}

#[test]
fn a_temporary_directory_that_cannot_be_used_is_named() {
    let refused = err(&dev(None).args(["--port", "0"]).env("TMPDIR", "/nowhere/at/all").output().unwrap());
    assert!(refused.contains("/nowhere/at/all") && refused.contains("set TMPDIR"), "{refused}");
    let doctor = |dir: &str| Command::new(env!("CARGO_BIN_EXE_backhaul")).args(["doctor", "--dev"]).env("TMPDIR", dir).output().unwrap();
    let sick = doctor("/nowhere/at/all");
    assert!(!sick.status.success() && String::from_utf8_lossy(&sick.stdout).contains("set TMPDIR"), "{sick:?}");
    assert!(out(&doctor("/tmp")).contains("postgresql"));
}
