//! Reading small files of `/proc`, `/sys` and scripts without trusting their size.

use super::error::ProbeError;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No file of `/sys` that is read here is longer than a page.
pub(crate) const PAGE: u64 = 4096;

/// The first `limit` bytes.
pub(crate) fn start_of(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All of a text that fits in a page, without white space at its ends; errors name the path.
pub(crate) fn line(path: &Path) -> Result<String, ProbeError> {
    let bytes = start_of(path, PAGE).map_err(|error| ProbeError::file("read", path, &error))?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

pub(crate) fn number(path: &Path) -> Result<u64, ProbeError> {
    let text = line(path)?;
    text.parse().map_err(|_| ProbeError::File {
        action: "read a number from",
        path: path.to_owned(),
        reason: format!("it says `{}`", text.chars().take(40).collect::<String>()),
    })
}
