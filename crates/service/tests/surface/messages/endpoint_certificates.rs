//! Client certificates that we present to merchants' systems: to the endpoint that they were set for, and to nobody else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use backhaul::flow::merchants::add_merchant::add_merchant;
use backhaul::flow::messages::configure_endpoint::{CertificateChange, EndpointChange, set_endpoint};
use backhaul::flow::node::renew_sealed::renew_sealed;
use backhaul::platform::client_certificate::Fingerprint;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::id::MerchantId;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::outbound_call::peers::{Authority, Peer, read_request};
use crate::binary::{backhaul, command, err, out};
use crate::world::World;

const BOTH: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// A request as the gate saw it.
#[derive(Clone, Debug)]
struct Seen {
    connection: usize,
    /// The fingerprint of the client certificate.
    shown: Option<String>,
    path: String,
    body: String,
}

/// A merchant's system that looks at client certificates.
struct Gate {
    peer: Peer,
    seen: Arc<Mutex<Vec<Seen>>>,
    closes: Arc<AtomicBool>,
}

impl Gate {
    async fn open(config: Arc<ServerConfig>) -> Self {
        let (seen, closes) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::<AtomicBool>::default());
        let (log, closing, count) = (Arc::clone(&seen), Arc::clone(&closes), Arc::new(Mutex::new(0)));
        let peer = Peer::at("127.0.0.1:0", move |stream| {
            let connection = {
                let mut count = count.lock().unwrap();
                *count += 1;
                *count
            };
            serve(stream, Arc::clone(&config), Arc::clone(&log), Arc::clone(&closing), connection)
        })
        .await;
        Self { peer, seen, closes }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.peer.address)
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// Answers requests, and issues tokens at `/token`.
async fn serve(stream: TcpStream, config: Arc<ServerConfig>, log: Arc<Mutex<Vec<Seen>>>, closes: Arc<AtomicBool>, connection: usize) {
    let mut stream = match TlsAcceptor::from(config).accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((_, mut stream)) => {
            // The client may have sent its request already. Only if that is read, the alert arrives for certain.
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
            return;
        }
    };
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).map(|first| Fingerprint::of(first).to_string());
    while let Some(request) = read_request(&mut stream).await {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let number = {
            let mut log = log.lock().unwrap();
            log.push(Seen { connection, shown: shown.clone(), path: path.clone(), body: body.to_owned() });
            log.len()
        };
        let body = if path == "/token" { format!(r#"{{"access_token":"token-{number}","expires_in":3600}}"#) } else { "{}".to_owned() };
        let closing = closes.load(Ordering::SeqCst);
        let header = if closing { "connection: close\r\n" } else { "" };
        let answer = format!("HTTP/1.1 200 OK\r\n{header}content-length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() || closing {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

/// A client certificate with its key, in PEM and in files.
struct Pair {
    certificate: String,
    key: String,
    files: [PathBuf; 2],
}

impl Pair {
    fn of((certificate, key): (String, String)) -> Self {
        let name = format!("pair-{:032x}", rand::random::<u128>());
        let files = ["", "-key"].map(|end| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}{end}.pem")));
        std::fs::write(&files[0], &certificate).unwrap();
        std::fs::write(&files[1], &key).unwrap();
        Self { certificate, key, files }
    }

    fn fingerprint(&self) -> String {
        Fingerprint::of(&CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()).to_string()
    }

    fn change(&self) -> CertificateChange {
        CertificateChange::Files { certificate: self.certificate.clone().into_bytes(), key: self.key.clone().into_bytes().into() }
    }

    /// The options that name the files.
    fn options(&self) -> [&str; 4] {
        let [certificate, key] = self.files.each_ref().map(|file| file.to_str().unwrap());
        ["--client-certificate", certificate, "--client-key", key]
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.files.iter().for_each(|file| _ = std::fs::remove_file(file));
    }
}

async fn world_trusting(authority: &Authority, more: &[(&str, &str)]) -> World {
    let roots = [("BACKHAUL__OUTBOUND__EXTRA_ROOTS", authority.file.to_str().unwrap())];
    World::with(&[&roots, more].concat()).await
}

/// A merchant whose endpoint for RMA messages is at `url`, with this client certificate.
async fn merchant(world: &World, handle: &str, url: String, pair: Option<&Pair>) -> MerchantId {
    let merchant = add_merchant(&world.app, "test", &handle.parse().unwrap(), "A merchant", None).await.unwrap();
    let change = EndpointChange { url: Some(url), client_certificate: pair.map(Pair::change), ..EndpointChange::default() };
    set_endpoint(&world.app, "test", merchant, Interface::Rma, change).await.unwrap();
    merchant
}

fn set(world: &World, authority: &Authority, words: &[&str]) -> Command {
    let mut set = command(&world.database);
    set.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#).env("BACKHAUL__OUTBOUND__EXTRA_ROOTS", &authority.file);
    set.args(["endpoint", "set", "--merchant", "acme", "rma"]).args(words);
    set
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_arrives_with_the_endpoints_certificate_and_not_without_it() {
    let (authority, strangers) = (Authority::new(), Authority::new());
    let world = world_trusting(&authority, &[]).await;
    let ours = Pair::of(authority.pair("backhaul.example.com"));
    let wrong = Pair::of(strangers.pair("backhaul.example.com"));
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let merchant = store::merchants::accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap().id;
    let reason = async |id: uuid::Uuid| {
        let attempts = store::messages::attempts::list(world.app.cell(), merchant, id).await.unwrap();
        attempts.last().and_then(|attempt| attempt.reason.clone())
    };
    for (number, version) in BOTH.iter().enumerate() {
        let gate = Gate::open(authority.guarded("127.0.0.1", &[version], true)).await;
        let url = gate.url("/rmas");
        out(&set(&world, &authority, &[&["--url", &url][..], &ours.options()].concat()).output().unwrap());
        let delivered = world.owe(merchant, &format!("R-{number}1"), 1).await;
        world.deliver_all_due().await;
        let seen = gate.seen();
        assert_eq!((seen.len(), seen[0].shown.as_deref()), (1, Some(ours.fingerprint().as_str())), "{version:?}");
        assert_eq!(reason(delivered).await, None);

        out(&set(&world, &authority, &["--client-certificate", ""]).output().unwrap());
        let without = world.owe(merchant, &format!("R-{number}2"), 1).await;
        world.deliver_all_due().await;
        assert_eq!(reason(without).await.as_deref(), Some("TLS: the peer requires a client certificate"), "{version:?}");

        out(&set(&world, &authority, &wrong.options()).output().unwrap());
        let refused = world.owe(merchant, &format!("R-{number}3"), 1).await;
        world.deliver_all_due().await;
        let told = reason(refused).await;
        assert_eq!(told.as_deref(), Some("TLS: the peer refused the client certificate, or requires one"), "{version:?}");
        assert_eq!(gate.seen().len(), 1, "nothing else arrived");
        out(&set(&world, &authority, &["--client-certificate", ""]).output().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endpoints_at_one_host_never_share_a_connection_or_a_session() {
    let authority = Authority::new();
    let world = world_trusting(&authority, &[]).await;
    let gate = Gate::open(authority.guarded("127.0.0.1", &BOTH, false)).await;
    let [one, two] = [(); 2].map(|()| Pair::of(authority.pair("backhaul.example.com")));
    let merchants = [
        ("/acme", merchant(&world, "acme", gate.url("/acme"), Some(&one)).await, Some(one.fingerprint())),
        ("/bolt", merchant(&world, "bolt", gate.url("/bolt"), Some(&two)).await, Some(two.fingerprint())),
        ("/cord", merchant(&world, "cord", gate.url("/cord"), None).await, None),
        // The same certificate, but of another merchant.
        ("/dune", merchant(&world, "dune", gate.url("/dune"), Some(&one)).await, Some(one.fingerprint())),
    ];
    // At first connections are kept, then each is new, and its session resumed where that is possible.
    for (round, closing) in [false, false, true, true, true].into_iter().enumerate() {
        gate.closes.store(closing, Ordering::SeqCst);
        for (_, merchant, _) in &merchants {
            world.owe(*merchant, &format!("R-{round}"), 1).await;
            world.deliver_all_due().await;
        }
    }
    let seen = gate.seen();
    assert_eq!((seen.len(), world.owed().await), (20, 0));
    let mut of_connection: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for request in &seen {
        let (_, _, shown) = merchants.iter().find(|(path, ..)| *path == request.path).unwrap();
        assert_eq!(&request.shown, shown, "{request:?}");
        of_connection.entry(request.connection).or_default().insert(&request.path);
    }
    assert!(of_connection.values().all(|paths| paths.len() == 1), "{of_connection:?}");
    let kept: BTreeSet<usize> = seen[..8].iter().map(|request| request.connection).collect();
    assert_eq!(kept.len(), 4, "each keeps its own connection");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_fetched_with_the_certificate_in_place_of_a_secret() {
    let authority = Authority::new();
    let world = world_trusting(&authority, &[]).await;
    let gate = Gate::open(authority.guarded("127.0.0.1", &BOTH, true)).await;
    let [first, second] = [(); 2].map(|()| Pair::of(authority.pair("backhaul.example.com")));
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let merchant = store::merchants::accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap().id;
    let (url, tokens) = (gate.url("/rmas"), gate.url("/token"));
    let words = ["--url", &url, "--authentication", "oauth-tls", "--user", "us", "--token-url", &tokens];
    assert!(err(&set(&world, &authority, &words).output().unwrap()).contains("needs one; give --client-certificate and --client-key"));
    out(&set(&world, &authority, &[&words[..], &first.options()].concat()).output().unwrap());
    for subject in ["R-1", "R-2"] {
        world.owe(merchant, subject, 1).await;
        world.deliver_all_due().await;
    }
    // Another certificate gets another token, because the old one may be bound to the old certificate.
    out(&set(&world, &authority, &second.options()).output().unwrap());
    world.owe(merchant, "R-3", 1).await;
    world.deliver_all_due().await;
    let [one, two] = [&first, &second].map(|pair| Some(pair.fingerprint()));
    let seen: Vec<_> = gate.seen().into_iter().map(|seen| (seen.path, seen.shown)).collect();
    let wanted = [("/token", &one), ("/rmas", &one), ("/rmas", &one), ("/token", &two), ("/rmas", &two)];
    assert_eq!(seen, wanted.map(|(path, shown)| (path.to_owned(), shown.clone())));
    assert_eq!(gate.seen()[0].body, "grant_type=client_credentials&client_id=us");
}

#[tokio::test]
async fn a_pair_that_cannot_be_used_is_refused_and_another_host_asks_for_it_again() {
    let authority = Authority::new();
    let world = world_trusting(&authority, &[]).await;
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let [ours, other] = [(); 2].map(|()| Pair::of(authority.pair("backhaul.example.com")));
    let expired = Pair::of(authority.pair_until("backhaul.example.com", 2020));
    let [certificate, key] = ours.files.each_ref().map(|file| file.to_str().unwrap());
    let other_key = other.files[1].to_str().unwrap();
    let secret = std::fs::read_to_string(key).unwrap().lines().nth(1).unwrap().to_owned();
    let https = "https://hooks.example.com/rmas";
    let run = |words: &[&str]| set(&world, &authority, words).output().unwrap();
    let [_, expired_certificate, _, expired_key] = expired.options();
    for (url, files, told) in [
        (https, ["--client-certificate", certificate, "--client-key", other_key], "does not belong to the client certificate"),
        (https, ["--client-certificate", key, "--client-key", key], "contains no certificate in PEM format"),
        (https, ["--client-certificate", certificate, "--client-key", certificate], "contains no private key in PEM format"),
        (https, ["--client-certificate", expired_certificate, "--client-key", expired_key], "expired at 2020-01-01T00:00:00Z"),
        (https, ["--client-certificate", certificate, "--client-key", ""], "needs its private key: give --client-key"),
        ("http://127.0.0.1:1/rmas", ["--client-certificate", certificate, "--client-key", key], "over TLS only; give an https URL"),
    ] {
        let refused = err(&run(&[&["--url", url][..], &files].concat()));
        assert!(refused.contains(told) && !refused.contains(&secret), "{told}: {refused}");
    }
    assert_eq!(world.database.texts("select url from endpoint where not internal").await, [""; 0]);

    out(&run(&[&["--url", https][..], &ours.options()].concat()));
    let script = world.script(Role::Manager).await;
    let console = world.console(Role::Manager).await;
    let elsewhere = "https://hooks.example.net/rmas";
    let told = "would present the stored client certificate to another host";
    assert!(err(&run(&["--url", elsewhere])).contains(told));
    let refused = script.calls("endpoint/set", &json!({ "merchant": "acme", "interface": "rma", "url": elsewhere })).await;
    assert!(refused.status == 422 && refused.text.contains(told), "{}", refused.text);
    let refused = console.post("/merchants/acme/endpoints/rma/set", &[("url", elsewhere)]).await;
    assert!(refused.status == 422 && refused.text.contains(told), "{}", refused.text);
    out(&run(&["--url", "https://hooks.example.com/v2/rmas"]));
    out(&run(&[&["--url", elsewhere][..], &ours.options()].concat()));

    // What is shown is public; the key is nowhere but sealed.
    let show = ["endpoint", "show", "--merchant", "acme", "rma", "-o", "json"];
    let shown: Value = serde_json::from_str(&out(&backhaul(&world.database, &show))).unwrap();
    let about =
        json!({ "subject": shown["client_certificate"]["subject"], "sha256": ours.fingerprint(), "expires_at": "4096-01-01T00:00:00Z" });
    assert_eq!(shown["client_certificate"], about);
    let page = console.get("/merchants/acme/endpoints/rma").await.text;
    assert!(page.contains(&ours.fingerprint()), "{page}");
    let der = rustls::pki_types::PrivateKeyDer::from_pem_slice(ours.key.as_bytes()).unwrap();
    let hex = der.secret_der().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let stored =
        world.database.texts("select row_to_json(endpoint)::text from endpoint union all select row_to_json(audit)::text from audit");
    let stored = stored.await.join("\n");
    assert!(stored.contains(&ours.fingerprint()), "the audit tells the fingerprint: {stored}");
    assert!(!stored.contains(&hex) && !stored.contains(&STANDARD.encode(der.secret_der())), "the key is sealed");
}

#[tokio::test]
async fn the_operator_api_and_the_console_set_a_certificate_and_never_show_its_key() {
    let authority = Authority::new();
    let world = world_trusting(&authority, &[]).await;
    out(&backhaul(&world.database, &["merchant", "add", "acme", "--name", "Acme Shoes"]));
    let [one, two] = [(); 2].map(|()| Pair::of(authority.pair("backhaul.example.com")));
    let shown = || {
        let show = ["endpoint", "show", "--merchant", "acme", "rma", "-o", "json"];
        let shown: Value = serde_json::from_str(&out(&backhaul(&world.database, &show))).unwrap();
        shown["client_certificate"]["sha256"].as_str().map(str::to_owned)
    };
    let script = world.script(Role::Manager).await;
    let parameters = json!({
        "merchant": "acme", "interface": "rma", "url": "https://hooks.example.com/rmas",
        "client_certificate": STANDARD.encode(&one.certificate), "client_key": STANDARD.encode(&one.key),
    });
    let answer = script.calls("endpoint/set", &parameters).await;
    assert!(answer.status == 200 && !answer.text.contains("PRIVATE"), "{}", answer.text);
    assert_eq!(shown(), Some(one.fingerprint()));

    let console = world.console(Role::Manager).await;
    let path = "/merchants/acme/endpoints/rma/set";
    let fields = [("client_certificate", two.certificate.as_str()), ("client_key", two.key.as_str())];
    let preview = console.post(path, &fields).await.page();
    assert!(preview.contains(&two.fingerprint()) && preview.contains(&one.fingerprint()), "{preview}");
    let secret: String = two.key.lines().nth(1).unwrap().chars().take(20).collect();
    assert!(!preview.contains("PRIVATE KEY") && !preview.contains(&secret), "{preview}");
    assert_eq!(console.confirms(path, &fields).await.status, 303);
    assert_eq!(shown(), Some(two.fingerprint()));
    let both = format!("{}{}", two.certificate, two.key);
    let misplaced = console.post(path, &[("client_certificate", both.as_str()), ("client_key", two.key.as_str())]).await;
    assert!(misplaced.status == 422 && misplaced.text.contains("contains a private key as well"), "{}", misplaced.text);
    assert!(!misplaced.text.contains(&secret), "{}", misplaced.text);
    let half = console.post(path, &fields[..1]).await;
    assert!(half.status == 422 && half.text.contains("needs its private key"), "{}", half.text);
    assert_eq!(console.confirms(path, &[("remove_certificate", "yes")]).await.status, 303);
    assert_eq!(shown(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_goes_on_when_the_keys_are_rotated_and_resealed() {
    const A: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    const B: &str = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=";
    let authority = Authority::new();
    let roots = ("BACKHAUL__OUTBOUND__EXTRA_ROOTS", authority.file.to_str().unwrap());
    let (old, both, new) = (format!("k1:{A}"), format!("k2:{B},k1:{A}"), format!("k2:{B}"));
    let world = world_trusting(&authority, &[("BACKHAUL__KEYS__SEALING", &old)]).await;
    assert_eq!(world.app.confirm_keys().await.unwrap(), []);
    let gate = Gate::open(authority.guarded("127.0.0.1", &BOTH, true)).await;
    let ours = Pair::of(authority.pair("backhaul.example.com"));
    let acme = merchant(&world, "acme", gate.url("/rmas"), Some(&ours)).await;
    let run = |words: &[&str]| command(&world.database).env("BACKHAUL__KEYS__SEALING", &both).args(words).output().unwrap();
    out(&run(&["keys", "rotate", "sealing"]));
    let node = world.node_with(&[roots, ("BACKHAUL__KEYS__SEALING", &both)]).await;
    assert_eq!(node.app.confirm_keys().await.unwrap(), []);
    backhaul::heartbeat::beat(&node.app, 2).await.unwrap();
    renew_sealed(&node.app).await.unwrap();
    out(&run(&["endpoint", "reseal", "--merchant", "acme"]));
    let alone = world.node_with(&[roots, ("BACKHAUL__KEYS__SEALING", &new)]).await;
    assert_eq!(alone.app.confirm_keys().await.unwrap(), [], "the old key is needed by nothing");
    world.owe(acme, "R-1", 1).await;
    alone.deliver_all_due().await;
    let seen = gate.seen();
    assert_eq!((seen.len(), seen[0].shown.clone()), (1, Some(ours.fingerprint())));
}
