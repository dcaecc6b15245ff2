//! TLS: with a configured certificate, or with a self-signed one that is created at the first start.

use crate::daemon::config::{Config, TlsFiles};
use danlu_messages::errors;
use danlu_node::private;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// In the data directory.
const OWN_CERTIFICATE: &str = "tls-certificate.pem";

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{}", errors::could_not_read_path_error(&path.display(), error))]
    Unreadable { path: PathBuf, error: String },
    #[error("{}", errors::could_not_make_certificate(.0))]
    NotMade(String),
    #[error("{}", errors::certificate_mismatch(&certificate.display(), &key.display(), error))]
    Unfit { certificate: PathBuf, key: PathBuf, error: String },
}

/// The files that are named, or those of our own in the data directory, made if need be.
pub(crate) fn acceptor(
    named: Option<&TlsFiles>,
    data: &Path,
    host: &str,
) -> Result<TlsAcceptor, TlsError> {
    let own = TlsFiles { certificate: data.join(OWN_CERTIFICATE), key: data.join("tls-key.pem") };
    if named.is_none() && !(own.certificate.exists() && own.key.exists()) {
        make(&own, host)?;
    }
    let TlsFiles { certificate, key } = named.unwrap_or(&own);
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error: tokio_rustls::rustls::pki_types::pem::Error| TlsError::Unreadable {
            path,
            error: error.to_string(),
        }
    };
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(certificate).map_err(unreadable(certificate))?.collect();
    let chain = chain.map_err(unreadable(certificate))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key))?;
    let unfit = |error: tokio_rustls::rustls::Error| TlsError::Unfit {
        certificate: certificate.clone(),
        key: key.clone(),
        error: error.to_string(),
    };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unfit)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(unfit)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The SHA-256 of our own certificate, in hexadecimal digits, where one is used.
pub(crate) fn own_fingerprint(config: &Config) -> Option<String> {
    let used = config.tls.is_none() && config.listen.iter().any(|it| config.is_encrypted(it));
    let path = used.then(|| config.data.join(OWN_CERTIFICATE))?;
    let certificate = CertificateDer::from_pem_file(path).ok()?;
    Some(Sha256::digest(&certificate).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The certificate that is presented, where one is: its file, and until when it is valid.
pub(crate) fn presented(config: &Config) -> Option<(PathBuf, Option<jiff::Timestamp>)> {
    config.listen.iter().any(|it| config.is_encrypted(it)).then_some(())?;
    let own = || config.data.join(OWN_CERTIFICATE);
    let path = config.tls.as_ref().map_or_else(own, |files| files.certificate.clone());
    let certificate = CertificateDer::from_pem_file(&path).ok();
    let ends_at = certificate.and_then(|it| crate::daemon::certificate_dates::ends_at(&it));
    Some((path, ends_at))
}

/// Good for this machine's name and for `localhost`. Browsers ask whether to trust it, once.
fn make(files: &TlsFiles, host: &str) -> Result<(), TlsError> {
    let names = vec![host.to_owned(), String::from("localhost")];
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names).map_err(|error| TlsError::NotMade(error.to_string()))?;
    let not_made = |error: io::Error| TlsError::NotMade(error.to_string());
    // The certificate last: if it is missing, both are created again.
    private::replace_durably(&files.key, signing_key.serialize_pem().as_bytes())
        .and_then(|()| private::replace_durably(&files.certificate, cert.pem().as_bytes()))
        .map_err(not_made)
}
