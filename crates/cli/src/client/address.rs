//! Finds the address of the server: option, variable, data directory, default socket.

use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use danlu_messages::cli::client as msg;

use crate::failure::{Exit, Failure};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Socket(PathBuf),
    /// `http://host:port` or `https://…`, without a slash at the end.
    Http(String),
}

impl Address {
    /// `--server`, `DANLU_SERVER`, or the usual places.
    pub(crate) fn find(flag: Option<&str>) -> Result<Self, Failure> {
        let variable = env::var("DANLU_SERVER").ok().filter(|given| !given.is_empty());
        match flag.or(variable.as_deref()) {
            Some(given) => Self::parse(given),
            None => Self::usual(&Surroundings::current()),
        }
    }

    fn parse(given: &str) -> Result<Self, Failure> {
        if given.starts_with("http://") || given.starts_with("https://") {
            return Ok(Self::Http(given.trim_end_matches('/').to_owned()));
        }
        let path = PathBuf::from(given.strip_prefix("unix:").unwrap_or(given));
        Ok(Self::Socket(if path.is_dir() { path.join(SOCKET) } else { path }))
    }

    /// The user's own server comes before that of the machine.
    fn usual(around: &Surroundings) -> Result<Self, Failure> {
        let places = around.places();
        let found = places.iter().find(|place| place.symlink_metadata().is_ok());
        if let Some(path) = found {
            refuse_strangers(path, around.uid)?;
        }
        // When there is none, the first is where it would be.
        Ok(Self::Socket(found.unwrap_or(&places[0]).clone()))
    }
}

const SOCKET: &str = "danlu.sock";

/// What the usual places depend on.
struct Surroundings {
    uid: u32,
    data: Option<OsString>,
    runtime: Option<OsString>,
    machine: PathBuf,
}

impl Surroundings {
    fn current() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        Self {
            uid: nix::unistd::geteuid().as_raw(),
            data: set("DANLU_DATA"),
            runtime: set("XDG_RUNTIME_DIR"),
            machine: PathBuf::from("/run/danlu").join(SOCKET),
        }
    }

    /// Never empty.
    fn places(&self) -> Vec<PathBuf> {
        if let Some(data) = &self.data {
            return vec![Path::new(data).join(SOCKET)];
        }
        if self.uid == 0 {
            return vec![self.machine.clone()];
        }
        let runtime = self.runtime.as_ref().map(|it| Path::new(it).join("danlu").join(SOCKET));
        let fallback = PathBuf::from(format!("/var/tmp/danlu-{}", self.uid)).join(SOCKET);
        runtime.into_iter().chain([fallback, self.machine.clone()]).collect()
    }
}

/// All users can write to `/var/tmp`: a socket there that another user made is a trap.
fn refuse_strangers(path: &Path, uid: u32) -> Result<(), Failure> {
    let owner = fs::symlink_metadata(path).map(|facts| facts.uid());
    match owner {
        Ok(owner) if owner != uid && owner != 0 && uid != 0 => {
            let path = path.display();
            Err(Failure::new(Exit::NotPermitted, msg::socket_of_another_user(&path))
                .hint(msg::choose_server()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(uid: u32, data: Option<&str>, runtime: Option<&str>) -> Surroundings {
        Surroundings {
            uid,
            data: data.map(Into::into),
            runtime: runtime.map(Into::into),
            machine: PathBuf::from("/nowhere/danlu.sock"),
        }
    }

    #[test]
    fn a_name_is_an_address_or_a_path() {
        let parse = |given| Address::parse(given).expect("it is an address");
        assert_eq!(parse("http://a:1/"), Address::Http("http://a:1".into()));
        assert_eq!(parse("/a/b.sock"), Address::Socket("/a/b.sock".into()));
        assert_eq!(parse("unix:/a/b.sock"), Address::Socket("/a/b.sock".into()));
        assert_eq!(parse("/"), Address::Socket("/danlu.sock".into()));
        assert_eq!(parse("https://a"), Address::Http("https://a".into()));
    }

    #[test]
    fn the_data_directory_comes_first_then_the_users_own_then_the_machines() {
        let first = |around: &Surroundings| around.places()[0].display().to_string();
        assert_eq!(first(&around(0, Some("/data"), Some("/run/user/0"))), "/data/danlu.sock");
        assert_eq!(first(&around(0, None, Some("/run/user/0"))), "/nowhere/danlu.sock");
        assert_eq!(first(&around(7, None, Some("/run/user/7"))), "/run/user/7/danlu/danlu.sock");
        assert_eq!(first(&around(7, None, None)), "/var/tmp/danlu-7/danlu.sock");
        let last = around(7, None, None).places().pop();
        assert_eq!(last, Some("/nowhere/danlu.sock".into()));
    }

    #[test]
    fn the_first_that_is_there_is_taken() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let socket = directory.path().join("danlu.sock");
        fs::write(&socket, "").expect("it can be written");
        let uid = nix::unistd::geteuid().as_raw();
        let mut around = around(uid.max(1), None, Some("/nowhere"));
        around.machine.clone_from(&socket);
        let found = Address::usual(&around).expect("it is ours or root's");
        assert_eq!(found, Address::Socket(socket));
    }
}
