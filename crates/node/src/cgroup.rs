//! Control groups: every process of a run stays in the group of the run, also when it leaves its parent or session.
//!
//! In the version 2 tree every run has a group that is frozen and killed as a whole. Memory is limited in the same
//! group where that tree has the memory controller, else in the version 1 tree (the "hybrid" layout).
//!
//! ```text
//!     <tree>/danlu/shims           the launcher and all shims, outside the group of the daemon's service
//!     <tree>/danlu/<root>-<run>    one run
//!     <memory tree>/…/danlu-<root>-<run>    its memory, below the daemon's own group; only for runs with a limit
//! ```

use danlu_core::RunId;
use danlu_core::run::RunUsage;
use danlu_wire::rundir::CgroupPaths;
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where runs get their groups; found once, by the launcher.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    unified: Option<PathBuf>,
    /// Memory can be limited in the version 2 tree.
    unified_memory: bool,
    memory: Option<PathBuf>,
    /// Tells apart the runs of different roots.
    tag: String,
}

/// The groups of one run.
#[derive(Debug, Default)]
pub(crate) struct RunCgroup {
    unified: Option<PathBuf>,
    /// The memory controller is in the unified one.
    unified_memory: bool,
    memory: Option<PathBuf>,
}

impl Cgroups {
    /// Finds what this process may use, and moves it out of the group of its daemon.
    pub(crate) fn prepare(root: &Path) -> Cgroups {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let unified = unified_trees(&mounts, &groups)
            .into_iter()
            .map(|tree| tree.join("danlu"))
            .find(|home| enter(&home.join("shims")).is_ok());
        let unified_memory = unified.as_ref().is_some_and(|home| has_memory(home));
        let memory = if unified_memory { None } else { memory_tree(&mounts, &groups) };
        let cgroups = Cgroups { unified, unified_memory, memory, tag: tag(root) };
        cgroups.remove_left_over(&root.join("runs"));
        cgroups
    }

    /// A shim that was killed before it could write down its groups leaves them behind, empty. A run that is about to get its first
    /// process has a directory; one whose directory was deleted has processes.
    fn remove_left_over(&self, runs: &Path) {
        let trees = [(&self.unified, String::new()), (&self.memory, String::from("danlu-"))];
        for (tree, prefix) in trees {
            let Some(tree) = tree else { continue };
            let prefix = format!("{prefix}{}-", self.tag);
            for entry in fs::read_dir(tree).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let run = name.to_str().and_then(|name| name.strip_prefix(&prefix));
                if run.is_some_and(|run| !runs.join(run).exists()) && has_no_process(&entry.path())
                {
                    remove_group(&entry.path());
                }
            }
        }
    }

    /// A group that cannot be made is left out: the run is then held by its tree of processes alone.
    pub(crate) fn create(&self, run: RunId, memory_limit: Option<u64>) -> RunCgroup {
        let name = format!("{}-{run}", self.tag);
        let made = |path: PathBuf| Some(path).filter(|path| make(path).is_ok());
        let unified = self.unified.as_ref().and_then(|home| made(home.join(&name)));
        let mut groups = RunCgroup { unified, unified_memory: self.unified_memory, memory: None };
        let Some(limit) = memory_limit.map(|limit| limit.to_string()) else { return groups };
        if let (true, Some(group)) = (self.unified_memory, &groups.unified) {
            put(group, "memory.max", &limit);
            put(group, "memory.swap.max", "0");
            return groups;
        }
        let tree = self.memory.as_ref();
        groups.memory = tree.and_then(|tree| made(tree.join(format!("danlu-{name}"))));
        if let Some(group) = &groups.memory {
            put(group, "memory.limit_in_bytes", &limit);
            put(group, "memory.memsw.limit_in_bytes", &limit);
        }
        groups
    }
}

impl RunCgroup {
    pub(crate) fn from_paths(paths: &CgroupPaths) -> RunCgroup {
        RunCgroup {
            unified: paths.unified.as_ref().map(PathBuf::from),
            unified_memory: false,
            memory: paths.memory.as_ref().map(PathBuf::from),
        }
    }

    pub(crate) fn paths(&self) -> CgroupPaths {
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        CgroupPaths {
            unified: self.unified.as_ref().and_then(text),
            memory: self.memory.as_ref().and_then(text),
        }
    }

    /// For a child to be born into.
    pub(crate) fn open(&self) -> Option<File> {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        fs::OpenOptions::new().read(true).custom_flags(flags).open(self.unified.as_ref()?).ok()
    }

