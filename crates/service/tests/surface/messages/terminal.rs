//! A terminal obeys some characters. What merchants' systems and callers wrote never gives it orders.

use sandbox::merchant::Answer;
use serde_json::Value;

use crate::binary::{backhaul, command};
use crate::world::World;
use crate::world::receiver::PATH;

/// Clears the screen, sets the title, goes back over the line, and turns the direction of writing, with seven bits and with eight.
const ORDERS: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{8}\u{9b}31m\u{7f}\u{202e}paid";

/// True if a terminal takes this text as text.
fn is_text(text: &str) -> bool {
    text.chars()
        .all(|letter| letter == '\n' || !(letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')))
}

#[tokio::test]
async fn what_others_wrote_gives_a_terminal_no_orders() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::status(500).body(ORDERS.to_owned()));
    world.owe(receiver.merchant, &format!("R-{ORDERS}"), 1).await;
    world.deliver_all_due().await;
    let subject = format!("R-{ORDERS}");
    let id = world.database.texts("select message_id::text from message").await.pop().unwrap();
    let runs: [&[&str]; 7] = [
        &["messages", "list", "--merchant", "acme"],
        &["messages", "list", "--merchant", "acme", "-o", "json"],
        &["messages", "show", "--merchant", "acme", &id],
        &["messages", "show", "--merchant", "acme", &id, "-o", "json"],
        &["returns", "show", "--merchant", "acme", &subject],
        &["merchant", "show", &subject],
        &["endpoint", "test", "--merchant", "acme", "rma"],
    ];
    for words in runs {
        let mut command = command(&world.database);
        let output = command.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#).args(words).output().unwrap();
        for shown in [output.stdout, output.stderr] {
            let shown = String::from_utf8(shown).unwrap();
            assert!(is_text(&shown), "{words:?} shows {shown:?}");
        }
    }
    // For scripts, the escaped text is the same text.
    let json = backhaul(&world.database, &["messages", "list", "--merchant", "acme", "-o", "json"]).stdout;
    let listed: Value = serde_json::from_slice(&json).unwrap();
    assert!(listed.to_string().contains("owned"), "{listed}");
    assert!(listed["items"].as_array().unwrap().iter().any(|message| message["subject"] == subject), "{listed}");
}
