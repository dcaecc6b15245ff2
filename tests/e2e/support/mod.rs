//! What the tests are built on: servers, machines, users and GPUs that a test can control.

pub(crate) mod daemon;
pub(crate) mod danlu;
pub(crate) mod dead_fs;
pub(crate) mod fake_server;
pub(crate) mod http;
pub(crate) mod influxdb;
pub(crate) mod os_user;
pub(crate) mod prometheus;
pub(crate) mod receiver;
pub(crate) mod seeded_random;
pub(crate) mod shifted_clock;
pub(crate) mod small_disk;
pub(crate) mod smtp_sink;
pub(crate) mod ssh_lab;
pub(crate) mod ssh_user;
pub(crate) mod tmux;
pub(crate) mod two_gpus;
