//! Caches passwords that were verified recently, for clients that send theirs with every request.

use super::SecretHash;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const GOOD_FOR: Duration = Duration::from_secs(60);
const MOST: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Recent {
    proofs: Mutex<BTreeMap<SecretHash, Instant>>,
}

impl Recent {
    pub(crate) fn knows(&self, proof: &SecretHash) -> bool {
        let proofs = self.proofs.lock();
        proofs.is_ok_and(|proofs| proofs.get(proof).is_some_and(|at| at.elapsed() < GOOD_FOR))
    }

    pub(crate) fn remember(&self, proof: SecretHash) {
        if let Ok(mut proofs) = self.proofs.lock() {
            proofs.retain(|_, at| at.elapsed() < GOOD_FOR);
            if proofs.len() < MOST {
                proofs.insert(proof, Instant::now());
            }
        }
    }
}
