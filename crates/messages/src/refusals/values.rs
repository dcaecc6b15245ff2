//! Values of refusals in words.

use super::words as msg;
use crate::reasons::{gibibytes, words};
use danlu_core::refusal::{AxisProblem, Counted, Largest, Share, TaskAct, TaskStage, TextField};
use danlu_core::resources::Request;

pub(super) fn stage(stage: TaskStage) -> &'static str {
    match stage {
        TaskStage::Held => msg::stage_held(),
        TaskStage::Blocked => msg::stage_blocked(),
        TaskStage::Queued => msg::stage_queued(),
        TaskStage::Active => msg::stage_active(),
        TaskStage::Finished => msg::stage_finished(),
    }
}

/// With which tasks it can be done.
pub(super) fn wanted(act: TaskAct) -> &'static str {
    match act {
        TaskAct::Cancel => msg::can_cancel(),
        TaskAct::Requeue => msg::can_requeue(),
        TaskAct::Hold => msg::can_hold(),
        TaskAct::Release => msg::can_release(),
        TaskAct::Retry => msg::can_retry(),
        TaskAct::Remove => msg::can_remove(),
        TaskAct::Move => msg::can_move(),
        TaskAct::Pause => msg::can_pause(),
        TaskAct::Resume => msg::can_resume(),
        TaskAct::Extend => msg::can_extend(),
        TaskAct::Keep => msg::can_keep(),
        TaskAct::Edit => msg::can_edit(),
        TaskAct::Start => msg::can_start(),
    }
}

pub(super) fn text(field: TextField) -> &'static str {
    match field {
        TextField::Name => msg::text_name(),
        TextField::Description => msg::text_description(),
        TextField::Project => msg::text_project(),
        TextField::Label => msg::text_label(),
        TextField::Key => msg::text_key(),
        TextField::Command => msg::text_command(),
        TextField::NodeName => msg::text_node_name(),
        TextField::NodeLabel => msg::text_node_label(),
        TextField::GpuModel => msg::text_gpu_model(),
        TextField::ResourceName => msg::text_resource_name(),
        TextField::SweepName => msg::text_sweep_name(),
        TextField::SweepValue => msg::text_sweep_value(),
        TextField::Path => msg::text_path(),
        TextField::GpuArgument => msg::text_gpu_argument(),
        TextField::Shell => msg::text_shell(),
        TextField::PythonEnvironment => msg::text_python_environment(),
        TextField::Variable => msg::text_variable(),
        TextField::Variables => msg::text_variables(),
        TextField::Announcement => msg::text_announcement(),
        TextField::Group => msg::text_group(),
        TextField::OsUser => msg::text_os_user(),
        TextField::Email => msg::text_email(),
        TextField::Language => msg::text_language(),
        TextField::Template => msg::text_template(),
        TextField::NotifyTarget => msg::text_notify_target(),
    }
}

pub(super) fn things(counted: Counted) -> &'static str {
    match counted {
        Counted::Gpus => msg::things_gpus(),
        Counted::GpuNumbers => msg::things_gpu_numbers(),
        Counted::NodesOfTask | Counted::Nodes => msg::things_nodes(),
        Counted::Retries => msg::things_retries(),
        Counted::NamedResources => msg::things_named_resources(),
        Counted::SweepNames => msg::things_sweep_names(),
        Counted::Combinations => msg::things_combinations(),
        Counted::Labels => msg::things_labels(),
        Counted::ArrayTasks => msg::things_array_tasks(),
        Counted::OpenTasks => msg::things_open_tasks(),
        Counted::Dependencies => msg::things_dependencies(),
        Counted::Users => msg::things_users(),
        Counted::Groups => msg::things_groups(),
        Counted::UserQuotas => msg::things_user_quotas(),
        Counted::ProjectQuotas => msg::things_project_quotas(),
        Counted::RecentTasks => msg::things_recent_tasks(),
        Counted::Exempt => msg::things_exempt(),
        Counted::NotifyRules => msg::things_notify_rules(),
    }
}

pub(super) fn share(share: Share) -> &'static str {
    match share {
        Share::Priority => msg::share_priority(),
        Share::Weight => msg::share_weight(),
    }
}

pub(super) fn axis_problem(problem: AxisProblem) -> &'static str {
    match problem {
        AxisProblem::BadCharacter => msg::axis_bad_character(),
        AxisProblem::Taken => msg::axis_taken(),
        AxisProblem::NoValues => msg::axis_no_values(),
    }
}

/// The most there is of each thing that was asked for.
pub(super) fn largest(most: &Largest, wanted: &Request) -> String {
    let mut parts = vec![msg::largest_gpus(&most.gpus, &most.gpus_in_all)];
    if wanted.cpus > 0 {
        parts.push(msg::largest_cpus(&most.cpus));
    }
    if wanted.memory > 0 {
        parts.push(msg::largest_memory(&gibibytes(most.memory)));
    }
    parts.extend(most.resources.iter().map(|(name, count)| format!("{count} {name}")));
    parts.join(words::fullwidth_comma())
}

/// In the largest unit that there is at least one of.
pub(super) fn bytes(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.into_iter().find(|(_, power)| bytes >> power > 0);
    unit.map_or_else(
        || msg::in_bytes(&bytes),
        |(name, power)| format!("{:.1} {name}", bytes as f64 / (1_u64 << power) as f64),
    )
}
