//! What a patch does to one field: keep it, reset it to its default, or set it to a value.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The key is left out in JSON.
    #[default]
    Keep,
    /// `null` in JSON.
    Reset,
    Set(T),
}

impl<T> Change<T> {
    pub fn is_keep(&self) -> bool {
        matches!(self, Change::Keep)
    }

    pub fn is_change(&self) -> bool {
        !self.is_keep()
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Change::Set(value) => Some(value),
            Change::Keep | Change::Reset => None,
        }
    }

    pub fn into_value(self) -> Option<T> {
        match self {
            Change::Set(value) => Some(value),
            Change::Keep | Change::Reset => None,
        }
    }

    #[must_use]
    pub(super) fn value_or_keep(self) -> Self {
        self.into_value().map_or(Change::Keep, Change::Set)
    }

    #[must_use]
    pub(super) fn unless(self, usual: &T) -> Self
    where
        T: PartialEq,
    {
        if self.value() == Some(usual) { Change::Keep } else { self.value_or_keep() }
    }

    /// The value, set to its type's default first unless it is set.
    pub fn get_or_default(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.value().is_none() {
            *self = Change::Set(T::default());
        }
        match self {
            Change::Set(value) => value,
            Change::Keep | Change::Reset => unreachable!("a value was set above"),
        }
    }
}

impl<T: Default> Change<T> {
    pub fn into_value_or_default(self) -> T {
        self.into_value().unwrap_or_default()
    }
}

impl<T> From<T> for Change<T> {
    fn from(value: T) -> Self {
        Change::Set(value)
    }
}

impl<T> From<Option<T>> for Change<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Change::Reset, Change::Set)
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// Called only for keys that are present: `Keep` is the default of a key that is left out.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Change::from)
    }
}

impl<T: JsonSchema> JsonSchema for Change<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}
