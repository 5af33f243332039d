//! Credentials that are bound to client certificates: what they open, over which connections.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::{self as flow, Terms};
use backhaul::http;
use backhaul::http::listener::{self, Door};
use backhaul::platform::client_certificate::ClientCertificate;
use backhaul::platform::metrics::Connections;
use backhaul::platform::tls::{self, Certificates, ClientCertificates};
use domain::merchants::access::Scopes;
use domain::merchants::operator::Role;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::client::ResolvesClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, SignatureScheme};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::binary::{Served, command, err, out};
use crate::node::listener::site::{Authority, closes, handshake, handshake_with};
use crate::world::log::Log;
use crate::world::{Database, Merchant, World};

/// A client certificate that nobody vouches for, and its key.
struct Pair {
    certificate: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
}

impl Pair {
    fn new() -> Self {
        Self::until(2040, 1, 1)
    }

    fn until(year: i32, month: u8, day: u8) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["erp.example.com".to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, month, day);
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }

    fn read(&self) -> ClientCertificate {
        ClientCertificate::read(&self.certificate).unwrap()
    }

    fn fingerprint(&self) -> String {
        self.read().fingerprint.to_string()
    }

    /// Shows this certificate in handshakes, signing with `key`.
    fn shown_with(&self, key: &KeyPair) -> Arc<dyn ResolvesClientCert> {
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let key = aws_lc_rs::default_provider().key_provider.load_private_key(key).unwrap();
        Arc::new(SingleCertAndKey::from(CertifiedKey::new(vec![self.certificate.clone()], key)))
    }

    /// A file with the certificate.
    fn file(&self) -> PathBuf {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("client-{:032x}.pem", rand::random::<u128>()));
        std::fs::write(&file, &self.pem).unwrap();
        file
    }
}

/// The settings of an installation that asks for client certificates.
fn asking(authority: &Authority) -> [(&'static str, String); 4] {
    let file = |path: PathBuf| path.to_str().unwrap().to_owned();
    [
        ("BACKHAUL__TLS__CERTIFICATE", file(authority.certificate())),
        ("BACKHAUL__TLS__PRIVATE_KEY", file(authority.private_key())),
        ("BACKHAUL__TLS__CLIENT_CERTIFICATES", "true".to_owned()),
        ("BACKHAUL__PORTAL__LISTEN", "127.0.0.1:0".to_owned()),
    ]
}

fn authority() -> Authority {
    let authority = Authority::new();
    authority.issue();
    authority
}

async fn world_of(authority: &Authority) -> World {
    let settings = asking(authority);
    World::with(&settings.each_ref().map(|(name, value)| (*name, value.as_str()))).await
}

/// The merchants' listener of a world, over TLS.
struct Gate<'w> {
    world: &'w World,
    authority: &'w Authority,
    address: SocketAddr,
}

