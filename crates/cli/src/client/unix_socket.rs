//! HTTP over a Unix socket, for ureq.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use ureq::{
    Error,
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::{
            Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, ShutdownHandle,
            Transport,
        },
    },
};

#[derive(Debug)]
pub(super) struct UnixConnector {
    pub(super) path: PathBuf,
}

impl Connector for UnixConnector {
    type Out = UnixTransport;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<UnixTransport>, Error> {
        let stream = Arc::new(SharedSocket(UnixStream::connect(&self.path)?));
        (details.register_shutdown)(Arc::downgrade(&stream) as Weak<dyn ShutdownHandle>)?;
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(UnixTransport { stream, buffers, unsent: Vec::new() }))
    }
}

/// Sends a request as a whole, when its answer is waited for.
#[derive(Debug)]
pub(super) struct UnixTransport {
    stream: Arc<SharedSocket>,
    buffers: LazyBuffers,
    unsent: Vec<u8>,
}

/// Another thread may hang up while an answer is read.
#[derive(Debug)]
struct SharedSocket(UnixStream);

impl ShutdownHandle for SharedSocket {
    fn shutdown(&self) {
        // It may be closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl UnixTransport {
    /// A server that refuses a request may answer and hang up before it has read all of it. Its answer
    /// counts, not that the rest could not be sent.
    fn send(&mut self, timeout: NextTimeout) -> Result<(), Error> {
        let mut stream = &self.stream.0;
        stream.set_write_timeout(at_most(timeout))?;
        let sent = stream.write_all(&self.unsent);
        self.unsent.clear();
        match sent {
            Err(cause) if !hung_up(&cause) => Err(timed_out(cause, timeout)),
            _ => Ok(()),
        }
    }
}

impl Transport for UnixTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        self.unsent.extend_from_slice(&self.buffers.output()[..amount]);
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        if !self.unsent.is_empty() {
            self.send(timeout)?;
        }
        let mut stream = &self.stream.0;
        stream.set_read_timeout(at_most(timeout))?;
        let amount = loop {
            match stream.read(self.buffers.input_append_buf()) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                result => break result.map_err(|cause| timed_out(cause, timeout))?,
            }
        };
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// Every request has its own connection.
    fn is_open(&mut self) -> bool {
        false
    }
}

fn hung_up(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

fn at_most(timeout: NextTimeout) -> Option<Duration> {
    timeout.not_zero().map(|duration| *duration)
}

fn timed_out(cause: io::Error, timeout: NextTimeout) -> Error {
    match cause.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::Timeout(timeout.reason),
        _ => Error::Io(cause),
    }
}

/// A path needs no name service; ureq wants an address all the same.
#[derive(Debug)]
pub(super) struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        addresses.push(([127, 0, 0, 1], 80).into());
        Ok(addresses)
    }
}
