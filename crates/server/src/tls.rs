//! Encrypted connections: with the lab's certificate, or with one that is made at the first start.

use crate::config::{Config, TlsFiles};
use axum::serve::Listener;
use danlu_node::private;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use sha2::{Digest as _, Sha256};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;
use tracing::debug;

/// In the data directory.
const OWN_CERTIFICATE: &str = "tls-certificate.pem";
/// Who connects and says nothing does not stay for longer.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Connections whose handshake is done and that nobody has taken yet.
const READY: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("could not read {path}: {error}")]
    Unreadable { path: PathBuf, error: String },
    #[error("could not make a certificate: {0}")]
    NotMade(String),
    #[error("{certificate} and {key} do not fit together: {error}")]
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

/// Good for this machine's name and for `localhost`. Browsers ask whether to trust it, once.
fn make(files: &TlsFiles, host: &str) -> Result<(), TlsError> {
    let names = vec![host.to_owned(), String::from("localhost")];
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names).map_err(|error| TlsError::NotMade(error.to_string()))?;
    let not_made = |error: io::Error| TlsError::NotMade(error.to_string());
    // The certificate last: without it both are made anew.
    private::replace_durably(&files.key, signing_key.serialize_pem().as_bytes())
        .and_then(|()| private::replace_durably(&files.certificate, cert.pem().as_bytes()))
        .map_err(not_made)
}

/// Sends small answers at once: what is live on a page does not wait for more to send.
pub(crate) struct PromptListener(pub(crate) TcpListener);

impl Listener for PromptListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        // Who has work does that first, and leaves the next connection to a thread that has not.
        tokio::task::yield_now().await;
        let (stream, from) = Listener::accept(&mut self.0).await;
        // It is only slower where it cannot be had.
        let _ = stream.set_nodelay(true);
        (stream, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Connections whose handshake is done. A slow one keeps nobody else waiting.
pub(crate) struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl TlsListener {
    pub(crate) fn new(mut tcp: PromptListener, acceptor: TlsAcceptor) -> io::Result<TlsListener> {
        let address = tcp.local_addr()?;
        let (done, ready) = mpsc::channel(READY);
        tokio::spawn(async move {
            while !done.is_closed() {
                let (stream, from) = Listener::accept(&mut tcp).await;
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        Ok(Ok(stream)) => drop(done.send((stream, from)).await),
                        Ok(Err(error)) => debug!(%from, %error, "no encrypted connection"),
                        Err(_) => debug!(%from, "said nothing"),
                    }
                });
            }
        });
        Ok(TlsListener { address, ready })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The one who accepts never ends before us.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
