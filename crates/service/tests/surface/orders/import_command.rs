//! `backhaul orders import`, run as a program, and the memory that an import uses in `backhaul serve`.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::binary::{Served, backhaul, command, err, out};
use crate::world::{Database, World, order};

/// A temporary file that is removed with the test.
struct TempFile(std::path::PathBuf);

impl TempFile {
    fn new(text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("backhaul-import-{:032x}.ndjson", rand::random::<u128>()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn lines(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{}\n", order(&at.to_string()))).collect()
}

/// The `(orders, snapshots taken, lines done, state)` of the only merchant and import.
async fn stored(database: &Database) -> (i64, i64, i64, String) {
    let asked = "select (select count(*) from customer_order), (select coalesce(sum(revision), 0)::bigint from customer_order),
        (select max(lines_done) from order_import), (select max(state) from order_import)";
    sqlx::query_as::<_, (i64, i64, Option<i64>, Option<String>)>(asked)
        .fetch_one(&mut database.connect().await)
        .await
        .map(|(orders, snapshots, lines, state)| (orders, snapshots, lines.unwrap_or_default(), state.unwrap_or_default()))
        .unwrap()
}

/// Runs `backhaul orders import -` with the input `sent`, until `done` lines are stored and it waits for more.
async fn importing(database: &Database, sent: &str, done: i64) -> Child {
    let mut import = command(database);
    import.args(["orders", "import", "-", "--merchant", "acme"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = import.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(sent.as_bytes()).unwrap();
    let waiting = async {
        while stored(database).await.2 < done {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), waiting).await.unwrap();
    child
}

#[tokio::test]
async fn a_file_is_imported_with_a_summary_and_a_report() {
    let world = World::new().await;
    world.merchant("acme").await;
    let mut sent = lines(40);
    sent[2..14].fill("{}\n".to_owned());
    sent[15] = "nonsense\n".to_owned();
    let file = TempFile::new(&sent.concat());
    let import = |words: &[&str]| backhaul(&world.database, &[&["orders"], words, &["--merchant", "acme"]].concat());
    let output = out(&import(&["import", file.path()]));
    assert!(output.starts_with("40 lines: 27 orders created, 0 updated, 0 unchanged, 0 stale.\nRefused lines: 13\n"), "{output}");
    assert_eq!(output.matches("currency: is required").count(), 10, "the first ten are shown: {output}");
    let (_, all) = output.split_once("To see all of them:\n  backhaul orders import-report ").unwrap();
    let id = all.split_once(" --merchant acme").unwrap().0;

    let report: Value = serde_json::from_str(&out(&import(&["import-report", id, "-o", "json"]))).unwrap();
    assert_eq!(report["items"].as_array().unwrap().len(), 13);
    let last = json!({"line": 16, "order_identifier": null, "errors": [{"field": "", "code": "invalid", "message": "is not well-formed JSON (column 2)"}]});
    assert_eq!(report["items"][12], last);
    let rest = out(&import(&["import-report", id, "--cursor", "14"]));
    assert_eq!(rest.lines().map(|line| line.split_whitespace().next().unwrap()).collect::<Vec<_>>(), ["LINE", "16"], "{rest}");

    let again: Value = serde_json::from_str(&out(&import(&["import", file.path(), "-o", "json"]))).unwrap();
    assert_eq!(again["accepted"], json!({"created": 0, "updated": 0, "unchanged": 27, "stale": 0}));
    let resumed: Value = serde_json::from_str(&out(&import(&["import", file.path(), "-o", "json", "--resume", id]))).unwrap();
    assert_eq!((&resumed["import_id"], &resumed["accepted"]["created"]), (&json!(id), &json!(27)), "it is already done");
    assert!(err(&import(&["import", "/nonsense"])).contains("/nonsense cannot be read"));
    let unknown = "01890000-0000-7000-8000-000000000000";
    assert!(err(&import(&["import", file.path(), "--resume", unknown])).contains("the merchant has no import"));
    assert!(err(&import(&["import-report", unknown])).contains("the merchant has no import"));
    let mut connection = world.database.connect().await;
    let audited: Vec<(String, String)> = sqlx::query_as("select actor, detail from audit where action = 'import.begun' order by done_at")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_eq!((audited.len(), &audited[0]), (2, &("cli:tester".to_owned(), id.to_owned())));
}

#[tokio::test]
async fn an_import_that_was_killed_goes_on_where_it_was() {
    let world = World::new().await;
    world.merchant("acme").await;
    let lines = lines(1_800);
    let mut child = importing(&world.database, &lines[..1_200].concat(), 500).await;
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let (orders, snapshots, done, state) = stored(&world.database).await;
    assert!((500..=1_200).contains(&done) && state == "running", "{done} {state}");
    assert_eq!((orders, snapshots), (done, done), "exactly the lines counted as done are stored");

    let output = String::from_utf8(output.stderr).unwrap();
    let id = output.split_once("--resume ").unwrap().1.trim();
    let file = TempFile::new(&lines.concat());
    let mut connection = world.database.connect().await;
    // The killed run could not release its lease; pretend that the lease has expired.
    sqlx::query("update order_import set leased_until = started_at").execute(&mut connection).await.unwrap();
    let resumed = out(&backhaul(&world.database, &["orders", "import", file.path(), "--merchant", "acme", "--resume", id]));
    assert_eq!(resumed, "1800 lines: 1800 orders created, 0 updated, 0 unchanged, 0 stale.\n");
    assert_eq!(stored(&world.database).await, (1_800, 1_800, 1_800, "done".to_owned()), "no order is lost, and no line is taken twice");
}

#[tokio::test]
async fn an_import_that_is_stopped_says_how_to_go_on() {
    let world = World::new().await;
    world.merchant("acme").await;
    let lines = lines(700);
    let mut child = importing(&world.database, &lines[..601].concat(), 500).await;
    // Keep the input open, so that the signal ends the import.
    let input = child.stdin.take();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = err(&child.wait_with_output().unwrap());
    drop(input);
    let (before, id) = output.rsplit_once("resume it with\n  backhaul orders import - --merchant acme --resume ").unwrap();
    assert!(before.ends_with("it was stopped by a signal. The lines stored so far are kept; "), "{output}");
    let (orders, snapshots, done, state) = stored(&world.database).await;
    assert!((500..=601).contains(&done) && state == "interrupted", "{done} {state}");
    assert_eq!((orders, snapshots), (done, done), "exactly the lines counted as done are stored");
    let file = TempFile::new(&lines.concat());
    let resumed = out(&backhaul(&world.database, &["orders", "import", file.path(), "--merchant", "acme", "--resume", id.trim()]));
    assert_eq!(resumed, "700 lines: 700 orders created, 0 updated, 0 unchanged, 0 stale.\n");
}

/// The most memory that the process has used, in megabytes.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn an_import_takes_little_memory_however_large_it_is() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let served = Served::start(command(&world.database).arg("serve"));
    // The service uses the machine's clock, so it must issue the token itself.
    let credentials = merchant.credentials();
    let answer = world.client.post(format!("{}/oauth/token", served.base)).json(&credentials).send().await.unwrap();
    let token: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    let (count, padding) = (2_000, "x".repeat(60_000));
    let line = |at: usize| {
        let mut order = order(&format!("{at:04}"));
        order["padding"] = padding.as_str().into();
        format!("{order}\n")
    };
    let length = count * line(0).len();
    assert!(length > 120_000_000);
    let mut stream = TcpStream::connect(served.base.trim_start_matches("http://")).await.unwrap();
    let head = format!(
        "POST /v1/order_imports HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Type: application/jsonl\r\nContent-Length: {length}\r\n\r\n",
        token["access_token"].as_str().unwrap()
    );
    let before = peak_memory(served.child.id());
    stream.write_all(head.as_bytes()).await.unwrap();
    for at in 0..count {
        stream.write_all(line(at).as_bytes()).await.unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"created\":2000,"), "{answer}");
    // A file held in memory would take more than twice its size.
    let grown = peak_memory(served.child.id()) - before;
    assert!(grown < 60, "{grown} MB");
}
