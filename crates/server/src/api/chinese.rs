//! Refusals of the core in Chinese.

use danlu_core::Refusal;
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::refusal::in_bytes;

/// What is wrong, and what to do about it.
pub(super) type Words = (String, &'static str);

pub(super) fn refusal(refusal: &Refusal) -> Words {
    use Refusal::*;
    let words = match refusal {
        NoSuchTask(id) => format!("没有任务 {id}"),
        NoSuchRun(id) => format!("没有运行 {id}"),
        NoSuchNode(id) => format!("没有机器 {id}"),
        NoSuchGpu { index } => format!("该机器上没有 GPU {index}"),
        BadSlots { most } => format!("每块 GPU 的槽位数为 1 到 {most}"),
        ShareWithoutMemory => "共享 GPU 的任务必须说明所需显存".to_owned(),
        BadUtilization => "GPU 空闲比例为 0 到 100".to_owned(),
        NoSuchUser => "没有该用户".to_owned(),
        Locked => "该账号已锁定".to_owned(),
        Oneself => "管理员不能锁定、删除或降级自己".to_owned(),
        BadText { what } => format!("{}不能是这个值", noun(what)),
        NotPermitted => "需要任务所有者或管理员权限".to_owned(),
        AdminOnly => "需要管理员权限".to_owned(),
        WrongState { task, .. } => format!("任务 {task} 的当前状态不允许该操作"),
        RunEnded(id) => format!("运行 {id} 已结束"),
        NodeReachable(id) => format!("运行 {id} 所在机器可以连接：请改为取消任务"),
        NodeHeard { name } => format!("{name} 可以连接，其上没有失联的任务"),
        MayStillRun { name, away } => {
            format!("{name} 已离线 {}：其上的任务可能仍在运行", away.in_words())
        }
        StillNeeded { task, by } => format!("任务 {by} 仍在等待任务 {task}"),
        NameTaken { name } => format!("{name} 已被使用"),
        NameMissing => "缺少名称".to_owned(),
        NodeBusy { runs, .. } => format!("该机器上仍有 {runs} 个运行中的任务"),
        UnknownName { name, .. } => format!("未知名称 {name}"),
        Impossible { wanted, most, .. } => {
            format!("没有机器能运行它：需要 {wanted}，现有最多 {most}")
        }
        TooFewNodes { asked, each: 0, nodes, .. } => {
            format!("永远无法运行：需要 {asked} 台机器，符合要求的有 {nodes} 台")
        }
        TooFewNodes { asked, each, nodes, .. } => {
            format!(
                "永远无法运行：需要 {asked} 台各有 {each} 块 GPU 的机器，符合要求的有 {nodes} 台"
            )
        }
        UnequalNodes { nodes, gpus } => format!("{gpus} 块 GPU 不能平均分到 {nodes} 台机器"),
        GangNamesOne { nodes } => {
            format!("在 {nodes} 台机器上运行的任务不能指定单台机器或 GPU 编号")
        }
        TooMany { what, limit } => format!("{}过多：最多 {limit}", noun(what)),
        TooLong { what, limit } => format!("{}过长：最多 {limit} 字节", noun(what)),
        ControlCharacter { what } => format!("{}含有控制字符", noun(what)),
        BadVariable { name } => format!("变量名不能是 `{name}`"),
        BadTimeLimit => "时限须大于零且不超过十年".to_owned(),
        NoTimeLimit(id) => format!("任务 {id} 没有时限"),
        ExtendedTooFar(span) => format!("所有者总共最多可延长 {}", span.in_words()),
        PassesEverybody => "低于 5 的优先级或加急会越过所有人：需要管理员权限".to_owned(),
        OutOfRange { what, least, most } => format!("{}须在 {least} 到 {most} 之间", noun(what)),
        OverQuota(excess) => over_quota(excess),
        LogsFull { user, kept, most } => {
            format!("用户 {user} 的任务日志已占用 {}，上限为 {}", in_bytes(*kept), in_bytes(*most))
        }
        KeyReused => "该键已用于另一个任务".to_owned(),
        Circle(id) => format!("任务不能循环等待：{id} 会等待自己"),
        NoRoom(id) => format!("任务 {id} 现在没有空位"),
        BadArray => "数组须整体提交或修改，至少一个序号且不重复".to_owned(),
        BadAxis { name, .. } => format!("`{name}` 不能作为扫描参数"),
        EmptyCommand => "命令为空".to_owned(),
        RunsUnknown { task, run, node } => {
            format!("任务 {task} 的运行 {run} 在数据库丢失或恢复前启动，仍在机器 {node} 上运行")
        }
        NoUnknownRuns { name } => format!("机器 {name} 上没有未知的运行"),
        EpochGoesBack => "存储的纪元不能倒退".to_owned(),
    };
    (words, next(refusal))
}

fn next(refusal: &Refusal) -> &'static str {
    use Refusal::*;
    match refusal {
        NoSuchTask(_) => "用 danlu ls -a 查看任务",
        NoSuchRun(_) | RunEnded(_) => "用 danlu show 编号 查看任务的运行记录",
        NoSuchNode(_) | UnknownName { .. } | NoUnknownRuns { .. } => "用 danlu nodes 查看机器",
        NoSuchGpu { .. } => "用 danlu gpus 查看 GPU 及其编号",
        BadSlots { .. } => "例如 danlu gpu slots 0=2",
        ShareWithoutMemory => "例如 --shared --vram 20G，且至少一块 GPU",
        BadUtilization => "例如 --idle-util 50",
        NoSuchUser => "用 danlu user list 查看用户",
        Locked | NotPermitted | AdminOnly | ExtendedTooFar(_) => "请联系管理员",
        Oneself => "可由另一位管理员操作",
        BadText { what: "language" } => "en 或 zh",
        BadText { what: "email" } => "例如 ann@lab.example",
        BadText { what: "name" } => "只用字母、数字和 - _ . @，不含空格",
        BadText { .. } => "请修改后重试",
        WrongState { .. } => "用 danlu show 编号 查看任务状态",
        NodeHeard { .. } => "可取消其上的任务：danlu cancel 编号",
        MayStillRun { .. } => "--force 仍将其判为失败：若它还在写文件，将会重复写入",
        NodeReachable(_) => "可取消该任务：danlu cancel 编号",
        StillNeeded { .. } => "请先取消或放行等待的任务",
        NameTaken { .. } | NameMissing => "请换一个名称",
        NodeBusy { .. } => "请先排空：danlu node drain 名称",
        Impossible { .. } | TooFewNodes { .. } | TooMany { what: "GPUs", .. } => {
            "用 danlu gpus 查看现有资源"
        }
        UnequalNodes { .. } => "--gpus 是每台机器的数量：--nodes 2 --gpus 4 共 8 块",
        GangNamesOne { .. } => "请用标签选择机器：--node 键=值",
        TooMany { what: "open tasks", .. } => "请等待部分任务结束",
        TooMany { .. } => "请减少数量",
        TooLong { .. } => "请缩短",
        ControlCharacter { .. } => "请去掉控制字符，只用一行普通文本",
        BadVariable { .. } => "名称不能为空，也不能含 `=`：--env 名称=值",
        BadTimeLimit => "例如 -t 90m、-t 2h、-t 1-12:00:00",
        NoTimeLimit(_) => "它会一直运行到自行结束",
        PassesEverybody => "请使用不低于 5 的优先级，或联系管理员",
        OutOfRange { .. } => "最多三位小数，例如 0.5",
        OverQuota(_) => "请等待部分任务结束、减少请求，或联系管理员",
        LogsFull { .. } => "请删除已结束的任务及其日志：danlu rm 编号",
        KeyReused => "新任务请用新的键",
        Circle(_) => "请去掉这个依赖",
        NoRoom(_) => "用 danlu why 编号 查看 GPU 被谁占用",
        BadArray => "例如 --array 0-99%4",
        BadAxis { .. } => "例如 --grid lr=1e-3,1e-4 --grid seed=0..4",
        EmptyCommand => "danlu submit -- 命令",
        RunsUnknown { .. } => "请等待其结束，或由管理员结束：danlu node end-unknown 机器",
        EpochGoesBack => "请用 danlu restore 恢复",
    }
}

