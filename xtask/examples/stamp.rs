//! A task that says when it began and ended: appends `begin end`, in nanoseconds since 1970, to the file it is given.
//!
//! `cargo xtask bench one-machine` measures with it the time between two tasks as tasks see it.

use std::{
    env, fs,
    io::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

fn main() {
    let begin = now();
    let path = env::args_os().nth(1).expect("the file to write to");
    let mut file =
        fs::File::options().create(true).append(true).open(path).expect("it can be written");
    // One write, so that lines of several tasks do not mix. What comes after it is the kernel's.
    file.write_all(format!("{begin} {}\n", now()).as_bytes()).expect("it can be written");
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos()
}
