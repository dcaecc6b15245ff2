//! Random descriptions of the tasks that clients submit.

use super::world::World;
use danlu_core::resources::{NodeSelector, Sharing};
use danlu_core::task::{ArraySpec, Axis, Dependency, DependencyKind, TaskSpec};
use danlu_core::{Actor, FailureClass, Input, Request, Span, TaskId};
use std::collections::BTreeSet;

const GB: u64 = 1 << 30;

impl World {
    pub(super) fn draw_submit(&mut self, client: usize) -> Option<Input> {
        let by = self.clients[client].user?;
        if self.keys_given == self.workload.most_tasks {
            return None;
        }
        self.keys_given += 1;
        let key = format!("{}-{}", self.clients[client].name, self.keys_given);
        let key = (!self.dice.chance(50)).then_some(key);
        let mut spec = self.draw_spec();
        if self.dice.chance(40) {
            let at_once = self.dice.pick(&[None, Some(1), Some(2), Some(3)]).flatten();
            let indices: Vec<u32> = (0..6).take(self.dice.index(6) + 1).collect();
            let values = indices.iter().map(u32::to_string).collect();
            let axis = Axis { name: "seed".to_owned(), values };
            let grid = if self.dice.chance(500) { vec![axis] } else { Vec::new() };
            spec.array = Some(ArraySpec { indices, at_once, grid });
        }
        Some(Input::Submit { by, spec, key })
    }

    /// Another description for a task that waits.
    pub(super) fn draw_edit(&mut self, by: Actor, task: TaskId) -> Option<Input> {
        let state = self.daemon.state()?;
        let mut spec = TaskSpec::clone(&state.tasks.get(&task)?.spec);
        match self.dice.below(5) {
            4 => spec.begin = Some(self.daemon_clock() + self.dice.span(0, 30_000)),
            0 => *spec.request = self.draw_request(),
            1 => spec.after = self.draw_dependencies(),
            2 => spec.retries += 1,
            _ => spec.priority = 5 + self.dice.index(10) as i32,
        }
        Some(Input::Edit { by, task, spec })
    }

    fn draw_spec(&mut self) -> TaskSpec {
        let span = self.dice.scale(20, self.workload.longest);
        let exit = match self.dice.below(20) {
            0 => "s9".to_owned(),
            1 => format!("h{}", self.dice.between(1, 3)),
            2..=4 => self.dice.between(1, 3).to_string(),
            _ => "0".to_owned(),
        };
        let mut command = match self.dice.below(25) {
            0 => vec!["serve".to_owned()],
            _ => vec!["work".to_owned(), span.to_string(), exit],
        };
        if command.len() == 3 && self.dice.chance(600) {
            command.push(self.draw_class().as_str().to_owned());
        }
        let begins = self.dice.chance(60);
        let begin = self.daemon_clock() + self.dice.span(0, 30_000);
        let limited = self.dice.chance(500);
        let guessed = self.dice.chance(200);
        TaskSpec {
            name: String::new(),
            command,
            request: self.draw_request().into(),
            time_limit: limited.then(|| Span(span / 2 + self.dice.below(span * 4))),
            expected: guessed.then(|| Span(span / 2 + self.dice.below(span * 2))),
            retries: u32::try_from(self.dice.below(8).saturating_sub(4)).unwrap_or(0),
            retry_on: self.draw_classes(),
            begin: begins.then_some(begin),
            preemptible: self.dice.chance(self.workload.preemptible),
            urgent: self.dice.chance(60),
            priority: if self.dice.chance(200) { 5 + self.dice.index(10) as i32 } else { 5 },
            after: self.draw_dependencies(),
            hold: self.dice.chance(50),
            project: self.dice.chance(300).then(|| "llm".to_owned()),
            ..TaskSpec::default()
        }
    }

    fn draw_class(&mut self) -> FailureClass {
        let common = [FailureClass::CudaOom, FailureClass::Nccl, FailureClass::Other];
        self.dice.pick(&common).unwrap_or(FailureClass::Other)
    }

