//! `backhaul operator`, and commands in the name of an operator.

use crate::binary::{backhaul, err, out};
use crate::world::World;

#[tokio::test]
async fn operators_are_managed_on_the_command_line() {
    let world = World::new().await;
    let run = |words: &[&str]| backhaul(&world.database, words);
    assert!(out(&run(&["operator", "list"])).contains("There are no operators."));
    let added = out(&run(&["operator", "add", "Admin.One@ops.example.com", "--name", "Admin One", "--role", "admin"]));
    assert!(added.contains("admin.one@ops.example.com") && added.contains("/invitation/"), "{added}");
    assert!(err(&run(&["operator", "add", "admin.one@ops.example.com", "--name", "Again", "--role", "viewer"])).contains("already"));
    assert!(err(&run(&["operator", "add", "x", "--name", "X", "--role", "viewer"])).contains("e-mail address"));
    assert!(err(&run(&["operator", "add", "x@example.com", "--name", "X", "--role", "root"])).contains("a role must be one of"));
    out(&run(&["operator", "add", "support.one@ops.example.com", "--name", "Support One", "--role", "support"]));
    assert!(err(&run(&["operator", "disable", "admin.one@ops.example.com"])).contains("is the only administrator"));
    assert!(out(&run(&["operator", "set", "support.one@ops.example.com", "--role", "manager"])).contains("has the role manager"));
    assert!(out(&run(&["operator", "disable", "support.one@ops.example.com"])).contains("is disabled and signed out"));
    assert!(err(&run(&["operator", "reset", "support.one@ops.example.com"])).contains("is disabled; enable them first"));
    assert!(out(&run(&["operator", "enable", "support.one@ops.example.com"])).contains("is enabled, with the role manager"));
    assert!(out(&run(&["operator", "reset", "support.one@ops.example.com"])).contains("/invitation/"));
    assert!(err(&run(&["operator", "set", "nobody@ops.example.com", "--role", "viewer"])).contains("there is no operator"));
    let list = out(&run(&["operator", "list"]));
    assert!(list.contains("manager") && list.contains("invited"), "{list}");
    let roles = out(&run(&["operator", "roles"]));
    assert!(["viewer", "support", "manager", "admin"].iter().all(|role| roles.contains(role)), "{roles}");
    let audit = world.database.texts("select distinct actor from home_audit").await;
    assert_eq!(audit, ["cli:tester"]);
}

#[tokio::test]
async fn a_command_runs_in_the_name_of_an_operator() {
    let world = World::new().await;
    let run = |words: &[&str]| backhaul(&world.database, words);
    out(&run(&["operator", "add", "manager.one@ops.example.com", "--name", "Manager One", "--role", "manager"]));
    out(&run(&["merchant", "add", "acme", "--name", "Acme", "--as", "Manager.One@ops.example.com"]));
    assert_eq!(
        world.database.texts("select actor from audit where action = 'merchant.added'").await,
        ["operator:manager.one@ops.example.com via cli:tester"]
    );
    let unknown = err(&run(&["merchant", "pause", "acme", "--as", "nobody@ops.example.com"]));
    assert!(unknown.contains("there is no operator nobody@ops.example.com"), "{unknown}");
    out(&run(&["operator", "disable", "manager.one@ops.example.com"]));
    let disabled = err(&run(&["merchant", "pause", "acme", "--as", "manager.one@ops.example.com"]));
    assert!(disabled.contains("is disabled"), "{disabled}");
    assert_eq!(world.database.texts("select count(*)::text from audit where action = 'merchant.paused'").await, ["0"]);
}
