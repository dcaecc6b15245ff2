//! The lines of a report with names, in the order in which people read them.

use super::figures::Figures;
use super::fold::{Fold, Grouping, LineKey, ReportQuestion};
use super::names::{NameId, Names};
use crate::read_model::ReadModel;
use danlu_core::{Time, UserId};
use std::collections::HashMap;

#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) by: Vec<Grouping>,
    /// All of them, where it is by time.
    pub(crate) periods: Vec<String>,
    /// Tasks from before this file was made are still being read: there will be more.
    pub(crate) reading_history: bool,
    pub(crate) total: Figures,
    pub(crate) lines: Vec<ReportLine>,
}

#[derive(Debug, Clone)]
pub(crate) struct ReportLine {
    /// One for each grouping; `None`: no project, no GPU, or a model that is not known any more.
    pub(crate) of: Vec<Option<String>>,
    pub(crate) figures: Figures,
}

pub(super) fn report(
    question: &ReportQuestion,
    mut fold: Fold,
    names: &Names,
    model: &ReadModel,
    reading_history: bool,
) -> Report {
    let by = &question.by;
    let total = fold.total();
    if let [Grouping::Period(_)] = by[..] {
        // Days on which nothing happened are days.
        for place in 0..fold.periods().len() {
            let key = [u32::try_from(place).unwrap_or(u32::MAX), 0, 0];
            fold.lines.entry(key).or_default();
        }
    } else {
        fold.lines.retain(|_, figures| !figures.is_nothing());
    }
    let word = |place: usize, number: u32| match by.get(place)? {
        Grouping::User => {
            let user = model.users.get(&UserId(number));
            Some(user.map_or_else(|| format!("#{number}"), |user| user.name.clone()))
        }
        Grouping::Project | Grouping::Node | Grouping::Model => {
            names.name(NameId(number)).map(str::to_owned)
        }
        Grouping::Period(_) => Some(fold.periods().name(number as usize)),
    };
    let ranks = ranks(by, &fold.lines);
    let lines = fold.lines.iter().map(|(key, figures)| {
        let of = (0..by.len()).map(|place| word(place, key[place])).collect();
        let order: LineOrder = (0..by.len())
            .map(|place| match by[place] {
                Grouping::Period(_) => (i64::from(key[place]), None),
                Grouping::User | Grouping::Project | Grouping::Node | Grouping::Model => {
                    let most = ranks.get(&prefix(key, place)).copied().unwrap_or_default();
                    (most.saturating_neg(), word(place, key[place]))
                }
            })
            .collect();
        (order, ReportLine { of, figures: figures.clone() })
    });
    let mut lines: Vec<(LineOrder, ReportLine)> = lines.collect();
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    let is_period = |it: &Grouping| match it {
        Grouping::Period(_) => true,
        Grouping::User | Grouping::Project | Grouping::Node | Grouping::Model => false,
    };
    let periods = match by.iter().any(is_period) {
        true => (0..fold.periods().len()).map(|place| fold.periods().name(place)).collect(),
        false => Vec::new(),
    };
    Report {
        periods,
        from: question.from,
        to: question.to,
        by: by.clone(),
        reading_history,
        total,
        lines: lines.into_iter().map(|(_, line)| line).collect(),
    }
}

/// For each grouping a number, the smallest first, then the name.
type LineOrder = Vec<(i64, Option<String>)>;
type Prefix = (usize, LineKey);

fn prefix(key: &LineKey, place: usize) -> Prefix {
    let mut begins = LineKey::default();
    begins[..=place].copy_from_slice(&key[..=place]);
    (place, begins)
}

/// Who has used most comes first.
fn ranks(by: &[Grouping], lines: &HashMap<LineKey, Figures>) -> HashMap<Prefix, i64> {
    let mut ranks: HashMap<Prefix, i64> = HashMap::new();
    for (key, figures) in lines {
        for place in 0..by.len() {
            *ranks.entry(prefix(key, place)).or_default() += figures.gpu;
        }
    }
    ranks
}
