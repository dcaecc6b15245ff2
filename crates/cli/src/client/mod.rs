//! The client of the server's API: HTTP requests and responses, blocking, without an async runtime.

mod address;
mod events;
mod lists;
mod percent;
mod problem;
mod reconnect;
pub(crate) mod responses;
mod submit_once;
mod tls;
mod unix_socket;

use std::{env, io::Read, time::Duration};

use danlu_messages::Language;
use danlu_wire::api::{ErrorDocument, VERSION};
use serde::{Serialize, de::DeserializeOwned};
use ureq::{
    Agent, Body,
    http::{Request, Response},
    unversioned::{
        resolver::DefaultResolver,
        transport::{Connector as _, RustlsConnector, TcpConnector},
    },
};

pub(crate) use address::Address;
pub(crate) use events::{Event, Events};
pub(crate) use lists::{OverviewPlace, Query};
pub(crate) use percent::{path_segment, query_value};
pub(crate) use problem::Problem;
pub(crate) use reconnect::Patience;
pub(crate) use tls::trusted as trusted_certificates;
use unix_socket::{NoResolver, UnixConnector};

use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    address: Address,
    /// Before every path.
    base: String,
    token: Option<String>,
}

/// A document is a few MB at most.
const MOST_BYTES: u64 = 64 << 20;
/// Long, because the disk of a server may be slow.
const PATIENCE: Duration = Duration::from_secs(120);
/// Every request has its own two, cleared before use: with ureq's 128 kB that takes longer than all else a client does.
/// The longest path of a request fits in.
const BUFFER: usize = 16 << 10;
const TO_CONNECT: Duration = Duration::from_secs(10);

impl Client {
    /// Does not connect yet.
    pub(crate) fn new(server: Option<&str>) -> Result<Self, Failure> {
        let address = Address::find(server)?;
        let encrypted = matches!(&address, Address::Http(base) if base.starts_with("https://"));
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The server is near; a proxy for the web does not know it.
            .proxy(None)
            .max_idle_connections(0)
            .timeout_connect(Some(TO_CONNECT))
            .input_buffer_size(BUFFER)
            .output_buffer_size(BUFFER);
        if encrypted {
            config = config.tls_config(tls::config()?);
        }
        let config = config.build();
        let (agent, base) = match &address {
            Address::Socket(path) => {
                let connector = UnixConnector { path: path.clone() };
                (Agent::with_parts(config, connector, NoResolver), "http://danlu".to_owned())
            }
            Address::Http(base) if encrypted => {
                let connector = TcpConnector::default().chain(RustlsConnector::default());
                let resolver = DefaultResolver::default();
                (Agent::with_parts(config, connector, resolver), base.clone())
            }
            Address::Http(base) => {
                let resolver = DefaultResolver::default();
                (Agent::with_parts(config, TcpConnector::default(), resolver), base.clone())
            }
        };
        let token = env::var("DANLU_TOKEN").ok().filter(|token| !token.is_empty());
        Ok(Self { agent, address, base: format!("{base}/api/v{VERSION}"), token })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Problem> {
        read(&self.get_document(path)?)
    }

    /// As the server sent it.
    pub(crate) fn get_document(&self, path: &str) -> Result<String, Problem> {
        text_of(self.ask(self.request("GET", path), PATIENCE)?)
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<String, Problem> {
        text_of(self.ask_with_body(self.request(method, path), body, PATIENCE)?)
    }

    /// An answer that is read piece by piece, for as long as it takes.
    pub(crate) fn open(&self, path: &str, accept: &str) -> Result<Response<Body>, Problem> {
        let request = self.request("GET", path).header("accept", accept);
        let request = request.body(()).map_err(|error| self.problem(error.into()))?;
        let request = self.agent.configure_request(request);
        let request = request.timeout_recv_response(Some(PATIENCE)).build();
        accepted(self.agent.run(request).map_err(|error| self.problem(error))?)
    }

    /// Ends what is being read, in whichever thread. Afterwards this client asks nothing more.
    pub(crate) fn hang_up(&self) {
        self.agent.clone().shutdown();
    }

    fn request(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("accept-language", Language::current().code());
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    fn ask(
        &self,
        request: ureq::http::request::Builder,
        patience: Duration,
    ) -> Result<Response<Body>, Problem> {
        let request = request.body(()).map_err(|error| self.problem(error.into()))?;
        let request = self.agent.configure_request(request).timeout_global(Some(patience)).build();
        accepted(self.agent.run(request).map_err(|error| self.problem(error))?)
    }

    fn ask_with_body(
        &self,
        request: ureq::http::request::Builder,
        body: &impl Serialize,
        patience: Duration,
    ) -> Result<Response<Body>, Problem> {
        let body = serde_json::to_vec(body).expect("a body of the API has names for keys");
        let request = request.header("content-type", "application/json").body(body);
        let request = request.map_err(|error| self.problem(error.into()))?;
        let request = self.agent.configure_request(request).timeout_global(Some(patience)).build();
        accepted(self.agent.run(request).map_err(|error| self.problem(error))?)
    }

    fn problem(&self, error: ureq::Error) -> Problem {
        Problem::from_ureq(error, &self.address)
    }
}

/// The answer, unless it says no.
fn accepted(mut answer: Response<Body>) -> Result<Response<Body>, Problem> {
    if answer.status().is_success() {
        return Ok(answer);
    }
    let status = answer.status();
    let body = answer.body_mut().with_config().limit(MOST_BYTES).read_to_string();
    let body = body.map_err(broken)?;
    match serde_json::from_str::<ErrorDocument>(&body) {
        Ok(document) => Err(Problem::Refused(document.error)),
        Err(_) => Err(Problem::Odd(format!("HTTP {status}"))),
    }
}

fn text_of(mut answer: Response<Body>) -> Result<String, Problem> {
    answer.body_mut().with_config().limit(MOST_BYTES).read_to_string().map_err(broken)
}

/// In the middle of an answer.
fn broken(error: ureq::Error) -> Problem {
    match error {
        ureq::Error::Io(cause) => Problem::Lost { cause: cause.to_string() },
        ureq::Error::Timeout(_) => Problem::Lost { cause: error.to_string() },
        other => Problem::Odd(other.to_string()),
    }
}

pub(crate) fn read<T: DeserializeOwned>(document: &str) -> Result<T, Problem> {
    serde_json::from_str(document).map_err(|error| Problem::Odd(error.to_string()))
}

/// The bytes of an answer.
pub(crate) fn bytes_of(answer: Response<Body>) -> impl Read + Send + 'static {
    answer.into_body().into_reader()
}
