//! The trusted certificate authorities: the public ones, and those of the operator.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore, version};

use super::error::{NoClient, NoRoots};

/// The TLS settings: versions 1.2 and 1.3, trusting Mozilla's authorities and those in the file `extra`.
pub(super) fn client_config(extra: Option<&Path>) -> Result<ClientConfig, NoClient> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(file) = extra {
        add(&mut roots, file)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&version::TLS12, &version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), NoRoots> {
    let name = file.display().to_string();
    let pem = std::fs::read(file).map_err(|why| NoRoots::Unreadable(name.clone(), why))?;
    let certificates: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().map_err(|_| NoRoots::NotPem(name.clone()))?;
    let (added, ignored) = roots.add_parsable_certificates(certificates);
    if added > 0 && ignored == 0 { Ok(()) } else { Err(NoRoots::NotPem(name)) }
}
