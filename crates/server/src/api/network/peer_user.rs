//! Finds the OS user at the other end of a TCP connection within this machine.
//!
//! Asks the kernel for that one socket (`sock_diag(7)`), which takes the same time however many sockets are open.

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;

/// `SOCK_DIAG_BY_FAMILY`: of the question, and of an answer that is no error.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
const TCP: u8 = 6;
const LISTENING: u8 = 10;
const HEADER: usize = 16;
/// Where things stand in an answer.
const STATE: usize = HEADER + 1;
const PORTS: usize = HEADER + 4;
const UID: usize = HEADER + 4 + 48 + 12;

/// `None` where it comes from another machine, or the kernel does not say.
pub(crate) fn owner(client: SocketAddr, server: SocketAddr) -> Option<u32> {
    let (from, to) = (client.ip().to_canonical(), server.ip().to_canonical());
    if !from.is_loopback() || from.is_ipv4() != to.is_ipv4() {
        return None;
    }
    let ports = ports(client.port(), server.port());
    let answer = ask(&question(from, to, ports))?;
    let of_client = answer.get(PORTS..PORTS + 4)? == ports && answer[STATE] != LISTENING;
    let uid = answer.get(UID..UID + 4)?.try_into().ok()?;
    of_client.then(|| u32::from_ne_bytes(uid))
}

fn question(from: IpAddr, to: IpAddr, ports: [u8; 4]) -> Vec<u8> {
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    let family = if from.is_ipv4() { AF_INET } else { AF_INET6 };
    let mut body = vec![family, TCP, 0, 0];
    // In any state.
    body.extend(u32::MAX.to_ne_bytes());
    body.extend(ports);
    body.extend(address(from));
    body.extend(address(to));
    // On any interface, and no socket in particular.
    body.extend(0u32.to_ne_bytes());
    body.extend([0xff; 8]);
    let length = u32::try_from(HEADER + body.len()).unwrap_or_default();
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(length.to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

fn ports(client: u16, server: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (client.to_be_bytes(), server.to_be_bytes());
    [a, b, c, d]
}

fn address(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V6(address) => address.octets(),
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            bytes
        }
    }
}

fn ask(question: &[u8]) -> Option<Vec<u8>> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let protocol = SockProtocol::NetlinkSockDiag;
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol).ok()?;
    let kernel = NetlinkAddr::new(0, 0);
    sendto(netlink.as_raw_fd(), question, &kernel, MsgFlags::empty()).ok()?;
    let mut answer = vec![0; 4096];
    // The kernel has answered by now.
    let length = recv(netlink.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT).ok()?;
    answer.truncate(length);
    let kind = answer.get(4..6)?.try_into().ok()?;
    (u16::from_ne_bytes(kind) == BY_FAMILY).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_knows_who_has_connected() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, from) = listener.accept().unwrap();
            let found = owner(from, server.local_addr().unwrap());
            if found.is_none() {
                println!("skipped: this kernel does not tell");
                return;
            }
            assert_eq!(found, Some(nix::unistd::geteuid().as_raw()), "{address}");
            let nobody = SocketAddr::new(from.ip(), client.local_addr().unwrap().port() ^ 1);
            assert_eq!(owner(nobody, server.local_addr().unwrap()), None);
        }
    }
}
