//! Task lists: the query, and reading all pages of the response.

use danlu_wire::api::{Document, MOST_ROWS, Overview, TaskSort, TaskStateName, TaskView, Tasks};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Client, Problem, percent::query_value, read};

/// Which tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// Empty means all.
    pub(crate) states: Vec<TaskStateName>,
    pub(crate) user: Option<String>,
    pub(crate) node: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) project: Option<String>,
    /// Words that all occur.
    pub(crate) text: Option<String>,
    /// Ids and ranges.
    pub(crate) ids: Option<String>,
    /// The elements of the array whose first one this is.
    pub(crate) array: Option<u64>,
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
    pub(crate) sort: TaskSort,
    pub(crate) oldest_first: bool,
    /// All of them when it is not given.
    pub(crate) limit: Option<usize>,
}

/// Where a page of waiting tasks begins or ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum OverviewPlace {
    #[default]
    Start,
    /// As another page said.
    From(String),
    /// It ends before this task.
    Before(u64),
}

/// A page whose rows are passed on as they are.
#[derive(Deserialize, Serialize)]
struct Rows {
    v: u32,
    tasks: Vec<Box<RawValue>>,
    total: usize,
    next: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Rows {
    fn cursor(&self) -> Option<String> {
        // Servers of earlier releases know the id only.
        self.next_cursor.clone().or_else(|| self.next.map(|id| id.to_string()))
    }
}

impl Client {
    /// One page at most, with how many there are in all.
    pub(crate) fn page(&self, query: &Query) -> Result<Tasks, Problem> {
        let limit = query.limit.unwrap_or(MOST_ROWS);
        let document: Document<Tasks> = self.get(&query.path(limit, None))?;
        Ok(document.content)
    }

    /// Everything that was asked for, as one document.
    pub(crate) fn list_document(&self, query: &Query) -> Result<String, Problem> {
        let wanted = query.limit.unwrap_or(usize::MAX);
        let first = self.get_document(&query.path(wanted.min(MOST_ROWS), None))?;
        let mut all: Rows = read(&first)?;
        if all.next.is_none() || all.tasks.len() >= wanted {
            return Ok(first);
        }
        while let Some(cursor) = all.cursor().filter(|_| all.tasks.len() < wanted) {
            let rest = (wanted - all.tasks.len()).min(MOST_ROWS);
            let page: Rows = self.get(&query.path(rest, Some(&cursor)))?;
            all.tasks.extend(page.tasks);
            (all.next, all.next_cursor) = (page.next, page.next_cursor);
        }
        serde_json::to_string(&all).map_err(|error| Problem::Odd(error.to_string()))
    }

    pub(crate) fn overview(&self, query: &Query) -> Result<Overview, Problem> {
        let document: Document<Overview> = self.get(&query.path_of("/overview", ""))?;
        Ok(document.content)
    }

    /// A page of it: the waiting tasks from a place on, or before it.
    pub(crate) fn overview_page(
        &self,
        query: &Query,
        place: &OverviewPlace,
        lines: usize,
    ) -> Result<Overview, Problem> {
        let mut path = query.path_of("/overview", &format!("limit={lines}"));
        let (name, value) = match place {
            OverviewPlace::Start => ("", String::new()),
            OverviewPlace::From(cursor) => ("cursor", cursor.clone()),
            OverviewPlace::Before(id) => ("before", id.to_string()),
        };
        let text = query.text.as_deref().map(|text| ("text", text));
        let place = (!name.is_empty()).then_some((name, value.as_str()));
        for (name, value) in text.into_iter().chain(place) {
            path += &format!("&{name}={}", query_value(value));
        }
        let document: Document<Overview> = self.get(&path)?;
        Ok(document.content)
    }

    pub(crate) fn list(&self, query: &Query) -> Result<Vec<TaskView>, Problem> {
        let document: Document<Tasks> = read(&self.list_document(query)?)?;
        Ok(document.content.tasks)
    }
}

impl Query {
    fn path(&self, limit: usize, cursor: Option<&str>) -> String {
        let mut path = self.path_of("/tasks", &format!("limit={limit}"));
        let mut add = |name: &str, value: &str| {
            path += &format!("&{name}={}", query_value(value));
        };
        if !self.states.is_empty() {
            let names: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
            add("state", &names.join(","));
        }
        let more = [
            ("text", &self.text),
            ("ids", &self.ids),
            ("since", &self.since),
            ("until", &self.until),
        ];
        for (name, value) in more {
            value.iter().for_each(|value| add(name, value));
        }
        if let Some(first) = self.array {
            add("array", &first.to_string());
        }
        if self.sort != TaskSort::Id {
            add("sort", self.sort.as_str());
        }
        if self.oldest_first {
            add("oldest_first", "true");
        }
        if let Some(cursor) = cursor {
            add("cursor", cursor);
        }
        path
    }

    /// With the filters that every list has.
    fn path_of(&self, path: &str, first: &str) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend((!first.is_empty()).then(|| first.to_owned()));
        let filters = [
            ("user", &self.user),
            ("node", &self.node),
            ("label", &self.label),
            ("project", &self.project),
        ];
        for (name, value) in filters {
            parts.extend(value.iter().map(|value| format!("{name}={}", query_value(value))));
        }
        format!("{path}?{}", parts.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_escape_from_the_query() {
        let query = Query {
            states: vec![TaskStateName::Running, TaskStateName::Lost],
            user: Some("a&b=c d".into()),
            label: Some("k=值".into()),
            oldest_first: true,
            ..Query::default()
        };
        assert_eq!(
            query.path(5, Some("7")),
            "/tasks?limit=5&user=a%26b%3Dc%20d&label=k%3D%E5%80%BC&state=running,lost&oldest_first=true&cursor=7"
        );
        assert_eq!(Query::default().path(1, None), "/tasks?limit=1");
        let found = Query {
            text: Some("lr 0.1".into()),
            since: Some("7d".into()),
            sort: TaskSort::Ran,
            ..Query::default()
        };
        let expect = "/tasks?limit=2&text=lr%200.1&since=7d&sort=ran&cursor=9-7";
        assert_eq!(found.path(2, Some("9-7")), expect);
    }
}
