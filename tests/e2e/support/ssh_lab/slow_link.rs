//! A network link with an adjustable delay, because the kernel here has no traffic control.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

pub(crate) struct SlowLink {
    pub(crate) port: u16,
    /// In milliseconds, each way.
    delay: Arc<AtomicU64>,
}

impl SlowLink {
    /// Whoever connects to its port on this machine speaks with that address.
    pub(crate) fn to(address: String) -> SlowLink {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let delay = Arc::new(AtomicU64::new(0));
        let link = SlowLink { port, delay: Arc::clone(&delay) };
        // Ends with the test's process.
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let (address, delay) = (address.clone(), Arc::clone(&delay));
                thread::spawn(move || {
                    let Ok(far) = TcpStream::connect(address) else { return };
                    let ways = [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))];
                    for (from, to) in ways {
                        let (Ok(from), Ok(to)) = (from, to) else { return };
                        let delay = Arc::clone(&delay);
                        thread::spawn(move || carry(from, to, &delay));
                    }
                });
            }
        });
        link
    }

    pub(crate) fn set_delay(&self, delay: Duration) {
        self.delay.store(u64::try_from(delay.as_millis()).unwrap_or(0), Ordering::SeqCst);
    }
}

/// Everything comes late, and as fast as it was sent.
fn carry(mut from: TcpStream, mut to: TcpStream, delay: &AtomicU64) {
    let (sent, underway) = mpsc::channel::<(Instant, Vec<u8>)>();
    let writer = thread::spawn(move || {
        for (due, bytes) in underway {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut piece = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        let due = Instant::now() + Duration::from_millis(delay.load(Ordering::SeqCst));
        if sent.send((due, piece[..count].to_vec())).is_err() {
            break;
        }
    }
    drop(sent);
    let _ = writer.join();
    let _ = from.shutdown(Shutdown::Both);
}
