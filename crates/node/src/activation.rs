//! A conda environment or a virtual environment, entered without running a shell: its programs come first.
//!
//! What an environment's own activation scripts would set is not set; a shell line can source them. Every path here is one that a
//! user has named or can change: only a process that is this user, and that may be given up, looks at them.

use danlu_core::task::PythonEnvironment;
use nix::libc;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

type Variables<'a> = BTreeMap<&'a str, Cow<'a, str>>;

/// In words, with what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) String);

/// Longer lists of environments are not read to their end.
const MOST_BYTES: u64 = 256 * 1024;

/// Default locations of conda, below a home directory or `/opt`.
const USUAL: [&str; 7] =
    ["miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda", "conda"];

pub(crate) fn enter(
    python: &PythonEnvironment,
    directory: &str,
    variables: &mut Variables<'_>,
) -> Result<(), Missing> {
    match python {
        PythonEnvironment::Venv(path) => {
            let prefix = Path::new(directory).join(home_or(path, variables));
            if !is_there(&prefix.join("bin")) {
                let place = prefix.display();
                return Err(Missing(format!(
                    "there is no virtual environment {place}: make it with `python -m venv {place}`"
                )));
            }
            put_first(variables, &prefix);
            variables.insert("VIRTUAL_ENV", text(&prefix).into());
        }
        PythonEnvironment::Conda(name) => {
            let prefix = conda_prefix(name, directory, variables)?;
            put_first(variables, &prefix);
            let short = if name.contains('/') { text(&prefix) } else { name.clone() };
            variables.insert("CONDA_PREFIX", text(&prefix).into());
            variables.insert("CONDA_DEFAULT_ENV", short.into());
            variables.insert("CONDA_SHLVL", "1".into());
            variables.remove("VIRTUAL_ENV");
        }
    }
    // It would lead the interpreter of the environment back to another one's modules.
    variables.remove("PYTHONHOME");
    Ok(())
}

fn conda_prefix(
    name: &str,
    directory: &str,
    variables: &Variables<'_>,
) -> Result<PathBuf, Missing> {
    if name.contains('/') {
        let prefix = Path::new(directory).join(home_or(name, variables));
        return if is_there(&prefix.join("bin")) { Ok(prefix) } else { Err(no_conda(name, &[])) };
    }
    let roots = roots(variables);
    let of_root = |root: &PathBuf| match name {
        "base" | "root" => root.clone(),
        name => root.join("envs").join(name),
    };
    let listed = listed(variables).into_iter().filter(|prefix| prefix.ends_with(name));
    let own = variables.get("CONDA_ENVS_PATH").into_iter().chain(variables.get("CONDA_ENVS_DIRS"));
    let own = own.flat_map(|places| places.split(':')).map(|place| Path::new(place).join(name));
    let mut places = own.chain(roots.iter().map(of_root)).chain(listed);
    let real = |prefix: &PathBuf| is_there(&prefix.join("conda-meta"));
    places.find(real).ok_or_else(|| no_conda(name, &roots))
}

fn no_conda(name: &str, roots: &[PathBuf]) -> Missing {
    let roots: Vec<String> = roots.iter().filter(|root| root.is_dir()).map(|it| text(it)).collect();
    let looked = match roots.as_slice() {
        [] => String::new(),
        roots => format!(" in {}", roots.join(", ")),
    };
    Missing(format!("there is no conda environment `{name}`{looked}: `conda env list` lists them"))
}

/// Where conda itself may be, the submitter's own first.
fn roots(variables: &Variables<'_>) -> Vec<PathBuf> {
    let value = |name: &str| variables.get(name).map(|value| PathBuf::from(value.as_ref()));
    let mut roots: Vec<PathBuf> = Vec::new();
    // `<root>/bin/conda`.
    let program = value("CONDA_EXE").and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    roots.extend(program);
    roots.extend(value("MAMBA_ROOT_PREFIX"));
    if let Some(active) = value("CONDA_PREFIX") {
        // `<root>/envs/<name>`, or the root itself.
        let envs = active.parent().filter(|parent| parent.ends_with("envs"));
        roots.extend(envs.and_then(Path::parent).map(Path::to_owned));
        roots.push(active);
    }
    let home = value("HOME");
    for place in home.as_deref().into_iter().chain([Path::new("/opt")]) {
        roots.extend(USUAL.iter().map(|name| place.join(name)));
    }
    roots
}

