//! What people see at a terminal fits it, whichever command prints it.

use super::json_output::{every_command, printed_as};
use crate::binary::{command, err, out};
use crate::world::World;

/// True if the line has nothing to break: one word after the name of a field.
fn is_one_word(line: &str) -> bool {
    line.split_whitespace().count() <= 2
}

#[tokio::test]
async fn every_command_fits_80_and_120_columns() {
    for columns in [80, 120] {
        let world = World::new().await;
        let (script, calls) = every_command(&world).await;
        for (path, reads, parameters) in &calls {
            let shape = format!("output=table;columns={columns}");
            let Some(text) = printed_as(&shape, &script, path, *reads, parameters).await else { continue };
            // What is written for other programs or as a whole page is not laid out.
            if ["brand/show", "shopper/export", "mails/read"].contains(path) {
                continue;
            }
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > columns && !is_one_word(line)).collect();
            assert!(wide.is_empty(), "{path} at {columns} columns: {wide:#?}\n{text}");
        }
    }
}

#[tokio::test]
async fn a_list_tells_ages_and_short_ids_that_commands_take() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    let ids = world.database.texts("select message_id::text from message where kind = 'rma'").await;
    let run = |columns: &str, words: &[&str]| {
        let mut command = command(&world.database);
        out(&command.args(words).env("COLUMNS", columns).env("BACKHAUL_MERCHANT", "acme").output().unwrap())
    };
    let listed = run("80", &["messages", "list"]);
    let short = listed.lines().nth(1).unwrap().split_whitespace().next().unwrap();
    assert!(short.len() < 36 && ids[0].starts_with(short), "{listed}");
    assert!(run("80", &["messages", "show", short]).contains(&ids[0]), "the short one is enough");
    let whole = out(&command(&world.database).args(["messages", "list", "--merchant", "acme"]).output().unwrap());
    assert!(whole.contains(&ids[0]) && !whole.contains(" ago"), "{whole}");
    let written = world.app.now().format("%Y-%m-%dT%H").to_string();
    assert!(!run("200", &["messages", "list"]).contains(&written), "ages for people");
    assert!(run("200", &["messages", "list", "--utc"]).contains(&written), "times on demand");
    let nothing = command(&world.database).args(["messages", "show", "ffffffff-ffff", "--merchant", "acme"]).output().unwrap();
    assert!(err(&nothing).contains("the merchant has no message whose id begins with ffffffff-ffff"));
    let too_short = command(&world.database).args(["messages", "show", "ffff", "--merchant", "acme"]).output().unwrap();
    assert!(String::from_utf8_lossy(&too_short.stderr).contains("at least its first 13 characters"));
}
