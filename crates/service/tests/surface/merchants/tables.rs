//! What people see at a terminal fits it, whichever command prints it.

use std::fmt::Write as _;
use std::time::Duration;

use super::json_output::{answer_to_terminal, every_command};
use crate::binary::{command, err, out};
use crate::world::World;

/// The time between two commands, so that lists tell ages and ids differ early.
const BETWEEN: Duration = Duration::from_mins(1);
/// What is written for other programs or as a whole page is not laid out.
const AS_IT_IS: [&str; 3] = ["brand/show", "shopper/export", "mails/read"];

/// What it tells is not the same each time: the address and the size of a database.
const OF_THIS_MACHINE: [&str; 1] = ["cell/list"];

/// True if the line has nothing to break: one word after the name of a field.
fn is_one_word(line: &str) -> bool {
    line.split_whitespace().count() <= 2
}

/// A seed of the command's own. Ids and secrets that it makes are then the same whatever was called before it.
fn seed(path: &str) -> u64 {
    path.bytes().fold(7, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Everything that every command says on a terminal of so many columns, in a world that is the same each time: its clock, its ids and
/// its secrets.
async fn texts(world: World, columns: usize) -> String {
    let (script, calls) = every_command(&world).await;
    let mut texts = String::new();
    for (path, reads, parameters) in &calls {
        world.time_passes(BETWEEN);
        world.app.entropy.reseed(seed(path));
        let shape = format!("output=table;columns={columns}");
        let answer = answer_to_terminal(&shape, &script, path, *reads, parameters).await;
        let text = |name: &str| answer[name].as_str().unwrap_or_default().trim_end().to_owned();
        let out = text("out");
        let wide: Vec<&str> = out.lines().filter(|line| line.chars().count() > columns && !is_one_word(line)).collect();
        assert!(wide.is_empty() || AS_IT_IS.contains(path), "{path} at {columns} columns: {wide:#?}\n{out}");
        if OF_THIS_MACHINE.contains(path) {
            continue;
        }
        writeln!(texts, "== {} {parameters}", path.replace('/', " ")).unwrap();
        for (name, text) in [("", out), ("note: ", text("notes")), ("asks: ", text("question")), ("error: ", text("error"))] {
            if !text.is_empty() {
                writeln!(texts, "{name}{text}").unwrap();
            }
        }
        texts.push('\n');
    }
    texts
}

#[tokio::test]
async fn every_command_looks_as_written_down_at_80_columns() {
    insta::assert_snapshot!(texts(World::of_one_cell().await, 80).await);
}

#[tokio::test]
async fn every_command_looks_as_written_down_at_120_columns() {
    insta::assert_snapshot!(texts(World::of_one_cell().await, 120).await);
}

/// Where there are several cells, some commands tell which one.
#[tokio::test]
async fn every_command_fits_a_terminal_whatever_cells_there_are() {
    assert!(!texts(World::new().await, 80).await.is_empty());
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
