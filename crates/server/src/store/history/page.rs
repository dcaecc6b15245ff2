//! One page of the history: which tasks are on it, and how many there are in all.

use super::access_path::AccessPath;
use super::blocks::{self, FoundSpecs, interrupted};
use super::entry::state_of;
use super::plan::{FEW, HistoryPlan, ListedTask, Take};
use super::read::{HistoryLoader, number};
use super::text::{needles, spec_text, values_contain};
use super::{HistoryPage, HistoryQuery, RetiredElements};
use danlu_core::TaskId;
use danlu_core::task::TaskSpec;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tracing::warn;

/// A search looks at the texts of so many tasks before it reads the texts of all: common words are met at once.
const LOOKED_AT: usize = 400;
/// Up to so many specs the tasks are found through them; beyond that on a walk.
const FEW_SPECS: usize = 5_000;
/// Counting stops after this; there are many then.
const MOST_COUNTED: u64 = 100_000;

pub(super) fn page(
    connection: &Connection,
    query: &HistoryQuery,
    go_on: &dyn Fn() -> bool,
) -> rusqlite::Result<HistoryPage> {
    let plan = HistoryPlan::new(query);
    if plan.is_empty() {
        return Ok(HistoryPage { total: query.count.then_some(0), ..HistoryPage::default() });
    }
    let pager = Pager { connection, plan: &plan, most: query.limit + 1, go_on };
    let needles = needles(query.text.as_deref().unwrap_or_default());
    let (mut found, total) = match needles.is_empty() {
        false => pager.searched(&needles, query.count)?,
        true => pager.listed(query.count)?,
    };
    let more = found.len() > query.limit;
    found.truncate(query.limit);
    let mut loader = HistoryLoader::new(connection);
    let mut tasks = Vec::with_capacity(found.len());
    for listed in found {
        match loader.load(listed.id)? {
            Some(Ok(retired)) => tasks.push(retired),
            Some(Err(bad)) => warn!(%bad, "left out of a list; `danlu db check` tells more"),
            None => warn!(task = listed.id, "listed in the history, but not there"),
        }
    }
    Ok(HistoryPage { tasks, more, total: total.filter(|_| query.count) })
}

struct Pager<'a> {
    connection: &'a Connection,
    plan: &'a HistoryPlan,
    /// One more than fit on the page, to see whether there are more.
    most: usize,
    go_on: &'a dyn Fn() -> bool,
}

/// Those of the page, in order, and how many there are in all, if that is known.
type Listed = (Vec<ListedTask>, Option<u64>);

impl Pager<'_> {
    fn listed(&self, count: bool) -> rusqlite::Result<Listed> {
        let Pager { connection, plan, .. } = self;
        let exact = plan.exact();
        if exact.is_none()
            && let Some(path) = plan.selective(connection, FEW)?
        {
            return self.collected(&path, &mut |_| Ok(true));
        }
        let path = exact.clone().unwrap_or_else(|| plan.ordered());
        let found = self.walked(&path, usize::MAX, &mut |_| Ok(true))?.0;
        let total = match exact {
            _ if !count => None,
            _ if plan.is_counted => Some(plan.counted(connection)?),
            Some(path) => Some(HistoryPlan::size(connection, &path)?),
            None => self.counted()?,
        };
        Ok((found, total))
    }

    fn searched(&self, needles: &[String], count: bool) -> rusqlite::Result<Listed> {
        let Pager { connection, plan, .. } = self;
        let mut loader = HistoryLoader::new(connection);
        let mut contains = |task: ListedTask| {
            Ok(match loader.spec(task.spec)? {
                Some(Ok(spec)) => contains(&spec, task.element, needles),
                Some(Err(_)) | None => false,
            })
        };
        if let Some(path) = plan.selective(connection, LOOKED_AT)? {
            return self.collected(&path, &mut contains);
        }
        let (found, whole) = self.walked(&plan.ordered(), LOOKED_AT, &mut contains)?;
        if found.len() >= self.most && !count {
            return Ok((found, None));
        }
        if whole && !plan.is_part() {
            return Ok(self.cut(found));
        }
        let specs = blocks::search_all(connection, needles, self.go_on)?;
        let mut matches = SpecMatches::new(&specs, needles, HistoryLoader::new(connection))?;
        if specs.whole.len() + specs.in_values.len() <= FEW_SPECS {
            let mut all = Vec::new();
            for spec in specs.whole.iter().chain(&specs.in_values) {
                plan.collect(connection, &HistoryPlan::of_spec(*spec), &mut |task| {
                    if matches.contain(task) {
                        all.push(task);
                    }
                    self.may_go_on()
                })?;
            }
            // A spec that was taken out and put in again is in two blocks.
            let mut seen = HashSet::with_capacity(all.len());
            all.retain(|task| seen.insert(task.id));
            return Ok(self.cut(all));
        }
        if let Some(path) = plan.selective(connection, FEW)? {
            return self.collected(&path, &mut |task| Ok(matches.contain(task)));
        }
        if found.len() >= self.most {
            return Ok((found, None));
        }
        let keep = &mut |task| Ok(matches.contain(task));
        Ok((self.walked(&plan.ordered(), usize::MAX, keep)?.0, None))
    }

    fn may_go_on(&self) -> rusqlite::Result<bool> {
        if (self.go_on)() { Ok(true) } else { Err(interrupted()) }
    }

    /// All of a path that are few.
    fn collected(&self, path: &AccessPath, keep: Take<'_>) -> rusqlite::Result<Listed> {
        let mut all = Vec::new();
        self.plan.collect(self.connection, path, &mut |task| {
            if keep(task)? {
                all.push(task);
            }
            self.may_go_on()
        })?;
        Ok(self.cut(all))
    }

    fn cut(&self, all: Vec<ListedTask>) -> Listed {
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let mut found = self.plan.sorted(all);
        found.truncate(self.most);
        (found, Some(total))
    }

    /// The first of a path in order, after looking at no more than `look`; and whether there was nothing else.
    fn walked(
        &self,
        path: &AccessPath,
        look: usize,
        keep: Take<'_>,
    ) -> rusqlite::Result<(Vec<ListedTask>, bool)> {
        let (mut found, mut looked, mut whole) = (Vec::new(), 0, true);
        self.plan.walk(self.connection, path, &mut |task| {
            if looked == look {
                whole = false;
                return Ok(false);
            }
            looked += 1;
            if keep(task)? {
                found.push(task);
            }
            let full = found.len() == self.most;
            whole &= !full;
            Ok(!full && self.may_go_on()?)
        })?;
        Ok((found, whole))
    }

    /// `None` when there are too many to count.
    fn counted(&self) -> rusqlite::Result<Option<u64>> {
        let mut count = 0;
        self.plan.count(self.connection, &mut |_| {
            count += 1;
            Ok(count <= MOST_COUNTED && self.may_go_on()?)
        })?;
        Ok((count <= MOST_COUNTED).then_some(count))
    }
}

