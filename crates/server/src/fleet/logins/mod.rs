//! Users' logins on other machines: the OS user that an administrator assigns, and the user's own SSH login.
//!
//! Invariant: only administrators assign an OS user, because an agent with root can become any user. A login that users name
//! themselves counts only for a connection that their own key opens.
//! Invariant: keys are files that only the server's user can read; no record, log, message or response contains one.

mod private_key;

pub(crate) use private_key::BadKey;
pub use private_key::KeyNote;

use crate::daemon::handle::{Asker, Handle, NotNow};
use crate::fleet::remote::KeyLogin;
use crate::store::{Deed, RecordChange, Store, StoreError};
use danlu_core::UserId;
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_wire::api::Secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use thiserror::Error;
use tracing::info;

/// Clones share the same data.
#[derive(Debug, Clone)]
pub struct Logins(Arc<LoginTable>);

#[derive(Debug)]
struct LoginTable {
    known: RwLock<LoginMap>,
    /// Serialises changes, so that memory follows what is committed.
    changing: tokio::sync::Mutex<()>,
    data: PathBuf,
}

type LoginMap = BTreeMap<(UserId, String), Login>;

/// The login of one user on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    pub user: UserId,
    pub node: String,
    /// The OS user that their tasks run as there, assigned by an administrator.
    #[serde(default)]
    pub os_user: Option<String>,
    #[serde(default)]
    pub ssh: Option<SshLogin>,
}

/// For a machine whose agent is not root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshLogin {
    pub user: String,
    pub key: KeyNote,
    /// Identifies the machine and the route that the key was given for; it is not used for another.
    #[serde(default, rename = "way")]
    pub route_id: Option<String>,
}