    /// Whether a child that is forked into `group` is in every group of the run.
    pub(crate) fn is_entered_by_birth_in(&self, group: Option<&File>) -> bool {
        self.memory.is_none() && (self.unified.is_none() || group.is_some())
    }

    /// Takes this process into the groups that it is not in by birth.
    pub(crate) fn join(&self, born_inside: bool) -> io::Result<()> {
        if let Some(group) = self.unified.as_ref().filter(|_| !born_inside) {
            fs::write(group.join("cgroup.procs"), "0")?;
        }
        match &self.memory {
            Some(group) => fs::write(group.join("cgroup.procs"), "0"),
            None => Ok(()),
        }
    }

    /// Whether there is a group to freeze; the rest happens in the kernel's own time.
    pub(crate) fn freeze(&self, frozen: bool) -> bool {
        let Some(group) = &self.unified else { return false };
        put(group, "cgroup.freeze", if frozen { "1" } else { "0" })
    }

    pub(crate) fn kill(&self) {
        let Some(group) = &self.unified else { return };
        if put(group, "cgroup.kill", "1") {
            return;
        }
        // Before Linux 5.14: what is frozen cannot fork away, and dies all the same.
        put(group, "cgroup.freeze", "1");
        for member in fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default().lines() {
            if let Ok(pid) = member.parse() {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
        put(group, "cgroup.freeze", "0");
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Some(group) = &self.unified else { return true };
        // What cannot be read is gone.
        fs::read_to_string(group.join("cgroup.events"))
            .map_or(true, |events| events.lines().any(|line| line == "populated 0"))
    }

    /// Adds what the memory controller has counted, if there is one.
    pub(crate) fn add_to(&self, used: &mut RunUsage) {
        if let Some(group) = &self.memory {
            used.peak_memory = number(group, "memory.max_usage_in_bytes");
            used.oom_kills = field(group, "memory.oom_control", "oom_kill");
        } else if let (true, Some(group)) = (self.unified_memory, &self.unified) {
            used.peak_memory = number(group, "memory.peak");
            used.oom_kills = field(group, "memory.events", "oom_kill");
        }
    }

    /// False while a process is in it.
    pub(crate) fn remove(&self) -> bool {
        // Both are tried, also when the first fails.
        let unified = self.unified.as_ref().is_none_or(|group| remove_group(group));
        let memory = self.memory.as_ref().is_none_or(|group| remove_group(group));
        unified && memory
    }
}

/// Candidates, best first. Root makes a group of its own beside those of others, as container engines do:
/// what a service manager does to the daemon does not touch the runs. Other users have what was delegated to them.
fn unified_trees(mounts: &str, groups: &str) -> Vec<PathBuf> {
    let Some(mount) = mounts.lines().filter_map(Mount::parse).find(|mount| mount.kind == "cgroup2")
    else {
        return Vec::new();
    };
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let own = own.map(|path| mount.locate(path));
    let top = nix::unistd::geteuid().is_root().then(|| PathBuf::from(&mount.point));
    top.into_iter().chain(own).collect()
}

/// In the version 1 tree, below where this process is: limits from above go on to hold.
fn memory_tree(mounts: &str, groups: &str) -> Option<PathBuf> {
    let mount = mounts.lines().filter_map(Mount::parse).find(|mount| {
        mount.kind == "cgroup" && mount.options.split(',').any(|one| one == "memory")
    })?;
    let own = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|one| one == "memory").then_some(path)
    })?;
    Some(mount.locate(own))
}

/// A line of `mountinfo`. Control groups are not mounted at places with blanks in their names.
struct Mount {
    root: String,
    point: String,
    kind: String,
    options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Mount> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3).map(str::to_owned);
        let mut kind = kind.split(' ').map(str::to_owned);
        Some(Mount {
            root: place.next()?,
            point: place.next()?,
            kind: kind.next()?,
            options: kind.nth(1)?,
        })
    }

    /// Where a group is found, given its name from the top of the tree.
    fn locate(&self, group: &str) -> PathBuf {
        let below = group.strip_prefix(self.root.as_str()).unwrap_or_default();
        Path::new(&self.point).join(below.trim_start_matches('/'))
    }
}

fn enter(group: &Path) -> io::Result<()> {
    make(group.parent().expect("a group of ours is below another"))?;
    make(group)?;
    fs::write(group.join("cgroup.procs"), "0")
}

fn make(group: &Path) -> io::Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn has_memory(home: &Path) -> bool {
    let offered = fs::read_to_string(home.join("cgroup.controllers")).unwrap_or_default();
    offered.split_ascii_whitespace().any(|one| one == "memory")
        && put(home, "cgroup.subtree_control", "+memory")
}

