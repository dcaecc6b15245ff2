//! Who people are on other machines: the OS user that an admin names for each, and a way in by SSH of their own.
//!
//! Invariant: an OS user is named by admins alone, for an agent with root would become anybody. What people say
//! themselves counts only for a connection that their own key opens.
//! Invariant: keys are files that only the server's user can read; no record, log, message or answer has one.

mod key;

pub(crate) use key::BadKey;
pub use key::KeyNote;

use crate::handle::{Asker, Handle, NotNow};
use crate::nodes::Door;
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

/// Copies are the same.
#[derive(Debug, Clone)]
pub struct Logins(Arc<All>);

#[derive(Debug)]
struct All {
    known: RwLock<Known>,
    /// One change after the other, so that what is known follows what is durable.
    changing: tokio::sync::Mutex<()>,
    data: PathBuf,
}

type Known = BTreeMap<(UserId, String), Login>;

/// Of one person on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    pub user: UserId,
    pub node: String,
    /// Whom their tasks run as there, as an admin says.
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
    /// Which machine it was given for and how that was reached then; it is of no use for another.
    #[serde(default)]
    pub way: Option<String>,
}

#[derive(Debug, Error)]
pub(crate) enum LoginError {
    #[error("{}", errors::it_cannot_be_the_name_of_a_user_there(&format_args!("{:?}", .0)))]
    Name(String),
    #[error("{}", errors::nobodys_tasks_run_as_root_by_a_key_of_their())]
    Root,
    #[error("{}", errors::it_is_the_servers_own_login_there(.0))]
    ServersOwn(String),
    #[error("{}", errors::there_is_no_key_yet())]
    NoKey,
    #[error(transparent)]
    Key(#[from] BadKey),
    #[error("{}", errors::too_many_of_them_at_most_most(&MOST))]
    TooMany,
    #[error("{}", errors::there_is_none_for_it(.0))]
    Missing(String),
    #[error("{}", errors::could_not_keep_the_key_in_path_error(&path.display(), error))]
    File { path: PathBuf, error: io::Error },
    #[error(transparent)]
    NotNow(#[from] NotNow),
}

const KIND: &str = "login";
/// Of one person.
const MOST: usize = 1_000;

impl Logins {
    pub(crate) fn load(store: &Store, data: &Path) -> Result<Logins, StoreError> {
        let mut known = Known::new();
        for json in store.records(KIND)? {
            let login: Login = serde_json::from_str(&json)
                .map_err(|error| store.damaged(format!("a login cannot be read: {error}")))?;
            known.insert((login.user, login.node.clone()), login);
        }
        let known = RwLock::new(known);
        let changing = tokio::sync::Mutex::default();
        Ok(Logins(Arc::new(All { known, changing, data: data.to_owned() })))
    }

    /// Whom somebody's tasks run as on a machine, where an admin has said so.
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
        key::is_private(&place).ok()?;
        Some((login, place))
    }

    /// Who has a way in of their own.
    pub(crate) fn with_keys_on(&self, node: &str) -> Vec<UserId> {
        let known = self.read();
        let there = known.values().filter(|login| login.node == node && login.ssh.is_some());
        there.map(|login| login.user).collect()
    }

    /// Nothing for the one that they have everywhere.
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

    /// Without a key the one that is there stays.
    pub(crate) async fn set_ssh(
        &self,
        handle: &Handle,
        user: UserId,
        (node, ssh_user): (&str, &str),
        door: &Door,
        given: Option<&Secret>,
        by: &Asker,
    ) -> Result<(), LoginError> {
        check_name(ssh_user)?;
        if ssh_user == "root" {
            return Err(LoginError::Root);
        }
        if ssh_user == door.login {
            return Err(LoginError::ServersOwn(ssh_user.to_owned()));
        }
        let _turn = self.0.changing.lock().await;
        let login = self.login(user, node);
        let note = match given {
            Some(given) => {
                let (kept, note) = key::checked(&given.0)?;
                let place = self.place(user, node);
                let written = tokio::task::spawn_blocking(move || key::write(&place, &kept)).await;
                let written =
                    written.unwrap_or_else(|_| Err((PathBuf::new(), io::ErrorKind::Other.into())));
                written.map_err(|(path, error)| LoginError::File { path, error })?;
                note
            }
            None => login.ssh.clone().ok_or(LoginError::NoKey)?.key,
        };
        let detail = format!("{ssh_user}, key {} {}", note.kind, note.fingerprint);
        let is_first = login.ssh.is_none();
        let way = Some(door.way.clone());
        let ssh = Some(SshLogin { user: ssh_user.to_owned(), key: note, way });
        let deed = deed(by, Act::SetSshLoginOn, format!("node {node}"), detail);
        let kept = self.keep(handle, Login { ssh, ..login }, deed).await;
        if kept.is_err() && is_first {
            key::remove(&self.place(user, node));
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
        key::remove(&self.place(user, node));
        Ok(())
    }

    /// An account that is gone leaves no key behind, nor does a machine: the next one of its name is another.
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
            key::remove(&self.place(login.user, &login.node));
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
            key::remove(&self.place(login.user, node));
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

    /// It is in the store already.
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
        key::place(&self.0.data, user.0, node)
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
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

/// Nothing that `ssh` or a shell could take for something else.
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
