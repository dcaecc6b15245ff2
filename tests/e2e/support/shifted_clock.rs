//! A clock of the server's own, which a test puts forward: hours pass at once.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::daemon::Setup;

const SOURCE: &str = include_str!("shifted_clock.c");

pub(crate) struct ShiftedClock {
    file: File,
    later: i64,
}

impl ShiftedClock {
    /// For a server that is started with this.
    pub(crate) fn prepare(directory: &Path, setup: &mut Setup) -> ShiftedClock {
        let [source, library, shift] =
            ["clock.c", "clock.so", "clock"].map(|name| directory.join(name));
        fs::write(&source, SOURCE).expect("a file");
        fs::write(&shift, 0_i64.to_ne_bytes()).expect("a file");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]);
        assert!(compiler.status().expect("a C compiler").success());
        let variable = |name: &str, path: &Path| (name.to_owned(), path.display().to_string());
        setup.variables.push(variable("LD_PRELOAD", &library));
        setup.variables.push(variable("DANLU_TEST_CLOCK", &shift));
        let file = File::options().write(true).open(&shift).expect("it is there");
        ShiftedClock { file, later: 0 }
    }

    /// What the server waits for is noticed when it wakes up: see to that.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.later += i64::try_from(time.as_secs()).expect("not that long");
        self.file.write_all_at(&self.later.to_ne_bytes(), 0).expect("it is written");
    }
}
