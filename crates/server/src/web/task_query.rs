//! What the address of the list of tasks says: filters, order, place in the list.

use crate::api::Filter;
use danlu_wire::api::TaskSort;

pub(super) const ROWS: usize = 50;

/// The filters in the address. Empty means absent: forms send both.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskListQuery {
    pub(super) text: String,
    pub(super) state: String,
    pub(super) user: String,
    pub(super) since: String,
    pub(super) until: String,
    pub(super) sort: String,
    pub(super) node: String,
    pub(super) project: String,
    pub(super) label: String,
    pub(super) array: String,
    pub(super) ids: String,
    pub(super) cursor: String,
    pub(super) before: String,
}

/// One name for several states, as people think of them.
const GROUPS: [(&str, &str); 4] = [
    ("active", "running,starting,paused,stopping,lost"),
    ("waiting", "queued,blocked,held"),
    ("unsuccessful", "failed,timed_out"),
    ("over", "succeeded,failed,cancelled,timed_out"),
];

impl TaskListQuery {
    pub(super) fn read(given: Vec<(String, String)>) -> TaskListQuery {
        let mut query = TaskListQuery::default();
        for (name, value) in given {
            let field = query.fields_mut().into_iter().find(|(known, _)| *known == name);
            if let Some((_, field)) = field {
                value.trim().clone_into(field);
            }
        }
        query
    }

    fn fields_mut(&mut self) -> [(&'static str, &mut String); 13] {
        [
            ("text", &mut self.text),
            ("state", &mut self.state),
            ("user", &mut self.user),
            ("since", &mut self.since),
            ("until", &mut self.until),
            ("sort", &mut self.sort),
            ("node", &mut self.node),
            ("project", &mut self.project),
            ("label", &mut self.label),
            ("array", &mut self.array),
            ("ids", &mut self.ids),
            ("cursor", &mut self.cursor),
            ("before", &mut self.before),
        ]
    }

    pub(super) fn filter(&self) -> Filter {
        let group = GROUPS.iter().find(|(name, _)| *name == self.state);
        let state = group.map_or_else(|| self.state.clone(), |(_, states)| (*states).to_owned());
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Filter {
            text: given(&self.text),
            state: given(&state),
            user: given(&self.user),
            since: given(&self.since),
            until: given(&self.until),
            sort: self.sort(),
            node: given(&self.node),
            label: given(&self.label),
            project: given(&self.project),
            array: self.array.parse().ok(),
            ids: given(&self.ids),
            cursor: given(&self.cursor),
            before: given(&self.before),
            limit: ROWS,
            ..Filter::default()
        }
    }

    fn sort(&self) -> TaskSort {
        TaskSort::ALL.into_iter().find(|sort| sort.as_str() == self.sort).unwrap_or_default()
    }

    pub(super) fn address(&self) -> String {
        let mut query = self.clone();
        let given = query.fields_mut().into_iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", super::form::encode(value))).collect();
        if pairs.is_empty() { "/tasks".to_owned() } else { format!("/tasks?{}", pairs.join("&")) }
    }

    /// The same list from its first row on.
    pub(super) fn first_page(&self) -> TaskListQuery {
        TaskListQuery { cursor: String::new(), before: String::new(), ..self.clone() }
    }

    pub(super) fn from(&self, cursor: String) -> String {
        TaskListQuery { cursor, ..self.first_page() }.address()
    }

    pub(super) fn up_to(&self, before: String) -> String {
        TaskListQuery { before, ..self.first_page() }.address()
    }

    /// More than what is always shown.
    pub(super) fn is_special(&self) -> bool {
        [&self.node, &self.project, &self.label, &self.array].iter().any(|it| !it.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::Query;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        let mut query = TaskListQuery::default();
        for (name, value) in query.fields_mut() {
            *value = format!("{name} \u{8bcd}&=");
        }
        let address = query.address();
        let uri = address.parse().expect("it is an address");
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&uri).expect("it is read").0;
        assert_eq!(pairs.len(), 13);
        assert_eq!(TaskListQuery::read(pairs).address(), address);
        assert!(!query.from("7".to_owned()).contains("before="));
        assert!(query.up_to("7".to_owned()).ends_with("&before=7"));
    }
}
