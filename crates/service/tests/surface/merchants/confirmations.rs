//! Commands that hurt say first what they do, and take a confirmation: typed at a terminal, or `--yes`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use domain::merchants::operator::Role;
use serde_json::json;

use crate::binary::{backhaul, command, err, out};
use crate::merchants::operator_api::problem;
use crate::world::World;

/// Runs its arguments at a terminal of their own, whose output and exit code become those of this program.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// Runs `command` at a terminal where somebody types a line. Returns what the terminal shows, and whether the command succeeded.
pub fn at_a_terminal(command: &Command, typed: &str) -> (String, bool) {
    let mut terminal = Command::new("python3");
    terminal.args(["-c", TERMINAL]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    let child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    writeln!(child.stdin.as_ref().unwrap(), "{typed}").unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

/// Every command that asks, with the word that confirms it and a part of its preview.
fn dangerous(rma: &str, client_id: &str, message: &str) -> Vec<(Vec<String>, String, &'static str)> {
    let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let of = |line: String, word: &str, preview| (words(&line), word.to_owned(), preview);
    vec![
        of("endpoint rotate-secret --merchant acme rma".to_owned(), "acme", "signed with the present secret too for 24 hours"),
        of("endpoint remove --merchant acme rma".to_owned(), "acme", "1 message that is owed to it goes to the failure queue"),
        of(format!("failures discard --merchant acme {message}"), "acme", "It is never delivered"),
        of(format!("returns cancel --merchant acme {rma}"), rma, "releases 1 unit of the order A-1"),
        of("carrier rotate-secret --merchant acme".to_owned(), "acme", "taken for 24 hours more"),
        of("carrier remove --merchant acme".to_owned(), "acme", "labels still to be bought wait"),
        of("shopper erase --merchant acme --order A-2".to_owned(), "A-2", "in the order A-2 of acme"),
        of(format!("credential revoke --merchant acme {client_id}"), "acme", "No other credential is left"),
        of("merchant pause acme".to_owned(), "acme", "refused with 403 within 5 seconds"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hurts_is_previewed_and_takes_a_word_or_yes() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.sells("A-2", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    // The program uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    let mut account = command(&world.database);
    account.env("BACKHAUL_CARRIER_KEY", "EZTK-1").args(["carrier", "set", "--merchant", "acme", "--url", "https://api.easypost.com"]);
    out(&account.args(["--destination", "Acme; 1 Dock St; Troy; NY; 12180; US"]).output().unwrap());
    let message = world.database.texts("select message_id::text from message where kind = 'rma'").await.remove(0);
    let changes = "select count(*)::text from audit";
    let before = world.database.texts(changes).await;
    for (words, word, preview) in dangerous(&rma, &shop.merchant.client_id, &message) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // A message is not in the failure queue before its endpoint is removed.
        if words[..2] == ["failures", "discard"] {
            continue;
        }
        let refused = err(&backhaul(&world.database, &words));
        assert!(refused.contains(preview) && refused.contains("give --yes to go ahead"), "{words:?}: {refused}");
        let (shown, done) = at_a_terminal(command(&world.database).args(&words), "yes");
        assert!(!done && shown.contains(&format!("Type {word} to confirm:")), "{words:?}: {shown}");
        assert!(shown.contains("nothing was changed"), "{words:?}: {shown}");
    }
    assert_eq!(world.database.texts(changes).await, before, "nothing was done without a confirmation");
    for (at, (words, word, _)) in dangerous(&rma, &shop.merchant.client_id, &message).into_iter().enumerate() {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if at % 2 == 0 {
            let (shown, done) = at_a_terminal(command(&world.database).args(&words), &word);
            assert!(done, "{words:?}: {shown}");
        } else {
            words.push("--yes");
            out(&backhaul(&world.database, &words));
            // A deliverer gives up what a removed endpoint was owed.
            if words[..2] == ["endpoint", "remove"] {
                world.deliver_all_due().await;
            }
        }
    }
    assert_eq!(world.database.texts("select (paused_at is not null)::text from merchant").await, ["true"]);
}

#[tokio::test]
async fn a_script_gets_the_preview_as_a_question_and_says_yes() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let manager = world.script(Role::Manager).await;
    let revoke = |yes: bool| json!({ "merchant": "acme", "client_id": merchant.client_id, "yes": yes });
    let asked = manager.calls("credential/revoke", &revoke(false)).await;
    assert!(problem(&asked, 409).contains("send the same request with `yes`"), "{}", asked.text);
    assert!(asked.body["question"].as_str().unwrap().contains("locked out until you issue one"), "{}", asked.text);
    manager.does("credential/revoke", &revoke(true)).await;
}
