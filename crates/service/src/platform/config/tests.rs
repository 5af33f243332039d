use super::*;

fn with(variables: &[(&str, &str)]) -> Result<Settings, NoSettings> {
    Settings::load(None, variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[test]
fn too_few_connections_for_all_pools_are_refused() {
    let refused = with(&[("BACKHAUL__DATABASE__CONNECTIONS", "9")]).unwrap_err().to_string();
    assert!(refused.contains("database.connections is 9, but a process needs at least 10 connections"), "{refused}");
}

#[test]
fn the_defaults_are_complete() {
    let settings = with(&[]).expect("the defaults are valid");
    assert_eq!(settings.mode, Mode::Production);
    assert_eq!(settings.database.connections.total(), 40);
}

#[test]
fn the_programs_own_variable_counts_more_than_database_url_whatever_the_order() {
    let (common, own) = (("DATABASE_URL", "postgres:///common"), ("BACKHAUL__DATABASE__URL", "postgres:///own"));
    for (variables, expected) in [
        (&[common, own][..], "postgres:///own"),
        (&[own, common], "postgres:///own"),
        (&[common], "postgres:///common"),
        (&[("DATABASE_URL", ""), own], "postgres:///own"),
    ] {
        assert_eq!(with(variables).map(|settings| settings.database.url().to_owned()).ok().as_deref(), Some(expected), "{variables:?}");
    }
    let default = with(&[]).map(|settings| settings.database.url().to_owned()).ok();
    assert_eq!(with(&[("DATABASE_URL", "")]).map(|settings| settings.database.url().to_owned()).ok(), default, "an empty one is none");
}

#[test]
fn the_environment_wins() {
    let settings = with(&[
        ("BACKHAUL__MODE", "sandbox"),
        ("BACKHAUL__DATABASE__CONNECTIONS", "10"),
        ("DATABASE_URL", "postgres:///elsewhere"),
        ("PATH", "/bin"),
    ]);
    let settings = settings.expect("settings");
    assert_eq!((settings.mode, settings.database.connections.total()), (Mode::Sandbox, 10));
    assert_eq!(settings.database.url(), "postgres:///elsewhere");
}

#[test]
fn a_misspelt_setting_is_named() {
    let error = with(&[("BACKHAUL__DATABASE__CONECTIONS", "7")]).expect_err("unknown");
    assert!(error.to_string().contains("conections"), "{error}");
}

#[test]
fn a_wrong_value_is_told_with_its_setting() {
    let error = with(&[("BACKHAUL__HTTP__CONNECTIONS", "many")]).expect_err("no number").to_string();
    assert!(error.starts_with("http.connections: "), "{error}");
}

#[test]
fn shown_settings_have_every_value_but_the_secrets() {
    let canary = |name: &str| (format!("{PREFIX}{}", name.replace('.', "__").to_uppercase()), "canary".to_owned());
    let shown = shown(None, SECRET.iter().map(|name| canary(name))).expect("settings");
    assert!(!shown.contains("canary"), "{shown}");
    assert_eq!(shown.matches("(secret, not shown)").count(), SECRET.len(), "{shown}");
    assert!(shown.contains("listen = "), "{shown}");
    let redacted = format!("{:?}", with(&[]).expect("settings")).matches("REDACTED").count();
    assert_eq!(redacted, SECRET.len(), "a new secret is hidden here too");
}

#[test]
fn trusted_proxies_are_networks() {
    let proxies = |text| with(&[("BACKHAUL__HTTP__TRUSTED_PROXIES", text)]).map(|settings| settings.http.trusted_proxies);
    let read: Vec<String> =
        proxies(r#"["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]"#).expect("networks").iter().map(ToString::to_string).collect();
    assert_eq!(read, ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"]);
    let error = proxies(r#"["somewhere"]"#).expect_err("no network");
    assert!(error.to_string().contains("`somewhere` is not a network such as 10.0.0.0/8"), "{error}");
}

#[test]
fn an_import_rests_for_the_rest_of_the_time() {
    let rest = |percent: &str| {
        let settings = with(&[("BACKHAUL__IMPORTS__PERCENT", percent)]).expect("settings");
        settings.imports.rest_after(Duration::from_millis(100)).as_millis()
    };
    assert_eq!(["100", "80", "50", "25", "1", "500"].map(rest), [0, 25, 100, 300, 9_900, 0]);
    assert_eq!(with(&[]).expect("settings").import_writers(), 3);
    assert_eq!(with(&[("BACKHAUL__DATABASE__CONNECTIONS", "10")]).expect("settings").import_writers(), 1);
}

#[test]
fn outbound_addresses_are_read() {
    let outbound = with(&[
        ("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.1:8080", "10.1.0.0/16", "hooks.internal.example:8443"]"#),
        ("BACKHAUL__OUTBOUND__NAME_SERVERS", r#"["192.0.2.53", "[2001:db8::53]:5353"]"#),
    ]);
    let outbound = outbound.expect("settings").outbound;
    let allowed: Vec<String> = outbound.allowed.iter().map(ToString::to_string).collect();
    assert_eq!(allowed, ["127.0.0.1/32:8080", "10.1.0.0/16", "hooks.internal.example:8443"]);
    let servers: Vec<String> = outbound.name_servers.iter().map(ToString::to_string).collect();
    assert_eq!(servers, ["192.0.2.53:53", "[2001:db8::53]:5353"]);
    let wrong = with(&[("BACKHAUL__OUTBOUND__ALLOWED", r#"["0x7f.1"]"#)]).expect_err("an odd spelling");
    assert!(wrong.to_string().contains("`0x7f.1` is no network"), "{wrong}");
    let wrong = with(&[("BACKHAUL__OUTBOUND__NAME_SERVERS", r#"["dns"]"#)]).expect_err("no address");
    assert!(wrong.to_string().contains("`dns` is not a name server"), "{wrong}");
}

#[test]
fn settings_do_not_print_their_secrets() {
    let settings = with(&[
        ("DATABASE_URL", "postgres://u:canary@h/d"),
        ("BACKHAUL__KEYS__FINGERPRINT", "canary"),
        ("BACKHAUL__KEYS__SEALING", "canary"),
        ("BACKHAUL__MAIL__URL", "smtp://u:canary@h"),
        ("BACKHAUL__NOTICES__WEBHOOK_SECRET", "canary"),
    ]);
    let settings = settings.expect("settings");
    assert!(!format!("{settings:?}").contains("canary"));
}