fn put(group: &Path, file: &str, value: &str) -> bool {
    fs::write(group.join(file), value).is_ok()
}

fn number(group: &Path, file: &str) -> Option<u64> {
    fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()
}

fn field(group: &Path, file: &str, name: &str) -> Option<u64> {
    let content = fs::read_to_string(group.join(file)).ok()?;
    let line = content.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.parse().ok()
}

/// Neither in it nor in a group below it.
fn has_no_process(group: &Path) -> bool {
    let none = |group: &Path| {
        fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|members| members.is_empty())
    };
    let inner = fs::read_dir(group).into_iter().flatten().flatten();
    let mut inner = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    none(group) && inner.all(|entry| has_no_process(&entry.path()))
}

/// Groups that the run made inside go first.
fn remove_group(group: &Path) -> bool {
    match nix::unistd::unlinkat(nix::fcntl::AT_FDCWD, group, nix::unistd::UnlinkatFlags::RemoveDir)
    {
        Ok(()) | Err(Errno::ENOENT) => true,
        Err(_) => {
            let Ok(entries) = fs::read_dir(group) else { return false };
            let inner: Vec<PathBuf> = entries
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path())
                .collect();
            !inner.is_empty()
                && inner.iter().all(|inner| remove_group(inner))
                && fs::remove_dir(group).is_ok()
        }
    }
}

/// Short, the same in every life of an agent, different for different roots.
fn tag(root: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let hash = root.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A group that may be one of a run's, by a path in `/proc/<pid>/cgroup`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Of the run.
    pub(crate) name: String,
    /// Where its group is, as the run's own record must have it.
    pub(crate) path: PathBuf,
}

/// Every owner of a group can create groups of any name below it: so a name is only a claim, and the whole path decides.
pub(crate) fn claims(root: &Path, mounts: &str, groups: &str) -> Vec<Claim> {
    let mount = mounts.lines().filter_map(Mount::parse).find(|mount| mount.kind == "cgroup2");
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let (Some(mount), Some(group)) = (mount, group) else { return Vec::new() };
    let tag = tag(root);
    let claim = |group: &Path| {
        let name = group.file_name()?.to_str()?.strip_prefix(&tag)?.strip_prefix('-')?.to_owned();
        Some(Claim { name, path: mount.locate(group.to_str()?) })
    };
    Path::new(group).ancestors().filter_map(claim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw
";
    const CONTAINER: &str = "\
35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory
";

    #[test]
    fn hybrid_layout_is_found() {
        let groups = "4:memory:/box/x\n0::/user.slice\n";
        let trees = unified_trees(HYBRID, groups);
        assert_eq!(trees.last().unwrap(), Path::new("/sys/fs/cgroup/unified/user.slice"));
        let memory = memory_tree(HYBRID, groups).unwrap();
        assert_eq!(memory, Path::new("/sys/fs/cgroup/memory/box/x"));
    }

    #[test]
    fn part_of_a_tree_may_be_mounted() {
        let memory = memory_tree(CONTAINER, "4:cpu,memory:/docker/abc/inner\n").unwrap();
        assert_eq!(memory, Path::new("/sys/fs/cgroup/memory/inner"));
        assert_eq!(unified_trees(CONTAINER, ""), Vec::<PathBuf>::new());
    }

    #[test]
    fn group_claims_to_be_of_a_run_by_its_whole_path() {
        let root = Path::new("/var/lib/danlu");
        let tag = tag(root);
        let claimed = |root: &Path, group: &str| {
            let found = claims(root, HYBRID, &format!("4:memory:/x\n0::{group}\n"));
            found.into_iter().map(|claim| (claim.name, claim.path)).collect::<Vec<_>>()
        };
        let at = |place: &str| PathBuf::from(format!("/sys/fs/cgroup/unified{place}"));
        let own = format!("/danlu/{tag}-1-17");
        let one = vec![("1-17".to_owned(), at(&own))];
        assert_eq!(claimed(root, &own), one);
        assert_eq!(claimed(root, &format!("{own}/inner")), one);
        assert_eq!(claimed(Path::new("/other"), &own), []);
        let hidden = format!("{own}/{tag}-1-18/x");
        let both = [("1-18".to_owned(), at(&format!("{own}/{tag}-1-18"))), one[0].clone()];
        assert_eq!(claimed(root, &hidden), both);
        let far = format!("/user.slice/danlu/{tag}-1-17");
        assert_eq!(claimed(root, &far), [("1-17".to_owned(), at(&far))]);
    }
}
