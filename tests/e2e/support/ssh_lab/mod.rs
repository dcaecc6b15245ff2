//! Machines of a test: each a real OpenSSH server with its own network, host name and processes.

pub(crate) mod slow_link;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use slow_link::SlowLink;

use crate::support::{
    daemon::{Daemon, Setup, until},
    danlu::BUILT,
};

pub(crate) struct SshLab {
    pub(crate) daemon: Daemon,
    pub(crate) machines: Vec<Machine>,
    bridge: String,
}

pub(crate) struct Machine {
    /// Its name as a node.
    pub(crate) name: String,
    pub(crate) address: String,
    directory: PathBuf,
    namespace: String,
    /// On the bridge.
    pub(crate) cable: String,
    /// What it is reached by, where that may be slow.
    pub(crate) slow_link: Option<SlowLink>,
    /// Its first process; all others end with it.
    init: Option<Child>,
}

impl SshLab {
    /// `None`, with a line that says so, where such machines cannot be made.
    pub(crate) fn new(machines: usize) -> Option<SshLab> {
        SshLab::build(machines, None)
    }

    /// The server's user has this configuration of `ssh`, made of the directory of the test and the address of the first machine.
    pub(crate) fn with_ssh_config(
        machines: usize,
        config: impl FnOnce(&Path, &str) -> String,
    ) -> Option<SshLab> {
        SshLab::build(machines, Some(Box::new(config)))
    }

