//! `NAME=VALUE`, of labels and of environment variables.

use danlu_messages::spec as msg;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub name: String,
    pub value: String,
}

pub fn parse_pair(given: &str) -> Result<Pair, String> {
    match given.split_once('=') {
        Some((name, value)) if !name.is_empty() && !given.contains('\0') => {
            Ok(Pair { name: name.to_owned(), value: value.to_owned() })
        }
        _ => Err(msg::expected_assignment().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_may_be_empty_and_contain_an_equals_sign() {
        let pair = |name: &str, value: &str| Pair { name: name.into(), value: value.into() };
        assert_eq!(parse_pair("a=b"), Ok(pair("a", "b")));
        assert_eq!(parse_pair("a="), Ok(pair("a", "")));
        assert_eq!(parse_pair("a=b=c"), Ok(pair("a", "b=c")));
        for wrong in ["", "a", "=b", "a=\0"] {
            assert!(parse_pair(wrong).is_err(), "{wrong:?} is accepted");
        }
    }
}
