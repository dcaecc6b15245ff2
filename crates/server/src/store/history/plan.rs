//! How a question about the history is answered: through which index, and in which order.

use super::access_path::{AccessPath, Condition, conditions, everything, path};
use super::entry::state_code;
use super::read::number;
use super::{HistoryQuery, HistorySort};
use rusqlite::{Connection, params_from_iter};

/// What is found through an index up to this many is read whole and sorted. Beyond this, a walk in the wanted order
/// soon meets enough of them.
pub(super) const FEW: usize = 20_000;

/// A question, with all that is known about how to answer it.
#[derive(Debug)]
pub(super) struct HistoryPlan {
    conditions: Vec<Condition>,
    paths: Vec<AccessPath>,
    sort: HistorySort,
    ascending: bool,
    after: Option<(i64, i64)>,
    until: Option<(i64, i64)>,
    /// Only users and states: the counters know how many there are.
    pub(super) is_counted: bool,
    states: Option<Vec<i64>>,
    user: Option<u32>,
}

/// Gets one after the other for as long as it answers with `true`.
pub(super) type Take<'a> = &'a mut dyn FnMut(ListedTask) -> rusqlite::Result<bool>;

/// What a list is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListedTask {
    pub(super) id: i64,
    pub(super) key: i64,
    pub(super) spec: i64,
    pub(super) element: Option<u32>,
}

impl HistoryPlan {
    pub(super) fn new(query: &HistoryQuery) -> HistoryPlan {
        let states = query.states.as_ref().map(|names| {
            let mut codes: Vec<i64> = names.iter().filter_map(|name| state_code(*name)).collect();
            codes.sort_unstable();
            codes.dedup();
            codes
        });
        let user = query.owner.map(|user| user.0);
        let place = |(key, id)| (key, number(id));
        let (after, until) = (query.after.map(place), query.until.map(place));
        let (conditions, paths) = conditions(query, states.as_deref());
        let is_counted = query.is_counted();
        let (sort, ascending) = (query.sort, query.ascending);
        HistoryPlan { conditions, paths, sort, ascending, after, until, is_counted, states, user }
    }

    /// No ended task is in such a state.
    pub(super) fn is_empty(&self) -> bool {
        self.states.as_ref().is_some_and(Vec::is_empty)
    }

    /// From the counters.
    pub(super) fn counted(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let sql = "SELECT user, state, tasks FROM history_counts";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut sum = 0_i64;
        while let Some(row) = rows.next()? {
            let (user, state): (u32, i64) = (row.get(0)?, row.get(1)?);
            let wanted = self.user.is_none_or(|it| it == user)
                && self.states.as_ref().is_none_or(|them| them.contains(&state));
            sum += if wanted { row.get::<_, i64>(2)? } else { 0 };
        }
        Ok(u64::try_from(sum).unwrap_or_default())
    }