    fn build(machines: usize, config: Option<SshConfig<'_>>) -> Option<SshLab> {
        if !nix::unistd::geteuid().is_root() {
            crate::support::danlu::skip("machines of a test's own need root");
            return None;
        }
        for program in ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/sbin/nft", "/usr/bin/unshare"] {
            if !Path::new(program).exists() {
                crate::support::danlu::skip(&format!("there is no {program}"));
                return None;
            }
        }
        let directory = tempfile::tempdir().expect("a temporary directory");
        // Other users pass through to what is theirs.
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path(), open).expect("it is ours");
        let here = directory.path().to_owned();
        for key in ["id", "hostkey"] {
            must("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &path(&here, key)]);
        }
        fs::copy(here.join("id.pub"), here.join("authorized_keys")).expect("a key");
        fs::create_dir_all("/run/sshd").expect("it can be made");
        let number = std::process::id();
        let bridge = format!("dl{number:x}");
        let net = format!("10.{}.{}", 64 + (number >> 8) % 64, number % 256);
        if !Command::new("ip")
            .args(["link", "add", &bridge, "type", "bridge"])
            .status()
            .is_ok_and(|it| it.success())
        {
            crate::support::danlu::skip("no network can be made here");
            return None;
        }
        must("ip", &["addr", "add", &format!("{net}.254/24"), "dev", &bridge]);
        must("ip", &["link", "set", &bridge, "up"]);
        let mut program = small_program(&here);
        if let Some(config) = config {
            program = with_home(&here, &program, &config(&here, &format!("{net}.1")));
        }
        let setup = Setup { program, ..Setup::simulated(1) };
        let daemon = Daemon::start_in(directory, setup);
        let mut lab = SshLab { daemon, machines: Vec::new(), bridge };
        for place in 1..=machines {
            let mut machine = Machine::new(&here, &lab.bridge, &net, place);
            machine.switch_on();
            lab.machines.push(machine);
        }
        Some(lab)
    }

    /// As nodes with so many GPUs each, and waits until they are ready.
    pub(crate) fn add_all(&self, gpus: usize) {
        for machine in &self.machines {
            self.add(machine, &["--sim-gpus", &gpus.to_string()]);
        }
        for machine in &self.machines {
            self.wait_for(&machine.name, "ready");
        }
    }

    pub(crate) fn add(&self, machine: &Machine, more: &[&str]) {
        let ssh = match &machine.slow_link {
            Some(link) => format!("root@127.0.0.1:{}", link.port),
            None => format!("root@{}", machine.address),
        };
        let (identity, data) = (self.key(), path(&machine.directory, "runs"));
        let mut arguments = vec!["node", "add", &machine.name, "--ssh", &ssh];
        arguments.extend(["--identity", &identity, "--accept-new-key", "--data", &data]);
        arguments.extend(more);
        self.daemon.say(&arguments);
    }

    /// The private key that opens all machines.
    pub(crate) fn key(&self) -> String {
        path(self.daemon.directory(), "id")
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, node: &str, state: &str) {
        until(&format!("{node} is {state}"), || self.node_state(node) == state);
    }

    pub(crate) fn node_state(&self, node: &str) -> String {
        self.node(node)["state"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn node(&self, node: &str) -> serde_json::Value {
        let nodes = self.daemon.json(&["nodes", "--json"]);
        let mut all = nodes["nodes"].as_array().expect("a list").iter();
        all.find(|one| one["name"] == node).cloned().unwrap_or_default()
    }
}

impl Drop for SshLab {
    fn drop(&mut self) {
        // First: what runs there is told to end while it can be.
        if !std::thread::panicking() && !self.daemon.has_ended() {
            self.daemon.ask(&["down", "--cancel-tasks"]);
        }
        for machine in &mut self.machines {
            machine.switch_off();
            let _ = Command::new("ip").args(["netns", "del", &machine.namespace]).status();
        }
        let _ = Command::new("ip").args(["link", "del", &self.bridge]).status();
    }
}

impl Machine {
    fn new(here: &Path, bridge: &str, net: &str, place: usize) -> Machine {
        let (namespace, cable) = (format!("{bridge}n{place}"), format!("{bridge}v{place}"));
        let address = format!("{net}.{place}");
        let directory = here.join(format!("machine{place}"));
        for made in ["root", "runs"] {
            fs::create_dir_all(directory.join(made)).expect("it can be made");
        }
        must("ip", &["netns", "add", &namespace]);
        let pair = ["link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns"];
        must("ip", &[&pair[..], &[&namespace]].concat());
        must("ip", &["link", "set", &cable, "master", bridge, "up"]);
        let there = |arguments: &[&str]| must("ip", &[&["-n", &namespace], arguments].concat());
        there(&["addr", "add", &format!("{address}/24"), "dev", "eth0"]);
        there(&["link", "set", "eth0", "up"]);
        there(&["link", "set", "lo", "up"]);
        let keys = [path(here, "hostkey"), path(here, "authorized_keys")];
        let config = format!(
            "ListenAddress {address}\nPort 22\nHostKey {}\nAuthorizedKeysFile {} {}-%u\nPidFile none\n\
             PasswordAuthentication no\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n",
            keys[0], keys[1], keys[1]
        );
        fs::write(directory.join("sshd.conf"), config).expect("a file");
        let name = format!("n{place}");
        Machine { name, address, directory, namespace, cable, slow_link: None, init: None }
    }

    pub(crate) fn switch_on(&mut self) {
        let script = format!(
            "hostname {}; mount --bind {}/root /root; exec /usr/sbin/sshd -D -f {}/sshd.conf -E {}/sshd.log",
            self.name,
            self.directory.display(),
            self.directory.display(),
            self.directory.display(),
        );
        let started = Command::new("ip")
            .args(["netns", "exec", &self.namespace, "unshare", "--uts", "--pid", "--mount"])
            .args(["--fork", "--kill-child", "--mount-proc", "sh", "-c", &script])
            .stdin(Stdio::null())
            .spawn();
        self.init = Some(started.expect("it starts"));
    }

    /// As when its power is cut.
    pub(crate) fn switch_off(&mut self) {
        if let Some(mut init) = self.init.take() {
            let _ = init.kill();
            let _ = init.wait();
        }
    }

    /// Its network as a firewall would have it; `None` for nothing special.
    pub(crate) fn filter(&self, rule: Option<&str>) {
        let nft = |line: &str| {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", &self.namespace, "nft"]).args(line.split(' '));
            command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        nft("delete table inet faults");
        if let Some(rule) = rule {
            assert!(nft("add table inet faults"));
            for hook in ["input", "output"] {
                let chain = format!(
                    "add chain inet faults {hook} {{ type filter hook {hook} priority 0 ; }}"
                );
                assert!(nft(&chain));
                assert!(nft(&format!("add rule inet faults {hook} {rule}")), "{rule}");
            }
        }
    }

    /// What its sshd has written down.
    pub(crate) fn sshd_log(&self) -> String {
        fs::read_to_string(self.directory.join("sshd.log")).unwrap_or_default()
    }

    /// Processes there whose command line has this in it, by their ids here.
    pub(crate) fn processes(&self, part: &str) -> Vec<i32> {
        let own = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let listed = Command::new("ip").args(["netns", "pids", &self.namespace]).output();
        let listed = String::from_utf8(listed.expect("it runs").stdout).expect("numbers");
        let has = |pid: &&str| {
            own(pid).is_some()
                && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
                    String::from_utf8_lossy(&line).replace('\0', " ").contains(part)
                })
        };
        listed.lines().filter(has).filter_map(|pid| pid.parse().ok()).collect()
    }

    pub(crate) fn signal(&self, part: &str, signal: nix::sys::signal::Signal) -> usize {
        let found = self.processes(part);
        for pid in &found {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), signal);
        }
        found.len()
    }

    /// Who logs in finds another machine: another name, and nothing of what ran.
    pub(crate) fn rename(&mut self, name: &str) {
        self.switch_off();
        let before = std::mem::replace(&mut self.name, name.to_owned());
        self.switch_on();
        self.name = before;
    }
}

type SshConfig<'a> = Box<dyn FnOnce(&Path, &str) -> String + 'a>;

/// The program in a world where root's home is another one, with this configuration of `ssh`.
fn with_home(here: &Path, program: &Path, config: &str) -> PathBuf {
    let home = here.join("servers-home");
    fs::create_dir_all(home.join(".ssh")).expect("it can be made");
    fs::write(home.join(".ssh/config"), config).expect("a file");
    let (script, home, program) = (here.join("with-home"), home.display(), program.display());
    let text = format!(
        "#!/bin/sh\nexec unshare --mount sh -c 'mount --bind {home} /root && exec {program} \"$@\"' sh \"$@\"\n"
    );
    fs::write(&script, text).expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    script
}

/// What is only for debuggers is most of the program in tests, and would be sent to every machine.
fn small_program(directory: &Path) -> PathBuf {
    let small = directory.join("danlu");
    let stripped = Command::new("strip").arg("-o").arg(&small).arg(BUILT).status();
    if stripped.is_ok_and(|status| status.success()) { small } else { BUILT.into() }
}

fn must(program: &str, arguments: &[&str]) {
    let ended = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    assert!(ended.is_ok_and(|status| status.success()), "{program} {arguments:?}");
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}
