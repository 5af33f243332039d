//! `backhaul portal …`, run as a program, and the shops that pages get.

use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::{backhaul, command, err, out};
use crate::world::World;

fn portal(world: &World, verb: &str, merchant: &str, words: &[&str]) -> Output {
    backhaul(&world.database, &[&["portal", verb, "--merchant", merchant], words].concat())
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&out(output)).unwrap()
}

#[tokio::test]
async fn a_portal_is_set_shown_and_audited() {
    let world = World::new().await;
    world.merchant("acme").await;
    let defaults = json!({
        "merchant": "acme", "address": "/r/acme", "shop_name": "A merchant", "help_email": null, "time_zone": "UTC",
        "number_prefix": null, "transit_days": 7, "hosts": [], "exempt": [],
    });
    assert_eq!(json_of(&portal(&world, "show", "acme", &["-o", "json"])), defaults);
    let words = [
        "--shop-name",
        "Acme Shoes",
        "--help-email",
        "help@example.com",
        "--time-zone",
        "Europe/Berlin",
        "--number-prefix",
        "AC-",
        "--host",
        "Returns.ACME.example.",
        "--host",
        "rücksendung.example",
        "--transit-days",
        "3",
        "--exempt",
        "made-to-order=Custom",
        "-o",
        "json",
    ];
    let set = json_of(&portal(&world, "set", "acme", &words));
    let mut expected = json!({
        "merchant": "acme", "address": "/r/acme", "shop_name": "Acme Shoes", "help_email": "help@example.com",
        "time_zone": "Europe/Berlin", "number_prefix": "AC-", "hosts": ["returns.acme.example", "xn--rcksendung-9db.example"],
        "transit_days": 3, "exempt": ["made_to_order=custom"],
    });
    assert_eq!(set, expected);
    let table = out(&portal(&world, "show", "acme", &[]));
    assert!(table.contains("hosts          returns.acme.example, xn--rcksendung-9db.example\n"), "{table}");

    // What is left out stays; what is empty has its default again; a host that is there stays.
    let set = portal(&world, "set", "acme", &["--help-email", "", "--host", "returns.acme.example", "-o", "json"]);
    expected["help_email"] = Value::Null;
    assert_eq!(json_of(&set), expected);
    assert!(out(&portal(&world, "remove-host", "acme", &["RETURNS.acme.example"])).contains("no longer leads to the portal of acme"));
    let again = err(&portal(&world, "remove-host", "acme", &["returns.acme.example"]));
    assert!(again.contains("the merchant has no host name returns.acme.example; `backhaul portal show"), "{again}");
    let audit = "select actor || ' ' || action || ' ' || detail from audit where action like 'portal.%' order by audit_id";
    assert_eq!(
        world.database.texts(audit).await,
        [
            "cli:tester portal.changed shop_name: Acme Shoes; help_email changed; time_zone: Europe/Berlin; number_prefix: AC-; \
         transit_days: 3; exempt made_to_order=custom; host returns.acme.example; host xn--rcksendung-9db.example",
            "cli:tester portal.changed no help_email; host returns.acme.example",
            "cli:tester portal.host_removed returns.acme.example",
        ]
    );
}

#[tokio::test]
async fn a_portal_that_is_set_wrongly_stays_as_it_is() {
    let world = World::new().await;
    world.merchant("acme").await;
    let before = out(&portal(&world, "show", "acme", &[]));
    let long = "x".repeat(101);
    for (words, why) in [
        (&[][..], "no change was given; `backhaul portal set --help` lists the options"),
        (&["--help-email", "help at example.com"], "`help at example.com` is not an e-mail address, such as help@example.com"),
        (&["--time-zone", "Berlin"], "write a time zone as the IANA database names it, such as Europe/Berlin"),
        (&["--shop-name", &long], "a shop's name must have at most 100 characters"),
        (&["--shop-name", "Acme\u{7}"], "no control characters"),
        (&["--number-prefix", "A C"], "must have at most 20 characters, and no spaces"),
        (&["--host", "https://returns.acme.example"], "a host name must look like returns.example.com"),
        (&["--host", "localhost"], "at least one dot"),
        (&["--shop-name", "Acme", "--host", "192.0.2.1"], "a host name must look like returns.example.com"),
    ] {
        let refused = err(&portal(&world, "set", "acme", words));
        assert!(refused.contains(why), "{words:?}: {refused}");
    }
    assert_eq!(out(&portal(&world, "show", "acme", &[])), before);
    assert!(err(&portal(&world, "show", "nobody", &[])).contains("there is no merchant `nobody`"));
}

