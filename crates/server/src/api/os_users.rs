//! Names of OS users by uid. Directory services may be slow, so answers are cached.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A renamed account is noticed after this time.
const KEPT: Duration = Duration::from_secs(60);
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub struct Accounts {
    names: Mutex<BTreeMap<u32, (Instant, String)>>,
}

impl Accounts {
    pub(super) async fn name(&self, uid: u32) -> String {
        if let Some(name) = self.kept(uid) {
            return name;
        }
        let look_up = move || nix::unistd::User::from_uid(uid.into()).ok().flatten();
        let user = tokio::task::spawn_blocking(look_up).await.ok().flatten();
        let name = user.map_or_else(|| format!("uid{uid}"), |user| user.name);
        self.keep(uid, &name);
        name
    }

    fn kept(&self, uid: u32) -> Option<String> {
        let names = self.names.lock().ok()?;
        let (since, name) = names.get(&uid)?;
        (since.elapsed() < KEPT).then(|| name.clone())
    }

    fn keep(&self, uid: u32, name: &str) {
        if let Ok(mut names) = self.names.lock() {
            if names.len() >= MOST {
                names.clear();
            }
            names.insert(uid, (Instant::now(), name.to_owned()));
        }
    }
}
