//! Which certificate the agent accepts from the server that its token is for.

use std::{path::Path, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use sha2::{Digest as _, Sha256};

use super::server_access::ServerAccess;
use crate::{
    client::trusted_certificates,
    failure::{Exit, Failure},
};

/// Only the certificate that the token names; without one, any that is signed by an authority trusted on this machine.
pub(super) fn config(place: &ServerAccess) -> Result<ClientConfig, Failure> {
    let provider = Arc::new(ring::default_provider());
    let wrong = |error: Error| Failure::new(Exit::Internal, error.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    Ok(match place.token.fingerprint {
        Some(fingerprint) if place.ca.is_none() => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(OnlyThis { fingerprint, provider }))
            .with_no_client_auth(),
        _ => builder.with_root_certificates(roots(place.ca.as_deref())?).with_no_client_auth(),
    })
}

fn roots(ca: Option<&Path>) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    for certificate in trusted_certificates(ca)? {
        // Old systems have some that cannot be parsed.
        let _ = roots.add(CertificateDer::from(certificate.der().to_vec()));
    }
    Ok(roots)
}

#[derive(Debug)]
struct OnlyThis {
    fingerprint: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OnlyThis {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if Sha256::digest(certificate)[..] == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