/// Conda writes down where it has made environments.
fn listed(variables: &Variables<'_>) -> Vec<PathBuf> {
    let Some(home) = variables.get("HOME") else { return Vec::new() };
    let list = Path::new(home.as_ref()).join(".conda/environments.txt");
    let mut content = String::new();
    // A pipe is not waited for, nor read.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    if let Ok(file) = File::options().read(true).custom_flags(flags).open(list)
        && file.metadata().is_ok_and(|facts| facts.is_file())
    {
        let _ = file.take(MOST_BYTES).read_to_string(&mut content);
    }
    content.lines().map(|line| PathBuf::from(line.trim())).collect()
}

/// Paths that may not be read count as existing: the command will find out.
fn is_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

fn home_or(path: &str, variables: &Variables<'_>) -> PathBuf {
    match (path.strip_prefix("~/"), variables.get("HOME")) {
        (Some(rest), Some(home)) => Path::new(home.as_ref()).join(rest),
        _ => PathBuf::from(path),
    }
}

fn put_first(variables: &mut Variables<'_>, prefix: &Path) {
    let bin = text(&prefix.join("bin"));
    let path = variables.get("PATH").map_or("", |path| path.as_ref());
    let rest: Vec<&str> = path.split(':').filter(|place| *place != bin).collect();
    let whole = format!("{bin}:{}", rest.join(":"));
    variables.insert("PATH", whole.into());
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for place in [
            "miniconda3/envs/torch/conda-meta",
            "miniconda3/conda-meta",
            "work/.venv/bin",
            "far/tf/conda-meta",
        ] {
            fs::create_dir_all(home.path().join(place)).unwrap();
        }
        fs::create_dir_all(home.path().join(".conda")).unwrap();
        let list = format!("{}\n", home.path().join("far/tf").display());
        fs::write(home.path().join(".conda/environments.txt"), list).unwrap();
        home
    }

    /// The path that comes first, and what the environment is said to be.
    fn entered(home: &Path, python: &PythonEnvironment) -> Result<(String, String), Missing> {
        let text = home.to_str().unwrap().to_owned();
        let mut variables: Variables<'_> = BTreeMap::from([
            ("HOME", Cow::from(text.clone())),
            ("PATH", "/usr/bin:/bin".into()),
            ("PYTHONHOME", "/elsewhere".into()),
        ]);
        enter(python, &format!("{text}/work"), &mut variables)?;
        assert!(!variables.contains_key("PYTHONHOME"));
        let path = variables["PATH"].strip_suffix(":/usr/bin:/bin").unwrap().to_owned();
        let said = variables.get("CONDA_PREFIX").or_else(|| variables.get("VIRTUAL_ENV")).unwrap();
        let short = |it: &str| it.replace(&text, "~");
        Ok((short(&path), short(said)))
    }

    #[test]
    fn environments_are_found_without_a_shell() {
        let home = home();
        for (python, prefix) in [
            (PythonEnvironment::Conda("torch".into()), "~/miniconda3/envs/torch"),
            (PythonEnvironment::Conda("base".into()), "~/miniconda3"),
            (PythonEnvironment::Conda("tf".into()), "~/far/tf"),
            (PythonEnvironment::Venv(".venv".into()), "~/work/.venv"),
            (PythonEnvironment::Venv("~/work/.venv".into()), "~/work/.venv"),
        ] {
            let expected = (format!("{prefix}/bin"), prefix.to_owned());
            assert_eq!(entered(home.path(), &python), Ok(expected));
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let home = home();
        let missing = |python| entered(home.path(), &python).unwrap_err().0;
        let conda = missing(PythonEnvironment::Conda("jax".into()));
        assert!(conda.contains("`jax`") && conda.contains("conda env list"), "{conda}");
        assert!(missing(PythonEnvironment::Venv("/no/such".into())).contains("/no/such"));
        assert!(missing(PythonEnvironment::Conda("./no".into())).contains("./no"));
    }
}
