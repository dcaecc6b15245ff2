//! Many fake machines in one process, for benchmarks: each dials in like a real agent and reports every launched task as started and
//! ended at once.
//!
//! `fleet ADDRESS GPUS` reads commands from standard input: `join NAME TOKEN`, `hang NAME` (the machine stops reading and writing),
//! `leave NAME`, and `launches`, which prints one number for each launch since the last `launches`: the microseconds since the time
//! in the task's command.

use danlu_wire::launch::Command;
use danlu_wire::{FromAgent, LaunchOrder, ToAgent};
use fakeagent::{FakeAgent, ended, facts, idle, started};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const WORK: u8 = 0;
const HANG: u8 = 1;
const LEAVE: u8 = 2;

type Latencies = Arc<Mutex<Vec<u64>>>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(gpus)) =
        (arguments.next(), arguments.next().and_then(|it| it.parse().ok()))
    else {
        eprintln!("fleet ADDRESS GPUS");
        std::process::exit(2);
    };
    let latencies = Latencies::default();
    let mut machines: BTreeMap<String, Arc<AtomicU8>> = BTreeMap::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["join", name, token] => {
                let mode = Arc::new(AtomicU8::new(WORK));
                machines.insert(name.to_owned(), Arc::clone(&mode));
                let machine = Machine {
                    name: name.to_owned(),
                    gpus,
                    mode,
                    latencies: Arc::clone(&latencies),
                };
                let (address, token) = (address.clone(), token.to_owned());
                std::thread::spawn(move || machine.work(&address, &token));
            }
            ["hang", name] => tell(&machines, name, HANG),
            ["leave", name] => tell(&machines, name, LEAVE),
            ["launches"] => {
                let seen =
                    std::mem::take(&mut *latencies.lock().unwrap_or_else(PoisonError::into_inner));
                let words: Vec<String> = seen.iter().map(u64::to_string).collect();
                println!("{}", words.join(" "));
                let _ = std::io::stdout().flush();
            }
            _ => eprintln!("fleet: {line:?} makes no sense"),
        }
    }
}

fn tell(machines: &BTreeMap<String, Arc<AtomicU8>>, name: &str, mode: u8) {
    if let Some(machine) = machines.get(name) {
        machine.store(mode, Ordering::SeqCst);
    }
}

struct Machine {
    name: String,
    gpus: u32,
    mode: Arc<AtomicU8>,
    latencies: Latencies,
}

impl Machine {
    fn work(&self, address: &str, token: &str) {
        let secret = token.split('.').next().unwrap_or(token);
        let mut agent = match FakeAgent::join(address, secret, &self.name) {
            Ok(agent) => agent,
            Err(status) => return eprintln!("fleet: {} is refused: {status}", self.name),
        };
        // The mode is looked at this often when nothing comes.
        let _ = agent.wait_at_most(Duration::from_millis(500));
        loop {
            match self.mode.load(Ordering::SeqCst) {
                WORK => {}
                LEAVE => return,
                _ => loop {
                    std::thread::park();
                },
            }
            let order = match agent.hear() {
                Ok(Some(order)) => order,
                Ok(None) => return,
                Err(error) if is_only_late(&error) => continue,
                Err(_) => return,
            };
            let said = match order {
                ToAgent::AskReport => agent.say(&FromAgent::Report(idle(&self.name, self.gpus))),
                ToAgent::AskFacts => agent.say(&facts()),
                ToAgent::Launch(order) => {
                    self.note(&order);
                    agent.say_all(&[started(order.run), ended(order.run, 0)])
                }
                _ => Ok(()),
            };
            if said.is_err() {
                return;
            }
        }
    }

    fn note(&self, order: &LaunchOrder) {
        let Command::Argv(words) = &order.command else { return };
        let Some(then) = words.get(1).and_then(|word| word.parse::<u128>().ok()) else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let passed = u64::try_from(now.saturating_sub(then)).unwrap_or(u64::MAX);
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).push(passed);
    }
}

fn is_only_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}