fn contains(spec: &TaskSpec, element: Option<u32>, needles: &[String]) -> bool {
    let text = spec_text(spec);
    let common = text.split(super::text::VALUES).next().unwrap_or_default();
    let in_values = |needle: &str| {
        let array = spec.array.as_ref().zip(element);
        array.is_some_and(|(array, index)| values_contain(array, index, needle))
    };
    needles.iter().all(|needle| common.contains(needle) || in_values(needle))
}

/// How many elements of an array ended in each state.
pub(super) fn elements(
    connection: &Connection,
    array: TaskId,
) -> rusqlite::Result<Vec<RetiredElements>> {
    let sql = "SELECT state, count(*), min(id), max(id) FROM history INDEXED BY history_array
        WHERE array = ?1 GROUP BY state";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([number(array)])?;
    let mut found = Vec::new();
    let task = |id: i64| TaskId(u64::try_from(id).unwrap_or_default());
    while let Some(row) = rows.next()? {
        let Some(state) = state_of(row.get(0)?) else { continue };
        let count = usize::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
        let (first, last) = (task(row.get(2)?), task(row.get(3)?));
        found.push(RetiredElements { array, state, count, first, last });
    }
    Ok(found)
}

/// Which tasks contain it, by their specs.
struct SpecMatches<'a> {
    /// A bit for each spec from this one on.
    from: i64,
    bits: Vec<u64>,
    /// Where the numbers are too far apart for that.
    others: BTreeSet<i64>,
    sweeps: BTreeMap<i64, std::sync::Arc<TaskSpec>>,
    needles: &'a [String],
}

/// 8 MB of them.
const MOST_BITS: i64 = 64 << 20;

impl<'a> SpecMatches<'a> {
    fn new(
        specs: &FoundSpecs,
        needles: &'a [String],
        mut loader: HistoryLoader<'_>,
    ) -> rusqlite::Result<Self> {
        let mut sweeps = BTreeMap::new();
        for id in &specs.in_values {
            if let Some(Ok(spec)) = loader.spec(*id)? {
                sweeps.insert(*id, spec);
            }
        }
        let from = specs.whole.iter().min().copied().unwrap_or(0);
        let to = specs.whole.iter().max().copied().unwrap_or(0);
        let (mut bits, mut others) = (Vec::new(), BTreeSet::new());
        if to - from < MOST_BITS {
            bits = vec![0_u64; usize::try_from((to - from) / 64 + 1).unwrap_or(1)];
            for spec in &specs.whole {
                let (word, bit) = place(spec - from);
                bits[word] |= 1 << bit;
            }
        } else {
            others.extend(&specs.whole);
        }
        Ok(SpecMatches { from, bits, others, sweeps, needles })
    }

    fn contain(&mut self, task: ListedTask) -> bool {
        let (word, bit) = place(task.spec - self.from);
        let whole = task.spec >= self.from
            && self.bits.get(word).is_some_and(|word| word & (1 << bit) != 0);
        let in_values = || {
            let spec = self.sweeps.get(&task.spec);
            spec.is_some_and(|spec| contains(spec, task.element, self.needles))
        };
        whole || self.others.contains(&task.spec) || in_values()
    }
}

fn place(offset: i64) -> (usize, i64) {
    (usize::try_from(offset / 64).unwrap_or(usize::MAX), offset.rem_euclid(64))
}
