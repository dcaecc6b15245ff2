//! A client that submits small tasks without end, after the faults of some seeds: where the order promises it, no other
//! task starves.

use super::agenda::Happening;
use super::world::World;
use danlu_core::quota::QuotaSettings;
use danlu_core::settings::{Backfill, Order, Settings};
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Input, Request, Row, RowKey, Span, Task, TaskId};

const NAME: &str = "small";
/// Behind all other tasks.
const PRIORITY: i32 = 100;

pub(super) fn is_small_task(task: &Task) -> bool {
    task.spec.name == NAME
}

impl World {
    pub(super) fn start_small_tasks(&mut self) {
        self.note("world", format_args!("somebody submits small tasks without end"));
        let quota = QuotaSettings::default();
        let drawn = Settings { quota, queue_paused: false, ..self.draw_settings() };
        let settings = if self.dice.chance(500) {
            // Without a reservation for starving tasks, other orders and `skip` let small tasks pass for ever.
            let backfill = if self.dice.chance(750) { Backfill::Easy } else { Backfill::None };
            Settings { order: Order::Fifo, backfill, reserve_after: Span::ZERO, ..drawn }
        } else {
            let orders = [Order::Fifo, Order::Sjf, Order::Balance, Order::Fair];
            let order = self.dice.pick(&orders).unwrap_or(Order::Balance);
            Settings { order, reserve_after: Span(self.dice.scale(1, 60_000)), ..drawn }
        };
        self.small_tasks = Some(settings);
        self.agenda.at(self.now, Happening::SubmitSmallTasks);
    }

    pub(super) fn submit_small_tasks(&mut self) {
        let tasks = self.disk.tables.rows.values().filter_map(|row| match row {
            Row::Task(task) => Some(&**task),
            _ => None,
        });
        let old = self.disk.tables.all_retired().map(|retired| &*retired.task);
        let tasks = tasks.chain(old).filter(|task| is_small_task(task));
        let (ended, open): (Vec<&Task>, Vec<&Task>) = tasks.partition(|task| task.is_finished());
        let ended: Vec<TaskId> = ended.into_iter().map(|task| task.id).collect();
        let open = open.len();
        for task in ended {
            self.post(Input::Remove { by: Actor::Daemon, task }, None);
        }
        if self.everybody_else_is_done() {
            self.small_tasks = None;
        }
        let Some(settings) = self.small_tasks.clone() else {
            return;
        };
        let at = self.now + Span(self.dice.scale(100, 1000));
        self.agenda.at(at, Happening::SubmitSmallTasks);
        let Some(Row::Ledger(ledger)) = self.disk.tables.rows.get(&RowKey::Ledger) else {
            return;
        };
        if ledger.settings != settings {
            self.post(Input::Configure { by: Actor::Daemon, settings }, None);
            return;
        }
        for _ in open..self.gpu_count() + 4 {
            self.submit_small_task();
        }
    }

    fn submit_small_task(&mut self) {
        let Some(by) = self.clients[0].user else {
            return;
        };
        let span = self.dice.scale(500, 8000);
        let promised = self.small_tasks.as_ref().is_some_and(|it| it.reserve_after == Span::ZERO);
        let limited = promised || self.dice.chance(500);
        let spec = TaskSpec {
            name: NAME.to_owned(),
            command: vec!["work".to_owned(), span.to_string(), "0".to_owned()],
            request: Request::gpus(1).into(),
            time_limit: limited.then(|| Span(span + self.dice.scale(1000, 60_000))),
            priority: PRIORITY,
            ..TaskSpec::default()
        };
        self.post(Input::Submit { by, spec, key: None }, None);
    }
}
