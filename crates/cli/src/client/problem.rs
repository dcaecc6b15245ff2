//! What can go wrong between a verb and the server, as far as a caller may want to tell it apart.

use std::io::{self, ErrorKind};

use danlu_wire::api::{ErrorBody, ErrorCode};

use super::Address;
use crate::{
    failure::{Exit, Failure},
    language::{say, text},
    screen::width::plain,
};

#[derive(Debug)]
pub(crate) enum Problem {
    /// Nothing was sent.
    Unreachable(Failure),
    /// The connection broke: what was asked may or may not have been done.
    Lost { cause: String },
    /// The server said no.
    Refused(ErrorBody),
    /// An answer that makes no sense.
    Odd(String),
}

impl Problem {
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(body) => Some(body.code),
            _ => None,
        }
    }

    pub(super) fn from_ureq(error: ureq::Error, address: &Address) -> Self {
        match error {
            ureq::Error::Io(cause) => match cause.kind() {
                ErrorKind::NotFound
                | ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
                | ErrorKind::NotADirectory
                | ErrorKind::InvalidInput => {
                    Self::Unreachable(unreachable(address, &plainly(&cause)))
                }
                ErrorKind::PermissionDenied => Self::Unreachable(not_permitted(address)),
                _ => Self::Lost { cause: cause.to_string() },
            },
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve)
            | ureq::Error::HostNotFound
            | ureq::Error::BadUri(_)
            | ureq::Error::Http(_)
            | ureq::Error::ConnectionFailed => {
                Self::Unreachable(unreachable(address, &error.to_string()))
            }
            ureq::Error::Timeout(_) => Self::Lost { cause: error.to_string() },
            other => Self::Odd(other.to_string()),
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Unreachable(failure) => failure,
            Problem::Lost { cause } => Self::new(
                Exit::Unreachable,
                say!("the connection to the server broke: {cause}", "与服务器的连接中断：{cause}"),
            )
            .hint(text("see whether it was done: danlu ls", "请确认是否已完成：danlu ls")),
            Problem::Refused(body) => Self::from(body),
            Problem::Odd(words) => Self::new(
                Exit::Internal,
                say!(
                    "the server's answer makes no sense: {words}",
                    "无法理解服务器的回答：{words}"
                ),
            )
            .hint(text(
                "are server and command of the same version? danlu version",
                "服务器与命令的版本是否一致？danlu version",
            )),
        }
    }
}

impl From<ErrorBody> for Failure {
    fn from(body: ErrorBody) -> Self {
        // It may quote what somebody else has written.
        let failure = Self::with_status(body.code.exit_status(), plain(&body.message));
        if body.hint.is_empty() { failure } else { failure.hint(plain(&body.hint)) }
    }
}

/// What the usual causes mean.
fn plainly(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::NotFound => text("there is no such socket", "没有该套接字").to_owned(),
        ErrorKind::ConnectionRefused => text("nobody answers there", "无人应答").to_owned(),
        _ => cause.to_string(),
    }
}

fn unreachable(address: &Address, cause: &str) -> Failure {
    let at = match address {
        Address::Socket(path) => path.display().to_string(),
        Address::Http(address) => address.clone(),
    };
    Failure::new(
        Exit::Unreachable,
        say!("could not reach the server at {at}: {cause}", "无法连接服务器 {at}：{cause}"),
    )
    .hint(text(
        "danlu up starts one; --server names another",
        "danlu up 可启动服务器；--server 可指明另一个",
    ))
}

fn not_permitted(address: &Address) -> Failure {
    let Address::Socket(path) = address else {
        return unreachable(address, "permission denied");
    };
    let path = path.display();
    Failure::new(
        Exit::NotPermitted,
        say!("you may not use the socket {path}", "您无权使用套接字 {path}"),
    )
    .hint(text(
        "it belongs to somebody else's server: start your own with danlu up, or name another with --server",
        "它属于他人的服务器：请用 danlu up 启动自己的，或用 --server 指明另一个",
    ))
}
