//! Errors of a request, as far as callers have to tell them apart.

use std::io::{self, ErrorKind};

use danlu_messages::cli::client as msg;
use danlu_wire::api::{ErrorBody, ErrorCode};

use super::Address;
use crate::{
    failure::{Exit, Failure},
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
            Self::Unreachable(_) | Self::Lost { .. } | Self::Odd(_) => None,
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
            Problem::Lost { cause } => Self::new(Exit::Unreachable, msg::connection_lost(&cause))
                .hint(msg::see_whether_it_was_done_danlu_ls()),
            Problem::Refused(body) => Self::from(body),
            Problem::Odd(words) => Self::new(Exit::Internal, msg::unexpected_response(&words))
                .hint(msg::compare_versions()),
        }
    }
}

impl From<ErrorBody> for Failure {
    fn from(body: ErrorBody) -> Self {
        // It may quote what another user has written.
        let failure = Self::with_status(body.code.exit_status(), plain(&body.message));
        if body.hint.is_empty() { failure } else { failure.hint(plain(&body.hint)) }
    }
}

/// What the usual causes mean.
fn plainly(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::NotFound => msg::no_such_socket().to_owned(),
        ErrorKind::ConnectionRefused => msg::nobody_answers_there().to_owned(),
        _ => cause.to_string(),
    }
}

fn unreachable(address: &Address, cause: &str) -> Failure {
    let at = match address {
        Address::Socket(path) => path.display().to_string(),
        Address::Http(address) => address.clone(),
    };
    Failure::new(Exit::Unreachable, msg::could_not_reach_server(&at, &cause))
        .hint(msg::start_or_choose_server())
}

fn not_permitted(address: &Address) -> Failure {
    let Address::Socket(path) = address else {
        return unreachable(address, "permission denied");
    };
    let path = path.display();
    Failure::new(Exit::NotPermitted, msg::you_may_not_use_the_socket_path(&path))
        .hint(msg::foreign_server())
}
