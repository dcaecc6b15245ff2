//! `--resource licence:2`: so many of a named thing that a machine has.

use super::whole;
use danlu_messages::spec as msg;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub count: u32,
}

/// One unless told.
pub fn parse_resource(given: &str) -> Result<Named, String> {
    let (name, count) = given.rsplit_once(':').unwrap_or((given, "1"));
    let count = whole(count)
        .filter(|count| *count > 0 && !name.is_empty())
        .ok_or_else(|| msg::a_resource_is_written_as_name_n().to_owned())?;
    Ok(Named { name: name.to_owned(), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_how_many() {
        let named = |name: &str, count| Ok(Named { name: name.to_owned(), count });
        assert_eq!(parse_resource("licence:2"), named("licence", 2));
        assert_eq!(parse_resource("licence"), named("licence", 1));
        for wrong in ["", ":1", "a:", "a:0", "a:x", "a:-1"] {
            assert!(parse_resource(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
