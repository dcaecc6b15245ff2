//! Tells systemd that the service is ready or stopping (`sd_notify`).

use std::os::unix::net::UnixDatagram;

pub(crate) fn notify(state: &str) {
    let Ok(path) = std::env::var("NOTIFY_SOCKET") else { return };
    let Ok(socket) = UnixDatagram::unbound() else { return };
    // An abstract socket is written with an `@` in front.
    let sent = match path.strip_prefix('@') {
        Some(name) => {
            use std::os::linux::net::SocketAddrExt as _;
            std::os::unix::net::SocketAddr::from_abstract_name(name)
                .and_then(|address| socket.send_to_addr(state.as_bytes(), &address))
        }
        None => socket.send_to(state.as_bytes(), path),
    };
    if let Err(cause) = sent {
        tracing::warn!(%cause, "systemd could not be told");
    }
}
