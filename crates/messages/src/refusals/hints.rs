//! What to type or change after a refusal.

use danlu_core::Refusal;
use danlu_core::refusal::Counted;

pub(super) fn hint(refusal: &Refusal) -> &'static str {
    use Refusal::*;
    match refusal {
        NoSuchTask(_) => list_tasks(),
        NoSuchRun(_) | RunEnded(_) => list_runs(),
        NoSuchNode(_) | NoUnknownRuns { .. } | UnknownName { .. } => list_nodes(),
        NoSuchGpu { .. } | Impossible { .. } | TooFewNodes { .. } => list_gpus(),
        NoSuchUser => list_users(),
        BadSlots { .. } => slots(),
        ShareWithoutMemory => shared(),
        BadUtilization => idle_utilization(),
        Locked | ExtendedTooFar(_) | KeptTooLong(_) => ask_administrator(),
        Oneself => another_administrator(),
        BadUserName => user_name(),
        BadEmail => email(),
        BadLanguage => language(),
        NotPermitted => ask_owner(),
        AdminOnly => ask_administrator(),
        WrongState { .. } => show_task(),
        NotIdle(_) => list_gpus(),
        IdleOrder => idle_times(),
        NodeHeard { .. } | NodeReachable(_) => cancel(),
        MayStillRun { .. } => force(),
        StillNeeded { .. } => dependent(),
        NameTaken { .. } => another_name(),
        NameMissing => give_name(),
        NodeBusy { .. } => drain(),
        UnequalNodes { .. } => gpus_of_each(),
        GangNamesOne { .. } => by_label(),
        TooMany { what, .. } => fewer(*what),
        TooLong { .. } => shorten(),
        ControlCharacter { .. } => plain_text(),
        BadVariable { .. } => variable(),
        BadTimeLimit => time_limit(),
        NoTimeLimit(_) => unlimited(),
        PassesEverybody => priority(),
        OutOfRange { .. } => decimals(),
        OverQuota(_) => quota(),
        LogsFull { .. } => remove(),
        KeyReused => new_key(),
        Circle(_) => drop_dependency(),
        NoRoom(_) => why(),
        BadArray => array(),
        BadAxis { .. } => grid(),
        EmptyCommand => command(),
        RunsUnknown { .. } => end_unknown(),
        EpochGoesBack => restore(),
    }
}

fn fewer(what: Counted) -> &'static str {
    match what {
        Counted::Gpus => list_gpus(),
        Counted::OpenTasks => wait_for_some(),
        Counted::GpuNumbers
        | Counted::NodesOfTask
        | Counted::Nodes
        | Counted::Retries
        | Counted::NamedResources
        | Counted::SweepNames
        | Counted::Combinations
        | Counted::Labels
        | Counted::ArrayTasks
        | Counted::Dependencies
        | Counted::Users
        | Counted::Groups
        | Counted::UserQuotas
        | Counted::ProjectQuotas
        | Counted::RecentTasks
        | Counted::Exempt
        | Counted::NotifyRules => reduce(),
    }
}

messages! {
    list_tasks = "danlu ls -a lists all tasks", "用 danlu ls -a 查看所有任务";
    list_runs = "danlu show ID lists the runs of a task", "用 danlu show 编号 查看任务的运行记录";
    list_nodes = "danlu nodes lists the machines", "用 danlu nodes 查看机器";
    list_gpus = "danlu gpus lists the GPUs", "用 danlu gpus 查看 GPU";
    list_users = "danlu user list lists the users", "用 danlu user list 查看用户";
    slots = "for example danlu gpu slots 0=2", "例如 danlu gpu slots 0=2";
    shared = "for example --shared --vram 20G, with at least one GPU", "例如 --shared --vram 20G，且至少一块 GPU";
    idle_utilization = "for example --idle-util 50", "例如 --idle-util 50";
    idle_times = "set the later one first: danlu set idle.release_after 4h", "请先设置较晚的一个：danlu set idle.release_after 4h";
    ask_administrator = "ask an administrator", "请联系管理员";
    ask_owner = "ask the owner or an administrator", "请联系所有者或管理员";
    another_administrator = "ask another administrator to do it", "请由另一位管理员操作";
    user_name = "letters, digits and - _ . @ without spaces", "只能包含字母、数字和 - _ . @，不含空格";
    email = "for example ann@lab.example", "例如 ann@lab.example";
    language = "en or zh", "en 或 zh";
    show_task = "danlu show ID shows the state of a task", "用 danlu show 编号 查看任务状态";
    cancel = "danlu cancel ID cancels a task", "用 danlu cancel 编号 取消任务";
    force =
        "--force marks them as failed anyway; if they still run, their retries may write to the same files",
        "--force 仍将其标记为失败；若它们仍在运行，重试时可能写入同一文件";
    dependent = "cancel or release the waiting task first", "请先取消或放行等待的任务";
    another_name = "choose another name", "请换一个名称";
    give_name = "give a name", "请填写名称";
    drain = "drain it first: danlu node drain NAME", "请先排空：danlu node drain 名称";
    gpus_of_each = "--gpus counts per machine: --nodes 2 --gpus 4 is 8 in total", "--gpus 是每台机器的数量：--nodes 2 --gpus 4 共 8 块";
    by_label = "choose machines by label: --node KEY=VALUE", "请用标签选择机器：--node 键=值";
    wait_for_some = "wait until some have ended", "请等待部分任务结束";
    reduce = "reduce the number", "请减少数量";
    shorten = "shorten it", "请缩短";
    plain_text = "use one line of plain text", "请使用一行普通文本";
    variable = "names are not empty and contain no `=`: --env NAME=VALUE", "名称不能为空，也不能含 `=`：--env 名称=值";
    time_limit = "for example -t 90m, -t 2h, -t 1-12:00:00", "例如 -t 90m、-t 2h、-t 1-12:00:00";
    unlimited = "it runs until it ends by itself", "它会一直运行到自行结束";
    priority = "use a priority of 5 or above, or ask an administrator", "请使用不低于 5 的优先级，或联系管理员";
    decimals = "at most three decimal places, for example 0.5", "最多三位小数，例如 0.5";
    quota = "wait until some tasks have ended, ask for less, or ask an administrator", "请等待部分任务结束、减少请求，或联系管理员";
    remove = "remove finished tasks and their logs: danlu rm ID", "请删除已结束的任务及其日志：danlu rm 编号";
    new_key = "use a new key for a new task", "新任务请用新的键";
    drop_dependency = "remove that dependency", "请去掉这个依赖";
    why = "danlu why ID shows what it waits for", "用 danlu why 编号 查看等待原因";
    array = "for example --array 0-99%4", "例如 --array 0-99%4";
    grid = "for example --grid lr=1e-3,1e-4 --grid seed=0..4", "例如 --grid lr=1e-3,1e-4 --grid seed=0..4";
    command = "danlu submit -- COMMAND", "danlu submit -- 命令";
    end_unknown =
        "wait for it to end, or ask an administrator to end it: danlu node end-unknown NAME",
        "请等待其结束，或由管理员结束：danlu node end-unknown 名称";
    restore = "restore the database with danlu restore", "请用 danlu restore 恢复数据库";
}