    /// The index that finds the fewest, if those are few.
    pub(super) fn selective(
        &self,
        connection: &Connection,
        most: usize,
    ) -> rusqlite::Result<Option<AccessPath>> {
        let mut best: Option<(usize, &AccessPath)> = None;
        for path in &self.paths {
            let limit = best.map_or(most + 1, |(count, _)| count);
            let AccessPath { from, own, .. } = path;
            let sql = format!(
                "SELECT count(*) FROM (SELECT 1 FROM {from} WHERE {} LIMIT {limit})",
                own.sql
            );
            let values = params_from_iter(&own.values);
            let count: i64 =
                connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0))?;
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            if count < limit {
                best = Some((count, path));
            }
        }
        Ok(best.map(|(_, path)| path.clone()))
    }

    /// In the wanted order; what is most specific comes first among the paths.
    pub(super) fn ordered(&self) -> AccessPath {
        let natural = self.paths.iter().find(|path| path.order == Some(self.sort));
        natural.cloned().unwrap_or_else(|| everything(self.sort))
    }

    /// In the wanted order, and nothing else has to be looked at.
    pub(super) fn exact(&self) -> Option<AccessPath> {
        let all = self.conditions.len();
        let is_exact = |path: &&AccessPath| path.order == Some(self.sort) && path.fulfils == all;
        let all = (all == 0).then(|| everything(self.sort));
        all.or_else(|| self.paths.iter().find(is_exact).cloned())
    }

    /// How many a path finds by itself.
    pub(super) fn size(connection: &Connection, path: &AccessPath) -> rusqlite::Result<u64> {
        let sql = format!("SELECT count(*) FROM {} WHERE {}", path.from, path.own.sql);
        let values = params_from_iter(&path.own.values);
        let count: i64 = connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Those of one spec.
    pub(super) fn of_spec(spec: i64) -> AccessPath {
        path("history h INDEXED BY history_spec", "h.spec = ?", vec![spec.into()], None)
    }

    /// It does not go from the first one to the last.
    pub(super) fn is_part(&self) -> bool {
        self.after.is_some() || self.until.is_some()
    }

    /// All that it lets through, in the wanted order and from where the page begins, until `take` has had enough.
    pub(super) fn walk(
        &self,
        connection: &Connection,
        path: &AccessPath,
        take: Take<'_>,
    ) -> rusqlite::Result<()> {
        self.read(connection, path, true, take)
    }

    /// All that it lets through, on every page and in any order.
    pub(super) fn collect(
        &self,
        connection: &Connection,
        path: &AccessPath,
        take: Take<'_>,
    ) -> rusqlite::Result<()> {
        self.read(connection, path, false, take)
    }

    /// The same, through the first path there is.
    pub(super) fn count(&self, connection: &Connection, take: Take<'_>) -> rusqlite::Result<()> {
        let everything = || everything(HistorySort::Id);
        let path = self.paths.first().cloned().unwrap_or_else(everything);
        self.read(connection, &path, false, take)
    }

    fn read(
        &self,
        connection: &Connection,
        path: &AccessPath,
        ordered: bool,
        take: Take<'_>,
    ) -> rusqlite::Result<()> {
        let AccessPath { from, join, id, own, .. } = path;
        let key = match self.sort {
            HistorySort::Id => *id,
            HistorySort::Ended => "h.ended",
            HistorySort::Ran => "h.ran",
        };
        let mut sql = format!("SELECT {id}, {key}, h.spec, h.element FROM {from} {join} WHERE 1");
        let mut values = Vec::new();
        for condition in std::iter::once(own).chain(&self.conditions) {
            sql.push_str(" AND ");
            sql.push_str(&condition.sql);
            values.extend(condition.values.iter().cloned());
        }
        if ordered {
            let (beyond, before, direction) =
                if self.ascending { (">", "<", "ASC") } else { ("<", ">", "DESC") };
            for (than, place) in [(beyond, self.after), (before, self.until)] {
                let Some((bound, bound_id)) = place else { continue };
                if self.sort == HistorySort::Id {
                    sql.push_str(&format!(" AND {id} {than} ?"));
                } else {
                    sql.push_str(&format!(" AND ({key}, {id}) {than} (?, ?)"));
                    values.push(bound.into());
                }
                values.push(bound_id.into());
            }
            sql.push_str(&match self.sort {
                HistorySort::Id => format!(" ORDER BY {id} {direction}"),
                HistorySort::Ended | HistorySort::Ran => {
                    format!(" ORDER BY {key} {direction}, {id} {direction}")
                }
            });
        }
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let element = row.get::<_, Option<u32>>(3)?;
            let task = ListedTask { id: row.get(0)?, key: row.get(1)?, spec: row.get(2)?, element };
            if !take(task)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// In the wanted order, and after the place where the page begins.
    pub(super) fn sorted(&self, mut found: Vec<ListedTask>) -> Vec<ListedTask> {
        let place = |task: &ListedTask| (task.key, task.id);
        let after = match (self.sort, self.after) {
            (HistorySort::Id, Some((_, id))) => Some((id, id)),
            (HistorySort::Ended | HistorySort::Ran, after) => after,
            (HistorySort::Id, None) => None,
        };
        if self.ascending {
            found.retain(|task| after.is_none_or(|after| place(task) > after));
            found.sort_unstable_by_key(place);
        } else {
            found.retain(|task| after.is_none_or(|after| place(task) < after));
            found.sort_unstable_by_key(|task| std::cmp::Reverse(place(task)));
        }
        found
    }
}
