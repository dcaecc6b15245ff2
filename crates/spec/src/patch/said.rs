//! One value of a patch: not said, the default again, or a value.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Said<T> {
    /// Whatever is there stays.
    #[default]
    Nothing,
    /// `null` in JSON.
    Default,
    Value(T),
}

impl<T> Said<T> {
    pub fn is_nothing(&self) -> bool {
        matches!(self, Said::Nothing)
    }

    pub fn is_said(&self) -> bool {
        !self.is_nothing()
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Said::Value(value) => Some(value),
            Said::Nothing | Said::Default => None,
        }
    }

    pub fn into_value(self) -> Option<T> {
        match self {
            Said::Value(value) => Some(value),
            Said::Nothing | Said::Default => None,
        }
    }

    #[must_use]
    pub(super) fn value_or_nothing(self) -> Self {
        self.into_value().map_or(Said::Nothing, Said::Value)
    }

    #[must_use]
    pub(super) fn unless(self, usual: &T) -> Self
    where
        T: PartialEq,
    {
        if self.value() == Some(usual) { Said::Nothing } else { self.value_or_nothing() }
    }

    /// The value to change, which is an empty one at first.
    pub fn get_or_empty(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.value().is_none() {
            *self = Said::Value(T::default());
        }
        match self {
            Said::Value(value) => value,
            Said::Nothing | Said::Default => unreachable!("a value was put there"),
        }
    }
}

impl<T: Default> Said<T> {
    pub fn into_value_or_empty(self) -> T {
        self.into_value().unwrap_or_default()
    }
}

impl<T> From<T> for Said<T> {
    fn from(value: T) -> Self {
        Said::Value(value)
    }
}

impl<T> From<Option<T>> for Said<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Said::Default, Said::Value)
    }
}

impl<T: Serialize> Serialize for Said<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// Only what is there is read: what is left out is nothing.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Said<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Said::from)
    }
}

impl<T: JsonSchema> JsonSchema for Said<T> {
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
