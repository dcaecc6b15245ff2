//! Values of answers that a newer server may extend.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A value that this version knows, or the text of one that only a newer server knows. In JSON it is the value itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MaybeNewer<T> {
    Known(T),
    Newer(String),
}

impl<T: PartialEq> MaybeNewer<T> {
    pub fn is(&self, value: &T) -> bool {
        match self {
            MaybeNewer::Known(known) => known == value,
            MaybeNewer::Newer(_) => false,
        }
    }
}

impl<T> From<T> for MaybeNewer<T> {
    fn from(value: T) -> MaybeNewer<T> {
        MaybeNewer::Known(value)
    }
}

impl<T: Default> Default for MaybeNewer<T> {
    fn default() -> MaybeNewer<T> {
        MaybeNewer::Known(T::default())
    }
}

/// Servers of this version send known values only.
impl<T: JsonSchema> JsonSchema for MaybeNewer<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
