//! Private SSH keys of users: checks their format and stores them in files.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use danlu_messages::errors;
use danlu_node::private;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Of RSA with 16,384 bits there are 13 kB.
const MOST_BYTES: usize = 16 << 10;

/// What may be shown of a key, from its public half.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyNote {
    /// `ssh-ed25519`.
    pub kind: String,
    /// `SHA256:…`, as `ssh-keygen -l` tells it.
    pub fingerprint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum BadKey {
    #[error("{}", errors::key_too_large())]
    Long,
    #[error("{}", errors::key_is_public())]
    Public,
    #[error("{}", errors::key_has_passphrase())]
    Passphrase,
    #[error("{}", errors::key_not_openssh())]
    OldForm,
    #[error("{}", errors::not_a_private_key())]
    NotAKey,
}

/// The key as it is kept, and what may be told of it.
pub(super) fn checked(given: &str) -> Result<(String, KeyNote), BadKey> {
    if given.len() > MOST_BYTES {
        return Err(BadKey::Long);
    }
    let lines: Vec<&str> = given.trim().lines().map(str::trim).collect();
    let [first, body @ .., last] = lines.as_slice() else { return Err(other(given)) };
    if *first != "-----BEGIN OPENSSH PRIVATE KEY-----"
        || *last != "-----END OPENSSH PRIVATE KEY-----"
    {
        return Err(other(given));
    }
    let bytes = STANDARD.decode(body.concat()).map_err(|_| BadKey::NotAKey)?;
    let note = note(&bytes)?;
    // `ssh` wants the last line to end.
    Ok((lines.join("\n") + "\n", note))
}

fn other(given: &str) -> BadKey {
    let given = given.trim_start();
    if ["ssh-", "ecdsa-", "sk-"].into_iter().any(|kind| given.starts_with(kind)) {
        BadKey::Public
    } else if given.contains("ENCRYPTED") {
        BadKey::Passphrase
    } else if given.starts_with("-----BEGIN ") && given.contains("PRIVATE KEY-----") {
        BadKey::OldForm
    } else {
        BadKey::NotAKey
    }
}

/// Lengths are of four bytes, the highest first: cipher, derivation, its options, how many keys, the public one.
fn note(bytes: &[u8]) -> Result<KeyNote, BadKey> {
    let rest = bytes.strip_prefix(b"openssh-key-v1\0").ok_or(BadKey::NotAKey)?;
    let (cipher, rest) = text(rest).ok_or(BadKey::NotAKey)?;
    if cipher != b"none" {
        return Err(BadKey::Passphrase);
    }
    let found = || {
        let (_, rest) = text(rest)?;
        let (_, rest) = text(rest)?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let (public, rest) = text(rest)?;
        let (private, _) = text(rest)?;
        // The same number twice: what was deciphered well looks so, and what never was enciphered.
        let whole = u32::from_be_bytes(*count) == 1 && private.get(..4)? == private.get(4..8)?;
        let (kind, _) = text(public)?;
        let kind = std::str::from_utf8(kind).ok().filter(|kind| is_plain(kind))?;
        let fingerprint = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(public)));
        whole.then(|| KeyNote { kind: kind.to_owned(), fingerprint })
    };
    found().ok_or(BadKey::NotAKey)
}

fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

fn is_plain(kind: &str) -> bool {
    !kind.is_empty()
        && kind.len() <= 64
        && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-@.".contains(&byte))
}

/// The file of a user's key for a machine. Names of machines contain no separators.
pub(super) fn place(data: &Path, user: u32, node: &str) -> PathBuf {
    data.join("keys").join(user.to_string()).join(node)
}

/// All of it or nothing. `Err` tells what could not be done with which file.
pub(super) fn write(place: &Path, key: &str) -> Result<(), (PathBuf, io::Error)> {
    let directory = place.parent().unwrap_or(place);
    let keys = directory.parent().unwrap_or(directory);
    for place in [keys, directory] {
        let failed = |error| (place.to_owned(), error);
        // A directory that others could read may have exposed a key: log it.
        if place.symlink_metadata().is_ok() {
            is_private(place).map_err(failed)?;
        }
        private::directory(place, private::PRIVATE).map_err(failed)?;
    }
    private::replace_durably(place, key.as_bytes()).map_err(|error| (place.to_owned(), error))
}

