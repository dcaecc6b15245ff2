//! How the program is linked, so that it starts soon: people wait for every `danlu submit` of a script.
//!
//! The part of GCC's runtime that unwinds the stack becomes part of it. It then needs nothing of a machine but its C library,
//! and starts sooner by one library.
//!
//! It is loaded at a random address, and its tables are read-only once it has started (ADR 22).

use std::{env, fs, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let (Ok(host), Ok(target), Ok(out)) =
        (env::var("HOST"), env::var("TARGET"), env::var("OUT_DIR"))
    else {
        return;
    };
    if target.contains("-linux-") {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,relro,-z,now");
    }
    if host != target || !target.ends_with("-linux-gnu") || !has_static_unwinder() {
        return;
    }
    // Found before the shared library of that name, and says to take the static one.
    if fs::write(Path::new(&out).join("libgcc_s.so"), "INPUT(-lgcc_eh)\n").is_ok() {
        println!("cargo:rustc-link-search=native={out}");
    }
}

/// A compiler that has not got it prints the bare name.
fn has_static_unwinder() -> bool {
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    asked.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_absolute())
}
