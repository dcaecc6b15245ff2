//! The container of a process, by its control group.

/// Characters of a container's id that people use.
const SHORT: usize = 12;
const LONGEST_NAME: usize = 64;

/// `docker:3f4e8a12bc90`, `podman:…`, `lxc:NAME`; from the text of `/proc/PID/cgroup`.
pub(crate) fn container(cgroups: &str) -> Option<String> {
    cgroups.lines().find_map(|line| of_path(line.splitn(3, ':').nth(2)?))
}

/// The innermost container of a path.
fn of_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    (0..parts.len()).rev().find_map(|at| {
        let before = at.checked_sub(1).map_or("", |before| parts[before]);
        of_part(before, parts[at], path)
    })
}

fn of_part(before: &str, part: &str, path: &str) -> Option<String> {
    let unit = part.strip_suffix(".scope").unwrap_or(part);
    for (prefix, kind) in [
        ("docker-", "docker"),
        ("libpod-conmon-", ""),
        ("libpod-", "podman"),
        ("cri-containerd-", "containerd"),
        ("crio-conmon-", ""),
        ("crio-", "crio"),
        ("nerdctl-", "containerd"),
    ] {
        if let Some(id) = unit.strip_prefix(prefix) {
            return (!kind.is_empty()).then(|| id_of(kind, id)).flatten();
        }
    }
    if let Some(name) = part.strip_prefix("lxc.payload.") {
        return named("lxc", name);
    }
    if let Some(name) = unit.strip_prefix("machine-") {
        return named("machine", name);
    }
    match before {
        "docker" => id_of("docker", part),
        "lxc" => named("lxc", part),
        _ if before.starts_with("pod") && path.contains("kubepods") => id_of("containerd", part),
        _ => None,
    }
}

fn id_of(kind: &str, id: &str) -> Option<String> {
    let is_id = id.len() >= SHORT && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| format!("{kind}:{}", &id[..SHORT]))
}

fn named(kind: &str, name: &str) -> Option<String> {
    let name: String = name.chars().take(LONGEST_NAME).collect();
    (!name.is_empty()).then(|| format!("{kind}:{name}"))
}

#[cfg(test)]
mod tests {
    use super::container;

    const ID: &str = "3f4e8a12bc90d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e";

    fn check(path: &str, expect: Option<&str>) {
        let cgroups = format!("0::{}\n", path.replace("ID", ID));
        assert_eq!(container(&cgroups).as_deref(), expect, "{path}");
    }

    #[test]
    fn containers_are_told_by_their_cgroup() {
        check("/system.slice/docker-ID.scope", Some("docker:3f4e8a12bc90"));
        check("/docker/ID", Some("docker:3f4e8a12bc90"));
        check("/machine.slice/libpod-ID.scope/container", Some("podman:3f4e8a12bc90"));
        check(
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
            Some("podman:3f4e8a12bc90"),
        );
        check("/kubepods/besteffort/pod7c1f/ID", Some("containerd:3f4e8a12bc90"));
        check(
            "/kubepods.slice/kubepods-pod7c1f.slice/cri-containerd-ID.scope",
            Some("containerd:3f4e8a12bc90"),
        );
        check("/lxc/lab-vm", Some("lxc:lab-vm"));
        check("/lxc.payload.lab-vm/system.slice/ssh.service", Some("lxc:lab-vm"));
        check("/machine.slice/machine-jupyter.scope", Some("machine:jupyter"));
    }

    #[test]
    fn a_process_outside_containers_has_none() {
        for path in [
            "/",
            "/user.slice/user-1000.slice/session-3.scope",
            "/docker/short",
            "/system.slice/docker.service",
        ] {
            check(path, None);
        }
        assert_eq!(container(""), None);
        assert_eq!(container("no colons here"), None);
    }

    #[test]
    fn old_layouts_have_a_line_for_each_controller() {
        let cgroups = format!("12:cpuset:/\n11:memory:/docker/{ID}\n0::/\n");
        assert_eq!(container(&cgroups).as_deref(), Some("docker:3f4e8a12bc90"));
    }
}
