//! Address and token of the server that the agent joins, checked before anything is tried.

use std::{
    env, fmt, fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::ServerOptions;
use crate::failure::{Exit, Failure};
use danlu_messages::cli::agent as msg;

pub(super) const TOKEN_VARIABLE: &str = "DANLU_AGENT_TOKEN";
/// Longer files are no tokens.
const MOST_BYTES: u64 = 4096;

/// Everything that dialling needs.
#[derive(Debug, Clone)]
pub(super) struct ServerAccess {
    pub(super) encrypted: bool,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) token: NodeToken,
    pub(super) ca: Option<PathBuf>,
}

/// The secret, and which certificate the server has, where it is its own.
#[derive(Clone)]
pub(super) struct NodeToken {
    pub(super) secret: String,
    pub(super) fingerprint: Option<[u8; 32]>,
}

impl fmt::Debug for NodeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl ServerAccess {
    pub(super) fn of(server: &ServerOptions) -> Result<ServerAccess, Failure> {
        let token = match (&server.token, &server.token_file, env::var(TOKEN_VARIABLE)) {
            (Some(token), _, _) => token.clone(),
            (None, Some(path), _) => read(path)?,
            (None, None, Ok(token)) => token,
            (None, None, Err(_)) => {
                let message = msg::no_token();
                return Err(Failure::new(Exit::Usage, message).hint(msg::get_token_from_server()));
            }
        };
        let (encrypted, host, port) = parse(&server.url)?;
        let near = matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1");
        if !encrypted && !near && !server.plain {
            let url = &server.url;
            let message = msg::url_not_encrypted(&url);
            let hint = msg::use_https_or_plain();
            return Err(Failure::new(Exit::Usage, message).hint(hint));
        }
        Ok(ServerAccess {
            encrypted,
            host,
            port,
            token: NodeToken::parse(&token)?,
            ca: server.ca.clone(),
        })
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let wrong = |what: String| {
        Failure::new(Exit::Usage, format!("{shown}: {what}")).hint(format!("chmod 600 {shown}"))
    };
    let facts = fs::metadata(path).map_err(|cause| wrong(cause.to_string()))?;
    if facts.mode() & 0o077 != 0 || facts.len() > MOST_BYTES {
        return Err(wrong(msg::unreadable_token_file().to_owned()));
    }
    fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(|it| wrong(it.to_string()))
}

impl NodeToken {
    fn parse(text: &str) -> Result<NodeToken, Failure> {
        let wrong = || {
            let message = text_of_wrong_token();
            Failure::new(Exit::Usage, message).hint("danlu node token NAME")
        };
        let plain = |it: &str| {
            (16..=256).contains(&it.len())
                && it.chars().all(|it| it.is_ascii_alphanumeric() || "-_".contains(it))
        };
        let (secret, fingerprint) = match text.split_once('.') {
            Some((secret, digits)) => (secret, Some(from_hex(digits).ok_or_else(wrong)?)),
            None => (text, None),
        };
        if !plain(secret) {
            return Err(wrong());
        }
        Ok(NodeToken { secret: secret.to_owned(), fingerprint })
    }
}

fn text_of_wrong_token() -> &'static str {
    msg::bad_token()
}

fn from_hex(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// `https://host:8787`, `https://[::1]:8787/`.
fn parse(url: &str) -> Result<(bool, String, u16), Failure> {
    let wrong = || {
        let message = msg::url_is_not_the_address_of_a_server(&url);
        Failure::new(Exit::Usage, message).hint("https://HOST:8787")
    };
    let (encrypted, rest) = match url.split_once("://") {
        Some(("https" | "wss", rest)) => (true, rest),
        Some(("http" | "ws", rest)) => (false, rest),
        _ => return Err(wrong()),
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(wrong)?)),
        None => match rest.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().map_err(|_| wrong())?,
        None => danlu_server::daemon::config::DEFAULT_PORT,
    };
    let plain = |it: char| it.is_ascii_alphanumeric() || ".-_:%".contains(it);
    if host.is_empty() || host.len() > 255 || port == 0 || !host.chars().all(plain) {
        return Err(wrong());
    }
    Ok((encrypted, host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let read = |url: &str| parse(url).ok();
        let is = |host: &str| Some((true, host.to_owned(), 8787));
        assert_eq!(read("https://gpu-server"), is("gpu-server"));
        assert_eq!(read("https://10.0.0.1:8787/"), is("10.0.0.1"));
        assert_eq!(read("wss://[fe80::1]:8787"), is("fe80::1"));
        assert_eq!(read("http://localhost:80"), Some((false, "localhost".to_owned(), 80)));
        for bad in ["", "gpu7", "ftp://x", "https://", "https://a b", "https://x:0", "https://x/y"]
        {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn tokens_may_say_which_certificate() {
        let secret = "0123456789abcdef";
        assert!(NodeToken::parse(secret).is_ok_and(|token| token.fingerprint.is_none()));
        let with = format!("{secret}.{}", "ab".repeat(32));
        assert!(NodeToken::parse(&with).is_ok_and(|token| token.fingerprint == Some([0xab; 32])));
        for bad in ["", "short", "0123456789abcdef.12", "0123456789 abcdef"] {
            assert!(NodeToken::parse(bad).is_err(), "{bad:?}");
        }
        assert!(!format!("{:?}", NodeToken::parse(secret)).contains(secret));
    }
}
