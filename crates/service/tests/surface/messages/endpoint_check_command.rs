//! The check of endpoints on the command line and in the console.

use domain::merchants::operator::Role;
use sandbox::merchant::{Careful, Demand, Flaw};
use serde_json::Value;

use crate::binary::{command, err, out};
use crate::merchants::console_merchants::actor;
use crate::world::World;
use crate::world::console::between;

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_reports_and_ends_with_what_it_found() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let check = |words: &[&str]| {
        let mut command = command(&world.database);
        command.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#);
        command.args([&["endpoint", "check", "--merchant", "acme"], words].concat()).output().unwrap()
    };
    let careful = || Careful::new(&receiver.secret, Demand::Nothing);
    receiver.systems.receives("/", careful());
    let passed = check(&[]);
    assert!(String::from_utf8_lossy(&passed.stderr).contains("rma after"), "{passed:?}");
    let report = out(&passed);
    assert!(report.contains("passed          Wrong signature refused  A message with a wrong signature was refused: 401."), "{report}");
    assert!(report.contains("not applicable  Credentials              No credentials are set for this endpoint."), "{report}");

    receiver.systems.receives("/", careful().with(Some(Flaw::IgnoresSignatures)));
    let failed = check(&["--interface", "rma"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(err(&failed).contains("error: not fit to go live: rma; the report says what to do"), "{failed:?}");
    let report = String::from_utf8(failed.stdout).unwrap();
    assert!(report.contains("failed          Wrong signature refused  A message with a wrong signature was accepted: 200."), "{report}");
    assert!(report.contains("Why it matters: The signature proves") && report.contains("What to do: Compute the signature"), "{report}");

    let json: Value = serde_json::from_slice(&check(&["-o", "json"]).stdout).unwrap();
    let checks = json[0]["checks"].as_array().unwrap();
    assert_eq!((checks.len(), &checks[5]["check"], &checks[5]["state"]), (9, &"signature".into(), &"failed".into()));
    assert!(checks[5]["next"].is_string() && checks[0]["next"].is_null(), "{json}");
    assert!(err(&check(&["--interface", "outbound_asn"])).contains("the merchant has no endpoint for outbound_asn"));
    let audit = world.database.texts("select distinct actor || ' ' || detail from audit where action = 'endpoint.checked'").await;
    assert_eq!(audit, ["cli:tester rma"]);
}

#[tokio::test]
async fn the_console_shows_what_will_be_sent_and_then_the_report() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let console = world.console(Role::Manager).await;
    for page in ["/merchants/acme/onboarding", "/merchants/acme/endpoints"] {
        assert!(console.get(page).await.page().contains(r#"href="/merchants/acme/check">Check the endpoints…"#), "{page}");
    }
    let preview = console.get("/merchants/acme/check").await.page();
    assert!(preview.contains("endpoint.test") && preview.contains(&receiver.systems.url("/rmas")), "{preview}");
    assert!(preview.contains("backhaul endpoint check --merchant acme") && !preview.contains("A variant that they know"), "{preview}");
    assert_eq!(receiver.systems.count(), 0, "a preview calls nobody");

    // By default the simulated systems accept everything.
    let report = console.post("/merchants/acme/check", &[("variant", "")]).await.page();
    assert!(report.contains("Not ready: 1 check failed.") && report.contains("The system does not verify signatures."), "{report}");
    let findings = between(&report, r#"aria-labelledby="h-found""#, "</table>");
    assert!(findings.contains("The signature proves") && findings.contains("Compute the signature"), "{findings}");
    let rows = between(&report, r#"aria-labelledby="h-all""#, "</table>");
    assert_eq!(rows.matches("Not set").count(), 7, "{rows}");
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'endpoint.checked'").await;
    assert_eq!(audit, [format!("{} rma", actor(&console))]);

    let clock = world.app.clock.clone();
    let time =
        move |_: &_| std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::try_from(clock.wall().timestamp()).unwrap());
    receiver.systems.receives("/", Careful::new(&receiver.secret, Demand::Nothing).at(time));
    let report = console.post("/merchants/acme/check", &[("variant", "")]).await.page();
    assert!(report.contains("The endpoints are fit to go live.") && !report.contains("h-found"), "{report}");
    assert!(!console.get("/merchants/acme/onboarding").await.page().contains("Not tested yet"), "it counts as tested");
    let viewer = world.console(Role::Viewer).await;
    assert!(!viewer.get("/merchants/acme/endpoints").await.page().contains("Check the endpoints"));
    world.merchant("acorn").await;
    assert_eq!(console.post("/merchants/acorn/check", &[("variant", "")]).await.status, 422);
}