#[tokio::test]
async fn a_host_name_leads_to_one_merchant_only() {
    let world = World::new().await;
    world.merchant("acme").await;
    world.merchant("bolt").await;
    out(&portal(&world, "set", "acme", &["--host", "returns.example.com"]));
    let refused = err(&portal(&world, "set", "bolt", &["--shop-name", "Bolt", "--host", "a.example", "--host", "Returns.Example.com"]));
    assert!(refused.contains("the host name returns.example.com leads to another merchant's portal already; remove it there first"));
    assert!(!refused.contains("acme"), "the other merchant is not named: {refused}");
    let hosts = "select merchant.handle || ' ' || host from portal_host join merchant using (merchant_id) order by 1";
    assert_eq!(world.database.texts(hosts).await, ["acme returns.example.com"], "nothing of the change was kept");
    assert!(out(&portal(&world, "show", "bolt", &[])).contains("A merchant"));
    assert!(err(&portal(&world, "remove-host", "bolt", &["returns.example.com"])).contains("the merchant has no host name"));

    out(&portal(&world, "remove-host", "acme", &["returns.example.com"]));
    out(&portal(&world, "set", "bolt", &["--host", "returns.example.com"]));
    assert_eq!(world.database.texts(hosts).await, ["bolt returns.example.com"]);
}

#[tokio::test]
async fn a_page_gets_the_shop_with_its_defaults_and_follows_changes() {
    let world = World::new().await;
    let acme = world.merchant("acme").await.id;
    let find = async |handle: &str| world.app.shops.find_by_handle(&world.app, handle).await.unwrap();
    for nobody in ["nobody", "", "Not A Handle", "../acme"] {
        assert!(find(nobody).await.is_none(), "{nobody}");
    }
    let shop = find("acme").await.unwrap();
    assert_eq!((shop.merchant.id, &*shop.name, shop.zone, &shop.help_email), (acme, "A merchant", chrono_tz::Tz::UTC, &None));
    out(&portal(&world, "set", "acme", &["--shop-name", "Acme Shoes", "--time-zone", "America/New_York"]));
    out(&backhaul(&world.database, &["merchant", "pause", "acme", "--yes"]));
    assert_eq!(find("acme").await.unwrap().name, "A merchant", "remembered for a moment");
    world.time_passes(Duration::from_secs(4));
    let shop = find("acme").await.unwrap();
    assert_eq!((&*shop.name, shop.zone), ("Acme Shoes", chrono_tz::Tz::America__New_York));
    assert!(shop.merchant.paused_at.is_some(), "a paused merchant is found too");
    sqlx::raw_sql("update portal_setting set time_zone = 'Atlantis/Capital'").execute(&mut world.database.connect().await).await.unwrap();
    world.time_passes(Duration::from_secs(4));
    let failed = world.app.shops.find_by_handle(&world.app, "acme").await.unwrap_err();
    assert!(failed.to_string().contains("a stored time zone is unknown"), "{failed}");
}

#[tokio::test]
async fn an_operator_makes_a_link_to_an_order_and_the_audit_says_so() {
    let world = World::new().await;
    world.merchant("acme").await.sells("A-1", 1).await;
    let link = |words: &[&str]| {
        let words = [&["portal", "link", "--merchant", "acme", "-o", "json"], words].concat();
        command(&world.database).env("BACKHAUL__PORTAL__URL", "https://returns.example.com").args(words).output().unwrap()
    };
    let made = json_of(&link(&["A-1", "--support", "Kim Example"]));
    let url = made["url"].as_str().unwrap();
    assert!(url.starts_with("https://returns.example.com/r/acme/m/") && made["expires_at"].as_str().unwrap().ends_with('Z'), "{made}");
    link(&["A-1"]);
    let audit = "select actor || ' ' || action || ' ' || detail from audit where action like 'portal.%' order by audit_id";
    assert_eq!(world.database.texts(audit).await, ["cli:tester portal.link_made A-1"; 2]);
    let names = "select coalesce(support_name, '-') from portal_link order by 1";
    assert_eq!(world.database.texts(names).await, ["-", "Kim Example"]);

    assert!(err(&link(&["A-2"])).contains("the merchant has no such order"));
    assert!(err(&link(&["A-1", "--support", " "])).contains("a name must have 1 to 100 characters, and no control characters"));
    let unset = err(&portal(&world, "link", "acme", &["A-1"]));
    assert!(unset.contains("set `portal.url`, or a host name with `backhaul portal set --host`"), "{unset}");
    out(&backhaul(&world.database, &["merchant", "pause", "acme", "--yes"]));
    assert!(err(&link(&["A-1"])).contains("`backhaul merchant resume` ends the pause"));
    assert_eq!(world.database.count("portal_link").await, 2);
}
