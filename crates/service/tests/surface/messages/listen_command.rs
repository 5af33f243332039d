//! `backhaul listen`: messages come to a server on the same machine, signed, in order, each at least once, over restarts and outages.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use domain::messages::message::Interface;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::Value;

use crate::binary::err;
use crate::world::{Merchant, World};

const PATH: &str = "/webhooks";
/// The longest wait for something to happen.
const SOON: Duration = Duration::from_secs(30);

/// A merchant's engineer at a laptop, with a credential and no database.
struct Laptop<'w> {
    merchant: &'w Merchant<'w>,
    /// The directory of the state files.
    state: PathBuf,
}

impl<'w> Laptop<'w> {
    fn of(merchant: &'w Merchant<'w>) -> Self {
        let port = merchant.world.base.rsplit(':').next().unwrap();
        Self { merchant, state: std::env::temp_dir().join(format!("backhaul-listen-{}-{port}", std::process::id())) }
    }

    fn listens(&self, url: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backhaul"));
        command.env_clear().env("XDG_STATE_HOME", &self.state);
        command.env("BACKHAUL_API", &self.merchant.world.base);
        command.env("BACKHAUL_CLIENT_ID", &self.merchant.client_id).env("BACKHAUL_CLIENT_SECRET", &self.merchant.client_secret);
        command.args(["listen", "--forward-to", url]);
        command
    }
}

impl Drop for Laptop<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.state);
    }
}

/// A running `backhaul listen`, ended with the test.
struct Listening {
    child: Child,
    lines: Receiver<String>,
}

