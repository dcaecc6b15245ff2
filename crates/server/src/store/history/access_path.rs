//! The conditions of a question about the history, and the indexes that find what fulfils them.

use super::read::number;
use super::{HistoryQuery, HistorySort};
use rusqlite::types::Value;

/// One condition, in SQL.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

/// An index that finds what fulfils some of the conditions.
#[derive(Debug, Clone)]
pub(super) struct AccessPath {
    pub(super) from: String,
    /// Needed where the index is not one of the table itself.
    pub(super) join: &'static str,
    /// The task's id there.
    pub(super) id: &'static str,
    pub(super) own: Condition,
    /// How many of the conditions that fulfils.
    pub(super) fulfils: usize,
    /// It finds them in this order.
    pub(super) order: Option<HistorySort>,
}

/// Every condition as such, and the paths that fulfil one or two of them, the most specific first.
pub(super) fn conditions(
    query: &HistoryQuery,
    states: Option<&[i64]>,
) -> (Vec<Condition>, Vec<AccessPath>) {
    let (mut all, mut paths) = (Vec::new(), Vec::new());
    let condition = |sql: &str, values: Vec<Value>| Condition { sql: sql.to_owned(), values };
    let by_id = Some(HistorySort::Id);
    if let Some(array) = query.array {
        let value = vec![number(array).into()];
        all.push(condition("h.array = ?", value.clone()));
        paths.push(path("history h INDEXED BY history_array", "h.array = ?", value, by_id));
    }
    if let Some((key, value)) = &query.label {
        let (mut sql, mut values) = (String::from("l.key = ?"), vec![key.clone().into()]);
        let mut from = "history_labels l";
        if let Some(value) = value {
            sql.push_str(" AND l.value = ?");
            values.push(value.clone().into());
            from = "history_labels l INDEXED BY history_label_values";
        }
        let exists = format!("EXISTS (SELECT 1 FROM history_labels l WHERE {sql} AND l.id = h.id)");
        all.push(condition(&exists, values.clone()));
        let join = "CROSS JOIN history h ON h.id = l.id";
        paths.push(AccessPath { join, id: "l.id", ..path(from, &sql, values, by_id) });
    }
    if let Some(project) = &query.project {
        let value = vec![project.clone().into()];
        all.push(condition("h.project = ?", value.clone()));
        paths.push(path("history h INDEXED BY history_project", "h.project = ?", value, by_id));
    }
    if let Some(node) = query.node {
        let value = vec![i64::from(node.0).into()];
        let exists = "EXISTS (SELECT 1 FROM history_nodes n WHERE n.node = ? AND n.id = h.id)";
        all.push(condition(exists, value.clone()));
        let join = "CROSS JOIN history h ON h.id = n.id";
        let own = path("history_nodes n", "n.node = ?", value, by_id);
        paths.push(AccessPath { join, id: "n.id", ..own });
    }
    let user = query.owner.map(|user| i64::from(user.0));
    if query.folded {
        let (sql, order) = ("(h.array IS NULL OR h.id = h.array)", Some(HistorySort::Ended));
        all.push(condition(sql, Vec::new()));
        paths.push(match user {
            Some(user) => {
                let from = "history h INDEXED BY history_user_folded";
                let both = format!("h.user = ? AND {sql}");
                AccessPath { fulfils: 2, ..path(from, &both, vec![user.into()], order) }
            }
            None => path("history h INDEXED BY history_folded", sql, Vec::new(), order),
        });
    }
    if let Some(codes) = states {
        let list: Vec<String> = codes.iter().map(ToString::to_string).collect();
        let sql = format!("h.state IN ({})", list.join(", "));
        all.push(condition(&sql, Vec::new()));
        let order = by_id.filter(|_| codes.len() == 1);
        paths.push(match user {
            Some(user) => {
                let from = "history h INDEXED BY history_user_state";
                let both = format!("h.user = ? AND {sql}");
                AccessPath { fulfils: 2, ..path(from, &both, vec![user.into()], order) }
            }
            None => path("history h INDEXED BY history_state", &sql, Vec::new(), order),
        });
    }
    if let Some(user) = user {
        all.push(condition("h.user = ?", vec![user.into()]));
        for (index, order) in
            [("history_user", by_id), ("history_user_ended", Some(HistorySort::Ended))]
        {
            let from = format!("history h INDEXED BY {index}");
            paths.push(path(&from, "h.user = ?", vec![user.into()], order));
        }
    }
    let from = query.ended_from.map(|time| condition("h.ended >= ?", vec![time.0.into()]));
    let before = query.ended_before.map(|time| condition("h.ended < ?", vec![time.0.into()]));
    let times: Vec<Condition> = from.into_iter().chain(before).collect();
    if !times.is_empty() {
        let sql: Vec<&str> = times.iter().map(|it| it.sql.as_str()).collect();
        let values = times.iter().flat_map(|it| it.values.clone()).collect();
        let order = Some(HistorySort::Ended);
        let index = "history h INDEXED BY history_ended";
        let own = path(index, &sql.join(" AND "), values, order);
        paths.push(AccessPath { fulfils: times.len(), ..own });
        all.extend(times);
    }
    (all, paths)
}

pub(super) fn everything(sort: HistorySort) -> AccessPath {
    let from = match sort {
        HistorySort::Id => "history h NOT INDEXED",
        HistorySort::Ended => "history h INDEXED BY history_ended",
        HistorySort::Ran => "history h INDEXED BY history_ran",
    };
    AccessPath { fulfils: 0, ..path(from, "1", Vec::new(), Some(sort)) }
}

pub(super) fn path(
    from: &str,
    sql: &str,
    values: Vec<Value>,
    order: Option<HistorySort>,
) -> AccessPath {
    let own = Condition { sql: sql.to_owned(), values };
    AccessPath { from: from.to_owned(), join: "", id: "h.id", own, fulfils: 1, order }
}
