//! A submitter's environment variables, compressed for the store and named by their hash.

use super::{Store, StoreError};
use rusqlite::OptionalExtension as _;
use sha2::{Digest, Sha256};

/// More than any shell exports; the kernel takes no more than a few MB either.
const MOST_BYTES: usize = 2 << 20;

/// A submitter's environment, kept once however many tasks share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub hash: String,
    /// `NAME=value`, each ended by a zero byte.
    pub variables: Vec<u8>,
}

impl Store {
    pub fn environment(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let mut statement = self
            .connection
            .prepare_cached("SELECT variables FROM environments WHERE hash = ?1")
            .map_err(failed)?;
        statement.query_row([hash], |row| row.get(0)).optional().map_err(failed)
    }
}

/// `None` for an empty one.
pub(crate) fn pack(variables: &[String]) -> Result<Option<Environment>, String> {
    if variables.is_empty() {
        return Ok(None);
    }
    let mut sorted: Vec<&str> = variables.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let mut packed = Vec::new();
    for variable in sorted {
        if variable.contains('\0') || variable.find('=').is_none_or(|at| at == 0) {
            return Err(String::from("the environment has a variable without a name"));
        }
        packed.extend_from_slice(variable.as_bytes());
        packed.push(0);
    }
    if packed.len() > MOST_BYTES {
        return Err(format!("the environment has more than {MOST_BYTES} bytes"));
    }
    let hash = Sha256::digest(&packed).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(Environment { hash, variables: packed }))
}

pub(crate) fn variables(packed: &[u8]) -> Vec<String> {
    let parts = packed.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_variables_have_the_same_name_in_any_order() {
        let pack = |words: &[&str]| {
            let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            pack(&owned)
        };
        let one = pack(&["A=1", "B=x=y"]).unwrap().unwrap();
        assert_eq!(one, pack(&["B=x=y", "A=1"]).unwrap().unwrap());
        assert_eq!(variables(&one.variables), ["A=1", "B=x=y"]);
        assert_eq!(pack(&[]).unwrap(), None);
        assert!(pack(&["=1"]).is_err());
        assert!(pack(&["novalue"]).is_err());
    }
}
