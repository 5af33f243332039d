//! The page for engineers who receive messages: each of its samples accepts genuine signatures and nothing else.

/// The page's sample in Rust, unchanged.
mod verify;

use std::io::Write as _;
use std::process::{Command, Stdio};

use chrono::TimeDelta;
use sandbox::merchant::Received;

use crate::world::World;
use crate::world::receiver::PATH;

const PAGE: &str = include_str!("../../../../../docs/receiving.md");

/// The page's sample in `language`.
fn sample(language: &str) -> &'static str {
    let (_, after) = PAGE.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("the page has no sample in {language}"));
    after.split_once("```").unwrap().0
}

/// A message as a merchant's system receives it.
#[derive(Clone)]
struct Taken {
    secret: String,
    id: String,
    timestamp: String,
    signature: String,
    body: Vec<u8>,
}

impl Taken {
    fn new(secret: &str, received: &Received) -> Self {
        let header = |name| received.header(name).unwrap().to_owned();
        Self {
            secret: secret.to_owned(),
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
            body: received.body().to_vec(),
        }
    }

    /// Runs `program` with the sample as its last argument; true if it accepts the message.
    fn accepted_by(&self, program: &str, arguments: &[&str], sample: &str) -> bool {
        let mut running = Command::new(program)
            .args(arguments)
            .arg(sample)
            .env("WEBHOOK_SECRET", &self.secret)
            .env("WEBHOOK_ID", &self.id)
            .env("WEBHOOK_TIMESTAMP", &self.timestamp)
            .env("WEBHOOK_SIGNATURE", &self.signature)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}; `make setup` installs it"));
        // A sample that refuses because of the timestamp does not read the body.
        let _ = running.stdin.take().unwrap().write_all(&self.body);
        let ended = running.wait_with_output().unwrap();
        assert!(ended.stderr.is_empty(), "{program}: {}", String::from_utf8_lossy(&ended.stderr));
        ended.status.success()
    }

    fn accepted_in(&self, language: &str) -> bool {
        match language {
            "bash" => self.accepted_by("bash", &["-c"], sample(language)),
            "python" => self.accepted_by("python3", &["-c"], sample(language)),
            "typescript" => self.accepted_by("node", &["--input-type=module", "-e"], sample(language)),
            "rust" => {
                let headers = [("webhook-id", &self.id), ("webhook-timestamp", &self.timestamp), ("webhook-signature", &self.signature)];
                let headers = headers.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
                verify::verify(&self.secret, &headers, &self.body)
            }
            other => panic!("the page has a sample in {other}; say here how it is run"),
        }
    }
}

#[test]
fn the_pages_sample_in_rust_is_the_one_that_is_tested() {
    assert_eq!(sample("rust"), include_str!("receiving/verify.rs"));
}

#[tokio::test]
async fn every_sample_of_the_page_accepts_what_is_really_signed_and_nothing_else() {
    let world = World::new().await;
    // The samples check the timestamp, so this node uses the system clock.
    let node = world.node_with_a_clock_wrong_by(TimeDelta::zero()).await;
    store::messages::partitions::make(node.app.cell(), node.app.now() - TimeDelta::days(1), 3).await.unwrap();
    let receiver = node.receiver("acme").await;
    let new = backhaul::flow::messages::configure_endpoint::rotate_secret(
        &node.app,
        "test",
        receiver.merchant,
        domain::messages::message::Interface::Rma,
    )
    .await
    .unwrap();
    receiver.is_owed("R-1 ünïcode", 1).await;
    node.deliver_all_due().await;
    let request = receiver.systems.received_at(PATH).remove(0);
    let former = Taken::new(&receiver.secret, &request);
    let current = Taken::new(secrecy::ExposeSecret::expose_secret(&new), &request);
    let altered = Taken { body: [former.body.as_slice(), b" "].concat(), ..former.clone() };
    let foreign = Taken { secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned(), ..former.clone() };
    let renamed = Taken { id: "another".to_owned(), ..former.clone() };
    let old = Taken { timestamp: (node.app.now().timestamp() - 3_600).to_string(), ..former.clone() };
    let languages: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("```")).filter(|language| !language.is_empty()).collect();
    assert_eq!(languages, ["bash", "python", "typescript", "rust"]);
    for language in languages {
        for (what, message, right) in [
            ("signed with the former secret", &former, true),
            ("signed with the current secret", &current, true),
            ("altered", &altered, false),
            ("of another secret", &foreign, false),
            ("of another id", &renamed, false),
            ("of another time", &old, false),
        ] {
            assert_eq!(message.accepted_in(language), right, "{language}: {what}");
        }
    }
}
