//! Verifies passwords of OS users through PAM, where that is configured.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// Maximum number of threads that wait for a directory service.
const ASKED_AT_ONCE: usize = 8;

#[derive(Debug)]
pub(crate) struct SystemPasswords {
    service: Option<String>,
    asking: Arc<Semaphore>,
}

impl SystemPasswords {
    pub(crate) fn new(service: Option<String>) -> SystemPasswords {
        if service.is_some() && !cfg!(feature = "pam") {
            tracing::warn!(
                "this program was built without PAM: nobody comes in with an OS password"
            );
        }
        SystemPasswords { service, asking: Arc::new(Semaphore::new(ASKED_AT_ONCE)) }
    }

    /// Whether it is the password of the OS user of that name. Root is refused: there is no root over the network.
    pub(crate) async fn fits(&self, name: &str, password: &str) -> bool {
        let Some(service) = self.service.clone() else { return false };
        if name.is_empty() || password.is_empty() {
            return false;
        }
        let Ok(turn) = Arc::clone(&self.asking).acquire_owned().await else { return false };
        let (name, password) = (name.to_owned(), password.to_owned());
        let ask = move || {
            // Held until the answer arrives, even if the caller has gone.
            let _turn = turn;
            let user = nix::unistd::User::from_name(&name).ok().flatten();
            user.is_some_and(|user| !user.uid.is_root()) && is_right(&service, &name, &password)
        };
        tokio::task::spawn_blocking(ask).await.unwrap_or(false)
    }
}

#[cfg(feature = "pam")]
fn is_right(service: &str, name: &str, password: &str) -> bool {
    use danlu_node::pam::{PamError, check};
    match check(service, name, password) {
        Ok(()) => true,
        Err(PamError::Refused) => false,
        Err(error @ PamError::Missing(_)) => {
            tracing::error!(%error, "nobody comes in with an OS password");
            false
        }
    }
}

#[cfg(not(feature = "pam"))]
fn is_right(_: &str, _: &str, _: &str) -> bool {
    false
}