#[derive(Debug, Error)]
pub(crate) enum LoginError {
    #[error("{}", errors::bad_user_there(&format_args!("{:?}", .0)))]
    Name(String),
    #[error("{}", errors::no_root_by_own_key())]
    Root,
    #[error("{}", errors::server_login_there(.0))]
    ServersOwn(String),
    #[error("{}", errors::no_key_yet())]
    NoKey,
    #[error(transparent)]
    Key(#[from] BadKey),
    #[error("{}", errors::too_many_of_them_at_most_most(&MOST))]
    TooMany,
    #[error("{}", errors::no_login_for(.0))]
    Missing(String),
    #[error("{}", errors::could_not_save_key(&path.display(), error))]
    File { path: PathBuf, error: io::Error },
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

const KIND: &str = "login";
/// All logins of one user.
const MOST: usize = 1_000;

impl Logins {
    pub(crate) fn load(store: &Store, data: &Path) -> Result<Logins, StoreError> {
        let mut known = LoginMap::new();
        for json in store.records(KIND)? {
            let login: Login = serde_json::from_str(&json)
                .map_err(|error| store.damaged(format!("a login cannot be read: {error}")))?;
            known.insert((login.user, login.node.clone()), login);
        }
        let known = RwLock::new(known);
        let changing = tokio::sync::Mutex::default();
        Ok(Logins(Arc::new(LoginTable { known, changing, data: data.to_owned() })))
    }

    /// The OS user that a user's tasks run as on a machine, if an administrator assigned one.
    pub(crate) fn os_user(&self, user: UserId, node: &str) -> Option<String> {
        self.read().get(&(user, node.to_owned()))?.os_user.clone()
    }

    pub(crate) fn os_users(&self, user: UserId) -> BTreeMap<String, String> {
        let of = self.of(user).into_iter();
        of.filter_map(|login| Some((login.node, login.os_user?))).collect()
    }

    pub(crate) fn of(&self, user: UserId) -> Vec<Login> {
        let known = self.read();
        known
            .range((user, String::new())..)
            .map(|(_, it)| it)
            .take_while(|it| it.user == user)
            .cloned()
            .collect()
    }

    /// The user name and the file of the key with which a connection for this person alone is opened.
    pub fn ssh(&self, user: UserId, node: &str) -> Option<(SshLogin, PathBuf)> {
        let login = self.read().get(&(user, node.to_owned()))?.ssh.clone()?;
        let place = self.place(user, node);
        private_key::is_private(&place).ok()?;
        Some((login, place))
    }

    /// Users with an SSH key of their own for a machine.
    pub(crate) fn with_keys_on(&self, node: &str) -> Vec<UserId> {
        let known = self.read();
        let there = known.values().filter(|login| login.node == node && login.ssh.is_some());
        there.map(|login| login.user).collect()
    }

    /// `None` to use the default OS user.
    pub(crate) async fn name_os_user(
        &self,
        handle: &Handle,
        (user, name): (UserId, &str),
        (node, os_user): (&str, &str),
        by: &Asker,
    ) -> Result<(), LoginError> {
        let os_user = Some(os_user.trim()).filter(|it| !it.is_empty());
        if let Some(os_user) = os_user {
            check_name(os_user)?;
        }
        let _turn = self.0.changing.lock().await;
        let login = Login { os_user: os_user.map(str::to_owned), ..self.login(user, node) };
        let detail = match os_user {
            Some(os_user) => format!("{os_user} on {node}"),
            None => format!("no other on {node}"),
        };
        self.keep(handle, login, deed(by, Act::NameOsUserOf, format!("user {name}"), detail)).await
    }

    /// Without a new key, the existing one stays.
    pub(crate) async fn set_ssh(
        &self,
        handle: &Handle,
        user: UserId,
        (node, ssh_user): (&str, &str),
        key_login: &KeyLogin,
        given: Option<&Secret>,
        by: &Asker,
    ) -> Result<(), LoginError> {
        check_name(ssh_user)?;
        if ssh_user == "root" {
            return Err(LoginError::Root);
        }
        if ssh_user == key_login.login {
            return Err(LoginError::ServersOwn(ssh_user.to_owned()));
        }
        let _turn = self.0.changing.lock().await;
        let login = self.login(user, node);
        let note = match given {
            Some(given) => {
                let (kept, note) = private_key::checked(&given.0)?;
                let place = self.place(user, node);
                let written =
                    tokio::task::spawn_blocking(move || private_key::write(&place, &kept)).await;
                let written =
                    written.unwrap_or_else(|_| Err((PathBuf::new(), io::ErrorKind::Other.into())));
                written.map_err(|(path, error)| LoginError::File { path, error })?;
                note
            }
            None => login.ssh.clone().ok_or(LoginError::NoKey)?.key,
        };
        let detail = format!("{ssh_user}, key {} {}", note.kind, note.fingerprint);
        let is_first = login.ssh.is_none();
        let route_id = Some(key_login.route_id.clone());
        let ssh = Some(SshLogin { user: ssh_user.to_owned(), key: note, route_id });
        let deed = deed(by, Act::SetSshLoginOn, format!("node {node}"), detail);
        let kept = self.keep(handle, Login { ssh, ..login }, deed).await;
        if kept.is_err() && is_first {
            private_key::remove(&self.place(user, node));
        }
        kept
    }

    pub(crate) async fn remove_ssh(
        &self,
        handle: &Handle,
        user: UserId,
        node: &str,
        by: &Asker,
    ) -> Result<(), LoginError> {
        let _turn = self.0.changing.lock().await;
        let login = self.login(user, node);
        if login.ssh.is_none() {
            return Err(LoginError::Missing(node.to_owned()));
        }
        let deed = deed(by, Act::RemoveSshLoginOn, format!("node {node}"), String::new());
        self.keep(handle, Login { ssh: None, ..login }, deed).await?;
        private_key::remove(&self.place(user, node));
        Ok(())
    }

    /// Deletes the keys of a removed account or machine: the next of the same name is another one.
    pub(crate) async fn forget(
        &self,
        handle: &Handle,
        which: impl Fn(&Login) -> bool,
    ) -> Result<(), NotNow> {
        let _turn = self.0.changing.lock().await;
        let gone: Vec<Login> = self.read().values().filter(|it| which(it)).cloned().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let records = gone.iter().map(|it| RecordChange::Delete { kind: KIND, id: id(it) });
        handle.keep(records.collect(), None).await?;
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        for login in gone {
            private_key::remove(&self.place(login.user, &login.node));
            known.remove(&(login.user, login.node));
        }
        Ok(())
    }

    /// The machine is another one, is reached in another way, or turns out to be one where the server is root: keys that
    /// people gave for it before are worth nothing. Whom an admin has named stays.
    pub(crate) async fn drop_ssh(&self, handle: &Handle, node: &str) -> Result<(), NotNow> {
        let _turn = self.0.changing.lock().await;
        let there = |it: &&Login| it.node == node && it.ssh.is_some();
        let gone: Vec<Login> = self.read().values().filter(there).cloned().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let left = gone.iter().map(|it| Login { ssh: None, ..it.clone() });
        let left: Vec<Login> = left.collect();
        handle.keep(left.iter().map(change).collect(), None).await?;
        for login in left {
            info!(node, user = login.user.0, "the key for it is removed");
            private_key::remove(&self.place(login.user, node));
            self.put(login);
        }
        Ok(())
    }

    async fn keep(&self, handle: &Handle, login: Login, deed: Deed) -> Result<(), LoginError> {
        let is_new = !self.read().contains_key(&(login.user, login.node.clone()));
        if !login.is_empty() && is_new && self.of(login.user).len() >= MOST {
            return Err(LoginError::TooMany);
        }
        handle.keep(vec![change(&login)], Some(deed)).await?;
        self.put(login);
        Ok(())
    }

    /// Its entry is in the store already.
    fn put(&self, login: Login) {
        let place = (login.user, login.node.clone());
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        if login.is_empty() {
            known.remove(&place)
        } else {
            known.insert(place, login)
        };
    }

    fn login(&self, user: UserId, node: &str) -> Login {
        let known = self.read().get(&(user, node.to_owned())).cloned();
        known.unwrap_or_else(|| Login { user, node: node.to_owned(), os_user: None, ssh: None })
    }

    fn place(&self, user: UserId, node: &str) -> PathBuf {
        private_key::place(&self.0.data, user.0, node)
    }

    fn read(&self) -> RwLockReadGuard<'_, LoginMap> {
        self.0.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Login {
    fn is_empty(&self) -> bool {
        self.os_user.is_none() && self.ssh.is_none()
    }
}

fn change(login: &Login) -> RecordChange {
    if login.is_empty() {
        return RecordChange::Delete { kind: KIND, id: id(login) };
    }
    // Names only: it can be written.
    let json = serde_json::to_string(login).unwrap_or_default();
    RecordChange::Put { kind: KIND, id: id(login), json }
}

/// Names of machines have no slash.
fn id(login: &Login) -> String {
    format!("{}/{}", login.user, login.node)
}

/// Contains nothing that `ssh` or a shell would interpret.
fn check_name(name: &str) -> Result<(), LoginError> {
    let plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    // Accounts of machines end with a dollar sign.
    let word = name.strip_suffix('$').unwrap_or(name);
    if word.is_empty() || name.len() > 64 || name.starts_with('-') || !word.chars().all(plain) {
        return Err(LoginError::Name(name.chars().take(64).collect()));
    }
    Ok(())
}

fn deed(by: &Asker, act: Act, target: String, detail: String) -> Deed {
    Deed { user: by.name.clone(), origin: by.origin.clone(), act, target, detail }
}