impl Listening {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).for_each(|line| _ = sender.send(line)));
        Self { child, lines }
    }

    /// The next line with this word, which is waited for.
    fn says(&self, word: &str) -> String {
        let mut before = Vec::new();
        loop {
            let line = self.lines.recv_timeout(SOON).unwrap_or_else(|_| panic!("no line with {word} after\n{}", before.join("\n")));
            if line.contains(word) {
                return line;
            }
            before.push(line);
        }
    }

    /// Ends it as Ctrl-C does, and returns its last words.
    fn ends(mut self) -> String {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(self.child.wait().unwrap().success(), "it ends cleanly");
        self.lines.iter().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_are_forwarded_signed_and_a_restart_continues_where_the_last_run_stopped() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (laptop, systems) = (Laptop::of(&merchant), Systems::start().await.unwrap());
    let first = world.owe(merchant.id, "R-1", 1).await.to_string();
    let url = systems.url(PATH);

    let listening = Listening::start(laptop.listens(&url).args(["--since", "beginning"]));
    let secret = listening.says("signing secret").split_whitespace().last().unwrap().to_owned();
    let line = listening.says("rma.created");
    assert!(line.contains("R-1") && line.contains(" 200 ") && line.ends_with(" ms"), "{line}");
    let received = &systems.wait_for_at(PATH, 1, SOON).await.unwrap()[0];
    assert_eq!(received.verify(&secret, SystemTime::now()), Ok(()));
    let page = merchant.reads("").await;
    assert_eq!((received.message_id(), received.json()), (Some(first.as_str()), page.body["items"][0]["body"].clone()));
    let header = |name: &str| received.header(name).unwrap().to_owned();
    let told = ["x-service-event", "x-service-sequence", "x-service-attempt", "x-service-api-version"].map(header);
    assert_eq!(told, ["rma.created", "1", "1", Interface::Rma.version()]);
    // Live.
    let second = world.owe(merchant.id, "R-1", 2).await.to_string();
    listening.says("rma.created");
    let ended = listening.ends();
    assert!(ended.contains("2 messages forwarded. The next start continues after the last one."), "{ended}");

    let third = world.owe(merchant.id, "R-2", 1).await.to_string();
    let again = Listening::start(&mut laptop.listens(&url));
    assert!(again.says("Forwarding").contains("from where the last run stopped"));
    assert!(again.says("signing secret").ends_with(&secret), "the secret stays");
    again.says("R-2");
    assert!(again.ends().contains("1 message forwarded."));
    let ids: Vec<String> = systems.received_at(PATH).iter().map(|received| received.message_id().unwrap().to_owned()).collect();
    assert_eq!(ids, [first, second, third], "each once, in order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_down_is_waited_for_and_one_that_fails_is_asked_again() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (laptop, systems) = (Laptop::of(&merchant), Systems::start().await.unwrap());
    let (address, url) = (systems.address(), systems.url(PATH));
    systems.stop().await;
    for subject in ["R-1", "R-2", "R-3"] {
        world.owe(merchant.id, subject, 1).await;
    }
    let listening = Listening::start(laptop.listens(&url).args(["--since", "beginning", "--attempts", "2"]));
    let waiting = listening.says("cannot be reached");
    assert!(waiting.contains(&url) && waiting.ends_with("next try in 1 s"), "{waiting}");
    let systems = Systems::start_at(address).await.unwrap();
    systems.answer_next(PATH, [Answer::status(500), Answer::status(200), Answer::status(404), Answer::status(422)]);
    assert!(listening.says("R-1").ends_with("attempt 1 of 2, next in 1 s"));
    assert!(listening.says("R-1").contains(" 200 "));
    assert!(listening.says("R-2").contains(" 404 "));
    assert!(listening.says("R-2").ends_with("skipped after 2 attempts"));
    assert!(listening.says("R-3").contains(" 200 "));
    let ended = listening.ends();
    assert!(ended.contains("2 messages forwarded"), "{ended}");
    let received = systems.received_at(PATH);
    let attempts: Vec<Option<u32>> = received.iter().map(sandbox::merchant::Received::attempt).collect();
    assert_eq!(attempts, [Some(1), Some(2), Some(1), Some(2), Some(1)]);
    assert_eq!((received[0].message_id(), received[0].digest()), (received[1].message_id(), received[1].digest()), "byte for byte");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_messages_that_were_asked_for_are_forwarded() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (laptop, systems) = (Laptop::of(&merchant), Systems::start().await.unwrap());
    merchant.sells("A-1", 1).await;
    let rma = merchant.starts_a_return("A-1", 1).await;
    merchant.carrier_says(&rma, "label_issued").await;
    merchant.sells("A-2", 1).await;
    let other = merchant.starts_a_return("A-2", 1).await;
    assert_eq!(merchant.cancels(&other).await.status, 200);
    let events = |command: &mut Command, last: &str| {
        let listening = Listening::start(command.args(["--since", "beginning", "-o", "json"]));
        let begun: Value = serde_json::from_str(&listening.says("forwarding")).unwrap();
        assert!(begun["signing_secret"].as_str().unwrap().starts_with("whsec_"));
        let told: Value = serde_json::from_str(&listening.says(last)).unwrap();
        assert_eq!((told["answer"].as_str(), told["next"].is_null()), (Some("200"), true), "{told}");
        listening.ends();
        let received = systems.received_at(PATH);
        systems.clear();
        let event = |received: &sandbox::merchant::Received| received.header("x-service-event").unwrap().to_owned();
        received.iter().map(event).collect::<Vec<_>>()
    };
    let url = systems.url(PATH);
    let of_two = events(laptop.listens(&url).args(["--event", "rma.created", "--event", "rma.canceled"]), "rma.canceled");
    assert_eq!(of_two, ["rma.created", "rma.created", "rma.canceled"]);
    let of_kind = events(laptop.listens(&url).args(["--event", "rma.*", "--subject", &other]), "rma.canceled");
    assert_eq!(of_kind, ["rma.created", "rma.canceled"]);
    let of_interface = events(laptop.listens(&url).args(["--interface", "rma", "--event", "rma.tracking_updated"]), "rma.tracking_updated");
    assert_eq!(of_interface, ["rma.tracking_updated"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_cannot_begin_says_what_to_do() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let laptop = Laptop::of(&merchant);
    let other_file = laptop.state.join("notes.txt");
    std::fs::create_dir_all(&laptop.state).unwrap();
    std::fs::write(&other_file, "something else").unwrap();
    let told = |change: &dyn Fn(&mut Command)| {
        let mut command = laptop.listens("http://localhost:3000");
        change(&mut command);
        err(&command.output().unwrap())
    };
    for (refused, why) in [
        (told(&|command| _ = command.env("BACKHAUL_CLIENT_SECRET", "bhs_wrong")), "gives no token"),
        (told(&|command| _ = command.env_remove("BACKHAUL_CLIENT_SECRET")), "BACKHAUL_CLIENT_SECRET is not set"),
        (told(&|command| _ = command.env("BACKHAUL_LISTEN_SECRET", "secret")), "BACKHAUL_LISTEN_SECRET is no signing secret"),
        (told(&|command| _ = command.env("BACKHAUL_API", "http://127.0.0.1:9")), "check the address, and that the service runs"),
        (told(&|command| _ = command.env("BACKHAUL_API", "http://api.example.com")), "would send the token in the clear"),
        (told(&|command| _ = command.args(["--since", "yesterday"])), "the place must be `now`, `beginning`, or a cursor"),
        (told(&|command| _ = command.arg("--state-file").arg(&other_file)), "is no state file of `backhaul listen`"),
    ] {
        assert!(refused.contains(why), "{why}: {refused}");
    }
    let posted = err(&laptop.listens("ftp://localhost/webhooks").output().unwrap());
    assert!(posted.contains("is not a URL that can be posted to"), "{posted}");
}