/// Others keep their names: they are the words of settings and options.
fn noun(what: &str) -> &str {
    match what {
        "GPUs" => "GPU ",
        "bytes in a name" => "名称字节数",
        "combinations" => "组合",
        "description" => "说明",
        "email" => "邮箱",
        "environment's name" => "环境名称",
        "labels" => "标签",
        "language" => "语言",
        "name" => "名称",
        "nodes" => "机器",
        "open tasks" => "未结束的任务",
        "template" => "模板",
        "users" => "用户",
        "command" => "命令",
        "priority" => "优先级",
        "weight" => "权重",
        other => other,
    }
}

fn over_quota(Excess { whose, limit, in_use, most }: &Excess) -> String {
    let whose = match whose {
        Party::User(name) => format!("用户 {name}"),
        Party::Project(name) => format!("项目 {name}"),
    };
    let what = match limit {
        Limit::RunningTasks => "个运行任务",
        Limit::RunningGpus => "块 GPU",
        Limit::QueuedTasks => "个等待任务",
        Limit::OpenTasks => "个未结束的任务",
        Limit::GpuHours => "GPU 小时",
    };
    format!("超出配额：{whose} 已用 {in_use}/{most} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::TaskId;

    #[test]
    fn refusals_are_told_in_chinese_with_what_they_are_about() {
        let told = |it: Refusal| refusal(&it).0;
        assert_eq!(told(Refusal::NoSuchTask(TaskId(12))), "没有任务 12");
        assert_eq!(told(Refusal::TooMany { what: "labels", limit: 9 }), "标签过多：最多 9");
        let excess = Excess {
            whose: Party::User("ann".into()),
            limit: Limit::RunningGpus,
            in_use: 4,
            most: 4,
        };
        assert_eq!(told(Refusal::OverQuota(excess)), "超出配额：用户 ann 已用 4/4 块 GPU");
        let full = Refusal::LogsFull { user: "ann".to_owned(), kept: 3 << 29, most: 1 << 30 };
        assert_eq!(told(full), "用户 ann 的任务日志已占用 1.5 GiB，上限为 1.0 GiB");
    }
}
