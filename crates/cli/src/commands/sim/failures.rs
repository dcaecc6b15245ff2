//! What the simulator complains about, in the person's language.

use std::{io, path::Path};

use danlu_sim::trace::{
    ClusterError, PolicyError, ReplayError, RowProblem, TraceError, Wrong,
    read::{MOST_BYTES, MOST_JOBS},
};

use crate::{
    failure::{Exit, Failure},
    language::{Language, text},
};

pub(crate) fn trace(error: &TraceError) -> Failure {
    let (message, hint) = match Language::current() {
        Language::English => (error.to_string(), error.hint()),
        Language::Chinese => (chinese_trace(error), chinese_trace_hint(error)),
    };
    Failure::new(Exit::Refused, message).hint(hint)
}

pub(crate) fn policy(error: &PolicyError) -> Failure {
    use PolicyError::*;
    let hint = error.hint();
    let (message, hint) = match (Language::current(), error) {
        (Language::English, _) => (error.to_string(), hint),
        (_, UnknownOrder(name)) => (format!("没有策略 `{name}`"), hint),
        (_, UnknownBackfill(name)) => (format!("没有回填方式 `{name}`"), hint),
        (_, UnknownEstimates(name)) => (format!("没有估计方式 `{name}`"), hint),
        (_, PreemptiveBackfill(name)) => {
            (format!("`{name}` 不用回填，它直接抢占"), format!("请只写 `{name}`"))
        }
        (_, AutoHasItsOwn) => {
            ("`auto` 自带回填和预测，不能另外指定".to_owned(), "请只写 `auto`".to_owned())
        }
    };
    Failure::new(Exit::Usage, message).hint(hint)
}

pub(crate) fn cluster(error: &ClusterError) -> Failure {
    use ClusterError::*;
    let (message, hint) = match (Language::current(), error) {
        (Language::English, _) => (error.to_string(), error.hint()),
        (_, NoSize { missing, flag }) => {
            let missing = missing.iter().map(|(vc, jobs)| format!("{vc}（{jobs} 个作业）"));
            let missing = missing.collect::<Vec<_>>().join("、");
            (format!("没有给出这些集群的大小：{missing}"), flag.clone())
        }
        (_, TwoSizes { vc }) => (format!("集群 `{vc}` 有两个大小"), format!("`{vc}=` 只能写一次")),
        (_, TooLarge { what, most }) => {
            (format!("数量过大（{what}）：最多 {most}"), "请用较小的集群回放".to_owned())
        }
    };
    Failure::new(Exit::Usage, message).hint(hint)
}

pub(crate) fn replay(error: &ReplayError) -> Failure {
    use ReplayError::*;
    let message = match (Language::current(), error) {
        (Language::English, _) => error.to_string(),
        (_, Refused { job, line, refusal }) => {
            format!("作业 `{job}`（第 {line} 行）无法运行：{refusal}")
        }
        (_, NoEstimate { job, line }) => {
            format!("作业 `{job}`（第 {line} 行）在 `est_duration` 列中没有估计")
        }
        (_, Setup(refusal)) => format!("无法建立集群：{refusal}"),
    };
    let hint = match error {
        Refused { .. } | Setup(_) => text(
            "give it a larger cluster (`--nodes`, `--gpus-per-node`, `--gpus`), or leave the job out of the trace",
            "请给出更大的集群（`--nodes`、`--gpus-per-node`、`--gpus`），或从记录中删去该作业",
        ),
        NoEstimate { .. } => {
            text("fill in the column, or leave `@column` out", "请填写该列，或去掉 `@column`")
        }
    };
    Failure::new(Exit::Refused, message).hint(hint)
}

pub(crate) fn unwritable(path: &Path, cause: &io::Error) -> Failure {
    let sentence = text("could not write", "无法写入");
    Failure::new(Exit::Refused, format!("{sentence} `{}`: {cause}", path.display()))
        .hint(text("choose a directory that exists and has room", "请选择存在且有空间的目录"))
}

fn chinese_trace(error: &TraceError) -> String {
    use TraceError::*;
    match error {
        Unreadable { path, cause } => format!("无法读取 `{}`：{cause}", path.display()),
        MissingColumn { path, column, found } => {
            format!("`{}` 没有 `{column}` 列；现有的列：{found}", path.display())
        }
        RepeatedColumn { path, column } => {
            format!("`{}` 有两个 `{column}` 列", path.display())
        }
        Empty { path } => format!("`{}` 中没有作业", path.display()),
        TooLarge { path } => {
            format!("`{}` 太大：最多 {MOST_JOBS} 个作业、{} MiB", path.display(), MOST_BYTES >> 20)
        }

        BadRow { path, line, problem } => {
            let path = path.display();
            match problem {
                RowProblem::BadValue { column, value, wrong } => {
                    let wrong = chinese_wrong(*wrong);
                    format!("`{path}` 第 {line} 行，`{column}` 列：`{value}` {wrong}")
                }
                RowProblem::UnequalLength { found, wanted } => {
                    format!("`{path}` 第 {line} 行有 {found} 个值，而表头有 {wanted} 列")
                }
                RowProblem::NotText => format!("`{path}` 第 {line} 行不是 UTF-8 文本"),
            }
        }
    }
}

fn chinese_wrong(wrong: Wrong) -> String {
    match wrong {
        Wrong::NotANumber => "不是数字".to_owned(),
        Wrong::NotWhole => "不是整数".to_owned(),
        Wrong::Negative => "是负数".to_owned(),
        Wrong::Zero => "小于 1".to_owned(),
        Wrong::TooLarge { most } => format!("大于 {most}"),
        Wrong::Empty => "是空的".to_owned(),
        Wrong::TooLong { most } => format!("长于 {most} 字节"),
    }
}

fn chinese_trace_hint(error: &TraceError) -> String {
    let sentence = match error {
        TraceError::MissingColumn { .. } | TraceError::RepeatedColumn { .. } => {
            "首行是列名：submit_time,num_gpus,duration，可选 job_id,vc,user,est_duration"
        }
        TraceError::Empty { .. } => "请在表头之下为每个作业写一行",
        TraceError::TooLarge { .. } => "请只回放其中一部分",
        TraceError::BadRow { problem: RowProblem::BadValue { wrong, .. }, .. } => match wrong {
            Wrong::NotANumber | Wrong::NotWhole => "时间是整数秒，GPU 是整数",
            Wrong::Negative => "时间从记录开始算起：请给每个 submit_time 加上同一个数",
            Wrong::Zero => "只回放 GPU 作业：请删去不用 GPU 的行",
            Wrong::TooLarge { .. } => "时间的单位是秒，不是毫秒",
            Wrong::Empty => "请填写，或删去整列",
            Wrong::TooLong { .. } => "请用较短的名称",
        },
        // A command to type needs no translation.
        TraceError::Unreadable { .. } | TraceError::BadRow { .. } => return error.hint(),
    };
    sentence.to_owned()
}