pub(super) fn remove(place: &Path) {
    // A missing file is fine.
    let _ = fs::remove_file(place);
    if let Some(directory) = place.parent() {
        let _ = fs::remove_dir(directory);
    }
}

/// Readable by the server's user only.
pub(super) fn is_private(path: &Path) -> io::Result<()> {
    let facts = fs::symlink_metadata(path)?;
    let own = facts.uid() == nix::unistd::geteuid().as_raw();
    if facts.is_symlink() || !own || facts.mode() & 0o077 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others may look at it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn string(bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).expect("it is short");
        [&length.to_be_bytes()[..], bytes].concat()
    }

    /// As `ssh-keygen` writes them, but for the numbers in it.
    fn key(cipher: &str, checks: [u8; 2]) -> String {
        let public = [string(b"ssh-ed25519"), string(&[7; 32])].concat();
        let private = [&[checks[0]; 4][..], &[checks[1]; 4], &[1; 64]].concat();
        let bytes = [
            b"openssh-key-v1\0".to_vec(),
            string(cipher.as_bytes()),
            string(b"none"),
            string(b""),
            1_u32.to_be_bytes().to_vec(),
            string(&public),
            string(&private),
        ];
        let body = STANDARD.encode(bytes.concat());
        let lines: Vec<String> =
            body.as_bytes().chunks(70).map(|it| String::from_utf8_lossy(it).into_owned()).collect();
        format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n",
            lines.join("\n")
        )
    }

    #[test]
    fn a_key_without_passphrase_is_known_by_its_public_half() {
        let given = key("none", [5, 5]);
        let pasted = format!("  {}", given.replace('\n', "\r\n"));
        let (kept, note) = checked(&pasted).expect("it is a key");
        assert_eq!(kept, given);
        assert_eq!(note.kind, "ssh-ed25519");
        assert!(note.fingerprint.starts_with("SHA256:"), "{note:?}");
    }

    #[test]
    fn what_is_no_such_key_is_told_apart() {
        let check = |given: &str, expect| assert_eq!(checked(given), Err(expect), "{expect}");
        check("", BadKey::NotAKey);
        check("hello\nworld\n!", BadKey::NotAKey);
        check(&"x".repeat(MOST_BYTES + 1), BadKey::Long);
        check("ssh-ed25519 AAAAC3Nza ann@lab", BadKey::Public);
        check(&key("aes256-ctr", [5, 5]), BadKey::Passphrase);
        check(&key("none", [5, 6]), BadKey::NotAKey);
        check(
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
            BadKey::OldForm,
        );
        let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n-----END RSA PRIVATE KEY-----";
        check(old, BadKey::Passphrase);
        let whole = key("none", [5, 5]);
        check(&whole.replacen("b3BlbnNza", "AAAAAAAAA", 1), BadKey::NotAKey);
    }

    #[test]
    fn files_are_of_the_server_alone() {
        let data = tempfile::tempdir().expect("a directory");
        let place = place(data.path(), 3, "gpu7");
        write(&place, "one").expect("it is written");
        write(&place, "two").expect("it is replaced");
        assert_eq!(fs::read_to_string(&place).expect("it is there"), "two");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o777;
        assert_eq!((mode(&place), mode(&data.path().join("keys"))), (0o600, 0o700));
        assert!(is_private(&place).is_ok());

        fs::set_permissions(data.path().join("keys"), fs::Permissions::from_mode(0o755))
            .expect("they can be set");
        let (path, _) = write(&place, "three").expect_err("others could look into it");
        assert_eq!(path, data.path().join("keys"));
        assert_eq!(fs::read_to_string(&place).expect("it is there"), "two");
        remove(&place);
        assert!(!place.exists());
    }
}
