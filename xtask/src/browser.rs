//! What the browser tests need: Chromium, a Chinese font, and the packages that drive it.

use std::{fs, path::Path, process::Command};

use crate::shell;

/// A sentence about what is missing, where it cannot be had.
pub(crate) fn install() -> Result<(), String> {
    install_packages()?;
    let scripts = shell::root().join("tests/e2e/browser");
    if !is_current(&scripts) {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&scripts);
        if !shell::succeeds(&mut npm) {
            return Err("the packages of the browser tests cannot be installed".to_owned());
        }
    }
    Ok(())
}

/// Only what is missing: a node from elsewhere conflicts with Debian's npm.
fn install_packages() -> Result<(), String> {
    let mut missing = Vec::new();
    if !has("chromium") && !has("google-chrome") {
        missing.push("chromium");
    }
    if !has("npm") {
        missing.extend(["nodejs", "npm"]);
    }
    if !has_chinese_font() {
        missing.push("fonts-noto-cjk");
    }
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    let apt = |words: &[&str]| shell::succeeds_silently(Command::new("apt-get").args(words));
    let install = [&["install", "-y", "-q"], missing.as_slice()].concat();
    // A fresh machine has no lists yet.
    match apt(&install) || apt(&["update", "-q"]) && apt(&install) {
        true => Ok(()),
        false => Err(format!("{} cannot be installed", missing.join(", "))),
    }
}

fn has(program: &str) -> bool {
    shell::succeeds_silently(Command::new(program).arg("--version"))
}

/// Pictures with Chinese would show boxes without one.
fn has_chinese_font() -> bool {
    let fonts = Command::new("fc-list").arg(":lang=zh").output();
    fonts.is_ok_and(|fonts| !fonts.stdout.is_empty())
}

/// npm writes this file after everything else.
fn is_current(scripts: &Path) -> bool {
    let time = |file: &str| fs::metadata(scripts.join(file)).and_then(|it| it.modified()).ok();
    match (time("node_modules/.package-lock.json"), time("package-lock.json")) {
        (Some(installed), Some(wanted)) => installed >= wanted,
        _ => false,
    }
}