    /// Most people do not name any.
    pub(super) fn draw_classes(&mut self) -> BTreeSet<FailureClass> {
        let count = self.dice.below(5).saturating_sub(2);
        (0..count).map(|_| self.draw_class()).collect()
    }

    fn draw_request(&mut self) -> Request {
        let largest = self.machines.iter().map(|it| it.cards.len()).max().unwrap_or(1) as u64;
        let total: usize = self.machines.iter().map(|it| it.cards.len()).sum();
        let span_nodes = self.dice.chance(self.workload.spanning);
        let gpus = match self.dice.below(20) {
            0..=1 => 0,
            2..=9 => 1,
            10..=13 => 2.min(largest),
            14..=17 => self.dice.between(1, largest),
            18 => self.dice.between(1, total as u64),
            _ => self.dice.between(1, total as u64 + 1),
        };
        let gpus = if span_nodes { self.dice.between(gpus, total as u64) } else { gpus };
        let gpus = u32::try_from(gpus).unwrap_or(1);
        let mut request = Request { span_nodes, ..Request::gpus(gpus) };
        if !span_nodes && self.machines.len() > 1 && self.dice.chance(self.workload.gangs) {
            let nodes = self.dice.between(2, self.machines.len() as u64);
            request.nodes = u32::try_from(nodes).unwrap_or(2);
            let each = self.dice.between(0, largest.min(3));
            request.gpus = u32::try_from(each).unwrap_or(1) * request.nodes;
        }
        if self.dice.chance(200) {
            request.cpus = u32::try_from(self.dice.between(1, 10)).unwrap_or(1);
            request.memory = self.dice.between(0, 24) * GB;
        }
        if self.dice.chance(60) {
            let count = u32::try_from(self.dice.between(1, 2)).unwrap_or(1);
            request.resources.insert("licence".to_owned(), count);
        }
        self.draw_sharing(&mut request);
        match self.dice.below(20) {
            0 => request.gpu_model = self.dice.pick(&["a100", "H100"]).map(str::to_owned),
            1 if !request.is_shared() => request.gpu_memory = self.dice.between(20, 80) * GB,
            2 if !request.is_gang() => {
                let machine = self.dice.index(self.machines.len());
                request.node = Some(NodeSelector::Name(self.machines[machine].name.clone()));
            }
            3 => {
                let value = self.dice.pick(&["east", "west"]).unwrap_or("east").to_owned();
                request.node = Some(NodeSelector::Label { key: "hall".to_owned(), value });
            }
            4 if request.gpus > 0 && !request.span_nodes && !request.is_gang() => {
                let first = u32::try_from(self.dice.below(largest)).unwrap_or(0);
                request.gpu_ids = vec![first];
            }
            5..=6 => {
                let machine = self.dice.index(self.machines.len());
                request.prefer = Some(NodeSelector::Name(self.machines[machine].name.clone()));
            }
            _ => {}
        }
        request
    }

    fn draw_sharing(&mut self, request: &mut Request) {
        if request.gpus == 0 || request.span_nodes {
            return;
        }
        let shared = self.dice.chance(self.workload.sharing);
        if shared {
            request.gpu_memory = self.dice.between(2, 30) * GB;
            request.sharing = Sharing::Shared { idle_utilization: 0 };
        } else if self.dice.chance(100) {
            request.sharing = Sharing::Exclusive;
        }
    }

    fn draw_dependencies(&mut self) -> Vec<Dependency> {
        if !self.dice.chance(250) {
            return Vec::new();
        }
        let count = self.dice.between(1, 3);
        let kinds = [DependencyKind::AfterOk, DependencyKind::AfterAny, DependencyKind::AfterNotOk];
        let most = if self.dice.chance(300) { self.everybodys.len() } else { 12 };
        let recent = self.everybodys.len().saturating_sub(most);
        let recent = self.everybodys[recent..].to_vec();
        let mut after = Vec::new();
        for _ in 0..count {
            let kind = self.dice.pick(&kinds).unwrap_or(DependencyKind::AfterAny);
            after.extend(self.dice.pick(&recent).map(|task| Dependency { task, kind }));
        }
        after
    }
}
