//! Names of projects, machines and models as numbers, so that a row is a few bytes and a group is found fast.

use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NameId(pub(crate) u32);

/// There is none.
pub(crate) const NO_NAME: NameId = NameId(0);

/// Numbers are given from 1 on, and never again to another name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    ids: HashMap<Arc<str>, NameId>,
    /// By number, from 1 on.
    names: Vec<Arc<str>>,
}

impl Names {
    /// An empty name is none.
    pub(crate) fn id(&mut self, name: &str) -> NameId {
        if name.is_empty() {
            return NO_NAME;
        }
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        let id = NameId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.ids.insert(name, id);
        id
    }

    /// Without giving it one.
    pub(crate) fn known(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub(crate) fn name(&self, id: NameId) -> Option<&str> {
        let place = usize::try_from(id.0).ok()?.checked_sub(1)?;
        self.names.get(place).map(|name| &**name)
    }

    /// Those after the first `count`, with their numbers.
    pub(crate) fn after(&self, count: usize) -> impl Iterator<Item = (NameId, &str)> {
        let numbered = (1..).map(NameId).zip(&self.names).skip(count);
        numbered.map(|(id, name)| (id, &**name))
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}
