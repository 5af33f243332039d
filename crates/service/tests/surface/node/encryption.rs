//! TLS to a PostgreSQL with a certificate of its own.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use sandbox::postgres::Cluster;

use crate::binary::{command, err, out, production};
use crate::world::{Database, World, message, order};

/// A server with two addresses. Its certificate, of an authority that nobody knows, is valid for the first.
struct Encrypted {
    cluster: Cluster,
    /// The authority's certificate.
    root: PathBuf,
    named: Ipv4Addr,
    unnamed: Ipv4Addr,
}

impl Encrypted {
    fn start(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("backhaul-{name}-{}", std::process::id()));
        let cluster = Cluster::start(&dir).unwrap();
        let [_, _, c, d] = std::process::id().to_be_bytes();
        let (named, unnamed) = (Ipv4Addr::new(127, 77, c, d), Ipv4Addr::new(127, 78, c, d));
        let mut authority = CertificateParams::default();
        authority.distinguished_name.push(DnType::CommonName, "Example Root");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([named.to_string()]).unwrap().signed_by(&key, &authority).unwrap();
        let root = dir.join("root.pem");
        fs::write(&root, authority.pem()).unwrap();
        cluster.serve_tls(&format!("{named},{unnamed}"), &certificate.pem(), &key.serialize_pem()).unwrap();
        Self { cluster, root, named, unnamed }
    }

    /// The URL of a database at `address`.
    fn url(database: &Database, address: Ipv4Addr, parameters: &str) -> String {
        format!("postgres://postgres@{address}/{}?sslmode=verify-full{parameters}", database.name())
    }

    fn with_root(&self) -> String {
        format!("&sslrootcert={}", self.root.display())
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.cluster.stop();
    }
}

#[tokio::test]
async fn the_connection_to_the_database_is_encrypted_and_its_server_verified() {
    let server = Encrypted::start("encrypted");
    let database = Database::create_on(&server.cluster).await;
    let migrate = |url: &str| command(&database).env("DATABASE_URL", url).arg("migrate").output().unwrap();

    let good = Encrypted::url(&database, server.named, &server.with_root());
    assert_eq!(out(&migrate(&good)), "The schema is up to date (sandbox).\n");
    let doctor = command(&database).env("DATABASE_URL", &good).arg("doctor").output().unwrap();
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("database connection"), "{doctor:?}");
    for wrong in [Encrypted::url(&database, server.unnamed, &server.with_root()), Encrypted::url(&database, server.named, "")] {
        let refused = err(&migrate(&wrong));
        assert!(refused.contains("the database is unreachable: invalid peer certificate"), "{refused}");
    }

    let world = World::at(database, &good).await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"]);
    let plain = "select 'plain' from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'backhaul' and not ssl";
    let encrypted =
        "select distinct version from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'backhaul' and ssl";
    assert_eq!((world.database.texts(plain).await, world.database.texts(encrypted).await), (vec![], vec!["TLSv1.3".to_owned()]));
}

#[tokio::test]
async fn production_refuses_an_unprotected_database_on_another_machine() {
    let database = Database::create_empty().await;
    let serve = |url: &str| {
        let mut serve = production(&database);
        serve.env("BACKHAUL__HTTP__BEHIND_TLS_PROXY", "true").env("DATABASE_URL", url).arg("serve");
        serve
    };
    for (mode, found) in [("disable", "plaintext to another machine"), ("require", "TLS to a server that is not verified")] {
        let url = format!("postgres://db.example.com/backhaul?sslmode={mode}");
        let refused = err(&serve(&url).output().unwrap());
        assert!(refused.contains(found) && refused.contains("sslmode=verify-full") && refused.contains("allow_insecure"), "{refused}");
        let doctor = production(&database).env("DATABASE_URL", &url).arg("doctor").output().unwrap();
        assert!(String::from_utf8_lossy(&doctor.stdout).contains(found), "{doctor:?}");
    }
}