impl<'w> Gate<'w> {
    async fn open(world: &'w World, authority: &'w Authority) -> Self {
        let app = &world.app;
        let certificates = Arc::new(Certificates::load(vec![app.settings.tls.files().unwrap()]).unwrap());
        let tls = tls::server_config(certificates, true, ClientCertificates::Asked).unwrap();
        let door = Door::public(&app.settings.http, &app.entropy, Some(tls), Connections::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(listener::serve_through(door, listener, http::router(app), std::future::pending()));
        Self { world, authority, address }
    }

    /// A client that shows this certificate, or none.
    fn client(&self, pair: Option<&Pair>) -> ClientConfig {
        let mut client = self.authority.client(&[&TLS12, &TLS13]);
        if let Some(pair) = pair {
            client.client_auth_cert_resolver = pair.shown_with(&pair.key);
        }
        client
    }

    /// Sends a request over a connection of its own. Returns the status, the body, and how the handshake went.
    async fn send(&self, client: impl Into<Arc<ClientConfig>>, head: &str, body: &Value) -> (u16, Value, HandshakeKind) {
        let mut stream = handshake(self.address, client).await.unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head =
            format!("{head}\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        let answer = String::from_utf8(closes(&mut stream).await).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body).unwrap_or_default());
        (status, body.unwrap_or_default(), stream.get_ref().1.handshake_kind().unwrap())
    }

    async fn asks_for_a_token(&self, pair: Option<&Pair>, credentials: &Value) -> (u16, Value) {
        let (status, body, _) = self.send(self.client(pair), "POST /oauth/token HTTP/1.1", credentials).await;
        (status, body)
    }

    async fn token(&self, pair: Option<&Pair>, credentials: &Value) -> String {
        let (status, body) = self.asks_for_a_token(pair, credentials).await;
        assert_eq!(status, 200, "{body}");
        body["access_token"].as_str().unwrap().to_owned()
    }

    /// The status of a call with this token.
    async fn calls(&self, pair: Option<&Pair>, token: &str) -> u16 {
        self.send(self.client(pair), &call(token), &Value::Null).await.0
    }

    /// A credential of the merchant that is bound to these certificates.
    async fn issues(&self, merchant: &Merchant<'w>, pairs: &[&Pair]) -> Merchant<'w> {
        let certificates = pairs.iter().map(|pair| pair.read()).collect();
        let terms = Terms { certificates, ..Terms::open(Scopes::all(), "") };
        let issued = flow::issue_credential(&self.world.app, "test", merchant.id, &terms).await.unwrap();
        let client_secret = issued.client_secret.expose_secret().to_owned();
        Merchant { world: merchant.world, id: merchant.id, client_id: issued.client_id, client_secret, token: String::new() }
    }
}

fn call(token: &str) -> String {
    format!("GET /v1/orders/x HTTP/1.1\r\nAuthorization: Bearer {token}")
}

#[tokio::test]
async fn a_bound_credential_gets_tokens_and_uses_them_with_its_certificate_alone() {
    let (log, guard) = Log::start("trace");
    let authority = authority();
    let world = world_of(&authority).await;
    let gate = Gate::open(&world, &authority).await;
    let (ours, other, of_fern) = (Pair::new(), Pair::new(), Pair::new());
    let (acme, fern) = (world.merchant("acme").await, world.merchant("fern").await);
    let bound = gate.issues(&acme, &[&ours]).await;
    let elsewhere = gate.issues(&fern, &[&of_fern]).await;
    let foreign = gate.token(Some(&of_fern), &elsewhere.credentials()).await;

    for wrong in [None, Some(&other), Some(&of_fern)] {
        let (status, body) = gate.asks_for_a_token(wrong, &bound.credentials()).await;
        assert_eq!((status, &body["error"]), (401, &json!("invalid_client")), "{body}");
    }
    let without_tls = world.asks_for_a_token(&bound.credentials()).await;
    assert_eq!((without_tls.status.as_u16(), &without_tls.body["error"]), (401, &json!("invalid_client")));

    let token = gate.token(Some(&ours), &bound.credentials()).await;
    assert_eq!(gate.calls(Some(&ours), &token).await, 404, "the token opens the order, which is not there");
    for wrong in [None, Some(&other), Some(&of_fern)] {
        assert_eq!(gate.calls(wrong, &token).await, 401, "a token that was taken opens nothing");
    }
    assert_eq!(gate.calls(Some(&ours), &foreign).await, 401, "nor does another merchant's token with our certificate");
    let stolen = world.ask(reqwest::Method::GET, "/v1/orders/x", |request| request.bearer_auth(&token)).await;
    assert_eq!(stolen.status, 401, "nor without TLS");

    // A credential that is bound to none works as ever, whatever is shown.
    for shown in [None, Some(&other)] {
        assert_eq!(gate.calls(shown, &gate.token(shown, &acme.credentials()).await).await, 404);
    }
    drop(guard);
    let events = log.events();
    for name in ["token.refused", "access.refused"] {
        let reasons: Vec<&str> = events[name].iter().map(|event| event["reason"].as_str().unwrap()).collect();
        let wanted: &[&str] = if name == "token.refused" {
            &["no_certificate", "foreign_certificate", "foreign_certificate", "no_certificate"]
        } else {
            &["no_certificate", "foreign_certificate", "foreign_certificate", "foreign_certificate", "no_certificate"]
        };
        assert_eq!(reasons, wanted, "{name}");
    }
    assert!(!log.text().contains("erp.example.com"), "the subject may name a person, so it is not logged");
}

#[tokio::test]
async fn a_certificate_without_its_key_is_worth_nothing() {
    let authority = authority();
    let world = world_of(&authority).await;
    let gate = Gate::open(&world, &authority).await;
    let (ours, thief) = (Pair::new(), Pair::new());
    gate.issues(&world.merchant("acme").await, &[&ours]).await;
    // With TLS 1.3 the client is done before the server has looked at its certificate.
    for version in [&TLS12, &TLS13] {
        let mut client = authority.client(&[version]);
        client.client_auth_cert_resolver = ours.shown_with(&thief.key);
        let answered = match handshake(gate.address, client).await {
            Ok(mut stream) => {
                let _ = stream.write_all(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
                closes(&mut stream).await
            }
            Err(_) => Vec::new(),
        };
        assert_eq!(answered, b"", "{version:?}");
    }
}

#[tokio::test]
async fn a_resumed_session_has_the_certificate_with_which_it_began() {
    let authority = authority();
    let world = world_of(&authority).await;
    let gate = Gate::open(&world, &authority).await;
    let ours = Pair::new();
    let bound = gate.issues(&world.merchant("acme").await, &[&ours]).await;
    let token = gate.token(Some(&ours), &bound.credentials()).await;
    for version in [&TLS12, &TLS13] {
        for (pair, status) in [(Some(&ours), 404), (None, 401)] {
            let mut client = authority.client(&[version]);
            if let Some(pair) = pair {
                client.client_auth_cert_resolver = pair.shown_with(&pair.key);
            }
            let client = Arc::new(client);
            for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
                let (answered, _, went) = gate.send(Arc::clone(&client), &call(&token), &Value::Null).await;
                assert_eq!((answered, went), (status, kind), "{version:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_bound_certificate_that_has_expired_is_refused_from_then_on() {
    let (log, guard) = Log::start("trace");
    let authority = authority();
    let world = world_of(&authority).await;
    let gate = Gate::open(&world, &authority).await;
    let short = Pair::until(2026, 3, 2);
    let bound = gate.issues(&world.merchant("acme").await, &[&short]).await;
    world.time_passes(Duration::from_secs(12 * 3600 - 1));
    let token = gate.token(Some(&short), &bound.credentials()).await;
    assert_eq!(gate.calls(Some(&short), &token).await, 404);
    world.time_passes(Duration::from_secs(1));
    assert_eq!(gate.calls(Some(&short), &token).await, 401, "its grant is in the cache still");
    assert_eq!(gate.asks_for_a_token(Some(&short), &bound.credentials()).await.0, 401);
    drop(guard);
    let events = log.events();
    let reasons = ["token.refused", "access.refused"].map(|name| events[name][0]["reason"].as_str().unwrap().to_owned());
    assert_eq!(reasons, ["expired_certificate", "expired_certificate"]);
}

#[tokio::test]
async fn a_rotated_secret_keeps_the_certificate() {
    let authority = authority();
    let world = world_of(&authority).await;
    let gate = Gate::open(&world, &authority).await;
    let ours = Pair::new();
    let mut bound = gate.issues(&world.merchant("acme").await, &[&ours]).await;
    let rotate = "POST /v1/credentials/rotate HTTP/1.1";
    let body = json!({ "client_id": bound.client_id, "client_secret": bound.client_secret });
    let (status, refused, _) = gate.send(gate.client(None), rotate, &body).await;
    assert_eq!((status, &refused["error"]), (401, &json!("invalid_client")), "a thief cannot replace the secret");
    let (status, rotated, _) = gate.send(gate.client(Some(&ours)), rotate, &body).await;
    assert_eq!(status, 200, "{rotated}");
    bound.client_secret = rotated["client_secret"].as_str().unwrap().to_owned();
    assert_eq!(gate.asks_for_a_token(None, &bound.credentials()).await.0, 401);
    let token = gate.token(Some(&ours), &bound.credentials()).await;
    assert_eq!((gate.calls(Some(&ours), &token).await, gate.calls(None, &token).await), (404, 401));
}

#[tokio::test]
async fn a_certificate_is_renewed_with_an_overlap_and_the_last_one_stays() {
    let authority = authority();
    let world = world_of(&authority).await;
    let gate = Gate::open(&world, &authority).await;
    let (old, new, third) = (Pair::new(), Pair::new(), Pair::new());
    let settings = asking(&authority);
    let run = |words: &[&str]| command(&world.database).envs(settings.clone()).args(words).output().unwrap();
    let acme = world.merchant("acme").await;
    let files = [&old, &new, &third].map(Pair::file);
    let [old_file, new_file, third_file] = files.each_ref().map(|file| file.to_str().unwrap());
    let words = ["credential", "issue", "--merchant", "acme", "--scope", "orders", "--client-certificate", old_file, "-o", "json"];
    let issued: Value = serde_json::from_str(&out(&run(&words))).unwrap();
    let client_id = issued["client_id"].as_str().unwrap();
    let bound = Merchant {
        world: &world,
        id: acme.id,
        client_id: client_id.to_owned(),
        client_secret: issued["client_secret"].as_str().unwrap().to_owned(),
        token: String::new(),
    };
    let token = gate.token(Some(&old), &bound.credentials()).await;
    assert_eq!(gate.calls(Some(&new), &token).await, 401);

    let of = |action: &str, more: &[&str]| run(&[&["credential", "certificate", action, "--merchant", "acme", client_id], more].concat());
    assert!(err(&of("remove", &[&old.fingerprint()])).contains("only client certificate of the credential"));
    assert!(err(&of("remove", &[&new.fingerprint()])).contains("has no client certificate"));
    assert!(err(&of("add", &["--client-certificate", old_file])).contains("already"));
    out(&of("add", &["--client-certificate", new_file]));
    assert!(err(&of("add", &["--client-certificate", third_file])).contains("at most 2 client certificates"));
    world.time_passes(Duration::from_secs(5));
    for pair in [&old, &new] {
        assert_eq!(gate.calls(Some(pair), &token).await, 404, "both work, also with a token that was fetched with the other");
    }
    out(&of("remove", &[&old.fingerprint().to_uppercase()]));
    world.time_passes(Duration::from_secs(5));
    assert_eq!((gate.calls(Some(&old), &token).await, gate.calls(Some(&new), &token).await), (401, 404));
    let listed: Value = serde_json::from_str(&out(&of("list", &["-o", "json"]))).unwrap();
    assert_eq!(listed["items"], json!([{ "sha256": new.fingerprint(), "expires_at": "2040-01-01T00:00:00Z" }]));
    let console = world.console(Role::Viewer).await;
    let page = console.get("/merchants/acme/credentials").await.text;
    assert!(page.contains(&new.fingerprint()) && !page.contains(&old.fingerprint()), "{page}");

    let audit = "select concat_ws(' ', action, before, after) from audit where action like 'credential.certificate%' order by audit_id";
    let told = world.database.texts(audit).await;
    let [old_print, new_print] = [&old, &new].map(Pair::fingerprint);
    assert!(told[0].contains(&format!(r#"{{"certificates":["{old_print}","{new_print}"]}}"#)), "{told:?}");
    assert!(told[1].ends_with(&format!(r#"{{"certificates":["{new_print}"]}}"#)) && told.len() == 2, "{told:?}");
    let issued = world.database.texts("select after from audit where action = 'credential.issued' and after like '%certificates%'").await;
    assert!(issued.len() == 1 && issued[0].contains(&old_print), "{issued:?}");

    // A credential that was bound to none can be bound later; tokens that it has are bound with it.
    let script = world.script(Role::Manager).await;
    let free = gate.token(None, &acme.credentials()).await;
    assert_eq!(gate.calls(None, &free).await, 404);
    let content = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &third.pem);
    let parameters = json!({ "merchant": "acme", "client_id": acme.client_id, "client_certificate": content });
    let added = script.calls("credential/certificate/add", &parameters).await;
    assert_eq!(added.status, 200, "{}", added.text);
    world.time_passes(Duration::from_secs(5));
    assert_eq!((gate.calls(None, &free).await, gate.calls(Some(&third), &free).await), (401, 404));
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

#[tokio::test]
async fn a_binding_that_could_not_be_used_is_refused_and_found_by_the_doctor() {
    let authority = authority();
    let world = world_of(&authority).await;
    let acme = world.merchant("acme").await;
    let (pair, expired) = (Pair::new(), Pair::until(2020, 1, 1));
    let files = [&pair, &expired].map(Pair::file);
    let issue = |settings: &[(&str, String)], file: &str| {
        let mut command = command(&world.database);
        command.envs(settings.iter().map(|(name, value)| (*name, value.as_str())));
        command.args(["credential", "issue", "--merchant", "acme", "--scope", "orders", "--client-certificate", file]).output().unwrap()
    };
    let settings = asking(&authority);
    let [file, expired_file] = files.each_ref().map(|file| file.to_str().unwrap());
    let refused = err(&issue(&[], file));
    assert!(refused.contains("tls.client_certificates = true") && refused.contains("proxy"), "{refused}");
    assert!(err(&issue(&settings, expired_file)).contains("expired at 2020-01-01T00:00:00Z"));
    let key = authority.private_key();
    assert!(err(&issue(&settings, key.to_str().unwrap())).contains("contains no certificate in PEM format"));
    assert!(err(&issue(&settings, "/nowhere.pem")).contains("cannot read the client certificate /nowhere.pem"));
    assert_eq!(world.database.count("credential").await, 1);

    // Neither a listener without TLS nor one that shoppers come to can ask.
    for (left_out, told) in [("BACKHAUL__TLS__", "speaks no TLS"), ("BACKHAUL__PORTAL__LISTEN", "shoppers' browsers would ask them")] {
        let kept = |name: &str| !name.starts_with(left_out) || name.ends_with("CLIENT_CERTIFICATES");
        let settings: Vec<_> = settings.iter().filter(|(name, _)| kept(name)).cloned().collect();
        let refused = err(&issue(&settings, file));
        assert!(refused.contains(told), "{refused}");
    }

    let doctor = |settings: &[(&str, String)]| {
        let mut command: Command = command(&world.database);
        command.envs(settings.iter().map(|(name, value)| (*name, value.as_str()))).args(["doctor", "-o", "json"]);
        let checks: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        checks["items"].as_array().unwrap().iter().find(|check| check["name"] == "client certificates").map(|check| check["ok"].clone())
    };
    assert_eq!(doctor(&[]), None);
    let terms = Terms { certificates: vec![pair.read()], ..Terms::open(Scopes::all(), "") };
    flow::issue_credential(&world.app, "test", acme.id, &terms).await.unwrap();
    assert_eq!((doctor(&[]), doctor(&settings)), (Some(json!(false)), Some(json!(true))));
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

/// A client that shows no certificate, and notices if it is asked for one.
#[derive(Debug, Default)]
struct Noticing(AtomicBool);

impl ResolvesClientCert for Noticing {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::SeqCst);
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn merchants_are_asked_for_a_certificate_and_shoppers_are_not() {
    let (database, authority) = (Database::create().await, authority());
    let is_asked = async |address: SocketAddr| {
        let noticing = Arc::new(Noticing::default());
        let mut client = authority.client(&[&TLS12]);
        client.client_auth_cert_resolver = noticing.clone();
        handshake_with("localhost", address, client).await.unwrap();
        noticing.0.load(Ordering::SeqCst)
    };
    for asks in ["true", "false"] {
        let mut serve = command(&database);
        serve.envs(asking(&authority)).env("BACKHAUL__TLS__CLIENT_CERTIFICATES", asks).arg("serve");
        let served = Served::start(&mut serve);
        let portal = served.portal.clone().unwrap();
        let merchants = served.base.trim_start_matches("http://").parse().unwrap();
        assert_eq!((is_asked(merchants).await, is_asked(portal.parse().unwrap()).await), (asks == "true", false));
        assert!(served.terminate().0);
    }
}

#[tokio::test]
async fn a_manager_binds_a_credential_in_the_console_after_a_preview() {
    let authority = authority();
    let world = world_of(&authority).await;
    let acme = world.merchant("acme").await;
    let console = world.console(Role::Manager).await;
    let (first, second) = (Pair::new(), Pair::new());
    let page = format!("/merchants/acme/credentials/{}/certificates", acme.client_id);
    assert!(console.get("/merchants/acme/credentials").await.page().contains(&page));
    assert!(console.get(&page).await.page().contains("No client certificate"));
    let wrong = console.post(&page, &[("client_certificate", "nonsense")]).await;
    assert!(wrong.status == 422 && wrong.text.contains("contains no certificate in PEM format"), "{}", wrong.text);
    let preview = console.post(&page, &[("client_certificate", first.pem.as_str())]).await.page();
    assert!(preview.contains(&first.fingerprint()) && preview.contains("only over connections with this certificate"), "{preview}");
    assert!(!console.get(&page).await.page().contains(&first.fingerprint()), "a preview changes nothing");
    for pair in [&first, &second] {
        assert_eq!(console.confirms(&page, &[("client_certificate", pair.pem.as_str())]).await.status, 303);
    }
    let shown = console.get(&page).await.page();
    assert!(shown.contains(&first.fingerprint()) && shown.contains(&second.fingerprint()), "{shown}");
    let remove = format!("{page}/remove");
    let (first, second) = (first.fingerprint(), second.fingerprint());
    assert_eq!(console.confirms(&remove, &[("sha256", first.as_str())]).await.status, 303);
    assert!(!console.get(&page).await.page().contains(&first));
    assert_eq!(console.confirms(&remove, &[("sha256", second.as_str())]).await.status, 409, "the last one stays");
    let audit = world.database.texts("select action from audit where action like 'credential.certificate%' order by audit_id").await;
    assert_eq!(audit, ["credential.certificate_added", "credential.certificate_added", "credential.certificate_removed"]);
    assert_eq!(console.get("/merchants/acme/credentials/bhc_unknown/certificates").await.status, 404);
}
