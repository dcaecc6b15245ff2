//! TLS: which server certificates the client trusts.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use danlu_messages::cli::client as msg;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::failure::{Exit, Failure};

/// Where systems keep the certificates that they trust.
const USUAL: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Believes in what `DANLU_CA` names, else in what the system does.
pub(super) fn config() -> Result<TlsConfig, Failure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(trusted(None)?)))
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

pub(crate) fn trusted(named: Option<&Path>) -> Result<Vec<Certificate<'static>>, Failure> {
    let variable = || env::var_os("DANLU_CA").filter(|name| !name.is_empty()).map(PathBuf::from);
    let named = named.map(Path::to_owned).or_else(variable);
    let usual = || USUAL.iter().map(PathBuf::from).find(|path| path.exists());
    let Some(path) = named.or_else(usual) else {
        let message = msg::no_certificates();
        return Err(Failure::new(Exit::Unreachable, message).hint("export DANLU_CA=FILE"));
    };
    let shown = path.display();
    let bytes = fs::read(&path).map_err(|cause| {
        let message = msg::could_not_read_shown_cause(&shown, &cause);
        Failure::new(Exit::Usage, message).hint("export DANLU_CA=FILE")
    })?;
    let certificates = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    Ok(certificates.collect())
}
