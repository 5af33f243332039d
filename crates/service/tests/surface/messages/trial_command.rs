//! `backhaul endpoint test`, run as a program beside a service that delivers.

use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::Value;

use crate::binary::{Served, backhaul, command, out};
use crate::world::Database;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exit_code_of_a_trial_tells_whether_it_was_accepted() {
    let database = Database::create().await;
    let systems = Systems::start().await.unwrap();
    out(&backhaul(&database, &["merchant", "add", "acme", "--name", "Acme"]));
    let mut set = command(&database);
    set.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#);
    out(&set.args(["endpoint", "set", "--merchant", "acme", "rma", "--url", &systems.url("/rmas")]).output().unwrap());
    let served = Served::start(command(&database).env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#).arg("serve"));
    systems.answer_next("/rmas", [Answer::ok(), Answer::status(404), Answer::close()]);
    let trial = |expected: &str| {
        let mut test = command(&database);
        test.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#);
        let output = test.args(["endpoint", "test", "--merchant", "acme", "rma", "-o", "json"]).output().unwrap();
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shown["outcome"], expected, "{}", String::from_utf8_lossy(&output.stderr));
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(trial("200"), (true, String::new()));
    let (accepted, told) = trial("404");
    assert!(!accepted && told.contains("it answered 404, and only 2xx counts"), "{told}");
    let (accepted, told) = trial("unreachable");
    assert!(!accepted && told.contains("the trial did not arrive: the connection was closed without an answer"), "{told}");
    assert!(served.terminate().0);
}
