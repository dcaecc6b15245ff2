//! Parses `--resource licence:2`, a custom countable resource.

use super::whole;
use danlu_messages::spec as msg;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceCount {
    pub name: String,
    pub count: u32,
}

/// Default: 1.
pub fn parse_resource(given: &str) -> Result<ResourceCount, String> {
    let (name, count) = given.rsplit_once(':').unwrap_or((given, "1"));
    let count = whole(count)
        .filter(|count| *count > 0 && !name.is_empty())
        .ok_or_else(|| msg::expected_resource().to_owned())?;
    Ok(ResourceCount { name: name.to_owned(), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_how_many() {
        let named = |name: &str, count| Ok(ResourceCount { name: name.to_owned(), count });
        assert_eq!(parse_resource("licence:2"), named("licence", 2));
        assert_eq!(parse_resource("licence"), named("licence", 1));
        for wrong in ["", ":1", "a:", "a:0", "a:x", "a:-1"] {
            assert!(parse_resource(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
