//! gpuman's commands for administrators. Each answer says what was done, in the reader's language.

use super::in_chinese;
use crate::api::caller::Caller;
use crate::api::{Api, ApiError, archive, cluster, daemon, settings, users};
use crate::language::Language;
use danlu_core::input::GpuChange;
use danlu_core::{Input, NodeId, TaskId};
use danlu_wire::api::{Archive, NewUser, Secret};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// `dump`, for everybody: all | k | task i j k.
pub(super) async fn dump_own(api: &Api, caller: &Caller, line: &str) -> Result<Value, ApiError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let wanted = match words.as_slice() {
        ["all"] => Archive::default(),
        ["task", ids @ ..] => Archive { ids: numbers(ids)?, ..Archive::default() },
        [count] if count.parse::<usize>().is_ok() => {
            Archive { first: count.parse().ok(), ..Archive::default() }
        }
        _ => return Ok(json!({ "ret": "失败,只接受all或整数,或task taskID(s)" })),
    };
    archive::run(api, caller, &wanted).await?;
    Ok(json!({ "ret": "完成" }))
}

/// What was done, in both languages.
struct Done {
    english: String,
    chinese: String,
}

type Answer = Result<Done, ApiError>;

/// One line of an administrator. Words keep their case.
pub(crate) async fn command(
    api: &Api,
    caller: &Caller,
    line: &str,
    language: Language,
) -> Result<String, ApiError> {
    caller.require_admin()?;
    let Done { english, chinese } = carry_out(api, caller, line).await?;
    Ok(match language {
        Language::English => format!("done: {english}"),
        Language::Chinese => format!("完成: {chinese}"),
    })
}

async fn carry_out(api: &Api, caller: &Caller, line: &str) -> Answer {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["useradd", name, rest @ ..] => add_user(api, caller, name, rest).await,
        ["addusers", names @ ..] if !names.is_empty() => add_users(api, caller, names).await,
        ["userdel", names @ ..] if !names.is_empty() => {
            for name in names {
                users::delete(api, caller, name).await?;
            }
            let names = names.join(", ");
            done(format!("removed {names}"), format!("已删除 {names}"))
        }
        ["suadd", names @ ..] => {
            let words = ("now administrators", "已设为管理员");
            set_users(api, caller, names, json!({ "admin": true }), words).await
        }
        ["sudel", names @ ..] => {
            let words = ("no longer administrators", "已取消管理员权限");
            set_users(api, caller, names, json!({ "admin": false }), words).await
        }
        ["lockuser", names @ ..] => {
            set_users(api, caller, names, json!({ "locked": true }), ("locked", "已锁定")).await
        }
        ["unlockuser", names @ ..] => {
            let words = ("unlocked", "已解锁");
            set_users(api, caller, names, json!({ "locked": false }), words).await
        }
        ["stop"] => {
            set(api, caller, "queue_paused", json!(true)).await?;
            done("the queue is paused; running tasks continue", "队列已暂停,运行中的任务继续")
        }
        ["start"] => {
            set(api, caller, "queue_paused", json!(false)).await?;
            done("the queue is running", "队列已恢复")
        }
        ["force", "stop"] => {
            set(api, caller, "queue_paused", json!(true)).await?;
            let count = requeue_running(api, caller).await;
            done(
                format!("the queue is paused; {count} running tasks were put back into it"),
                format!("队列已暂停,{count} 个运行中的任务已放回队列"),
            )
        }
        ["exit"] => {
            daemon::stop_soon(api);
            done("the server stops; running tasks continue", "服务器即将停止,运行中的任务继续")
        }
        ["force", "exit"] => {
            daemon::cancel_and_stop(api, caller);
            done(
                "the server cancels all running tasks and stops",
                "服务器将取消所有运行中的任务并停止",
            )
        }
        ["dump", "all"] => dump(api, caller, "*", None).await,
        ["dump", count] => dump(api, caller, "*", Some(number(count)?)).await,
        ["dumpuser", user, "all"] => dump(api, caller, user, None).await,
        ["dumpuser", user, count] => dump(api, caller, user, Some(number(count)?)).await,
        ["dumptask", ids @ ..] if !ids.is_empty() => {
            let wanted = Archive { ids: numbers(ids)?, ..Archive::default() };
            archived(archive::run(api, caller, &wanted).await?)
        }
        ["move", task, position] => {
            let (task, position) = (TaskId(number(task)?), number(position)?);
            caller.ask(api, Input::Move { by: caller.actor(), task, position }).await?;
            done(
                format!("task {task} is at position {position}"),
                format!("任务 {task} 已移到位置 {position}"),
            )
        }
        ["add", "device", gpus @ ..] => {
            let (machines, list) = devices(api, gpus)?;
            manage(api, caller, machines, GpuChange::Enable).await?;
            done(format!("GPU {list} enabled"), format!("GPU {list} 已启用"))
        }
        ["remove", "device", gpus @ ..] => {
            let (machines, list) = devices(api, gpus)?;
            manage(api, caller, machines, GpuChange::Disable).await?;
            done(
                format!("GPU {list} disabled; running tasks continue"),
                format!("GPU {list} 已停用,其上运行的任务继续"),
            )
        }
        ["schedule", order] => {
            set(api, caller, "order", json!(order)).await?;
            done(format!("the order is {order}"), format!("调度方式已设为 {order}"))
        }
        ["reschedule"] => {
            nothing_to_do("every change is scheduled at once", "每次变化都会立即重新调度")
        }
        ["prompt", "None"] | ["prompt"] => announce(api, caller, "").await,
        ["prompt", ..] => {
            let said = line.trim_start().strip_prefix("prompt").unwrap_or_default().trim();
            announce(api, caller, said).await
        }
        ["set", key, value] => set_mapped(api, caller, key, value).await,
        ["save", "state"] | ["save", "iter", ..] => nothing_to_do(
            "every change is on disk before it is answered",
            "每次变化都在答复之前写入磁盘",
        ),
        ["load", "state"] => {
            nothing_to_do("the server works on what is on disk", "服务器始终使用磁盘上的数据")
        }
        ["clear", "cache"] => {
            nothing_to_do("no answer is ever out of date", "答复从不使用过期的数据")
        }
        ["lock" | "unlock", ..] => nothing_to_do("there are no locks", "没有需要处理的锁"),
        _ => Err(ApiError::refused(format!("`{line}` is not a command"), COMMANDS)
            .or_chinese(format!("没有命令 `{line}`"), COMMANDS)),
    }
}

const COMMANDS: &str = "useradd, addusers, userdel, suadd, sudel, lockuser, unlockuser, stop, force stop, start, exit, force exit, \
     dump, dumpuser, dumptask, move, add device, remove device, set, schedule, prompt";

fn done(english: impl Into<String>, chinese: impl Into<String>) -> Answer {
    Ok(Done { english: english.into(), chinese: chinese.into() })
}

fn nothing_to_do(english: &str, chinese: &str) -> Answer {
    done(format!("nothing to do: {english}"), format!("无需处理: {chinese}"))
}

fn archived(count: usize) -> Answer {
    done(format!("{count} tasks archived"), format!("已归档 {count} 个任务"))
}

/// `useradd name [password [os_user [its password]]]`.
async fn add_user(api: &Api, caller: &Caller, name: &str, rest: &[&str]) -> Answer {
    let password = rest.first().map(|password| Secret((*password).to_owned()));
    let wanted = NewUser {
        name: name.to_owned(),
        os_user: rest.get(1).map(|user| (*user).to_owned()),
        one_time_password: password.is_none(),
        password,
        ..NewUser::default()
    };
    let made = users::new(api, caller, wanted).await?;
    let (mut english, mut chinese) = (format!("added {name}"), format!("已添加 {name}"));
    // gpuman's fourth word is the password of the OS user.
    if rest.len() > 2 {
        english += "; the password of the OS user is not needed and was not kept";
        chinese += ",系统用户的密码无需提供,未保存";
    }
    if let Some(made) = made {
        english += &format!(", one-time password {}", made.0);
        chinese += &format!(",一次性密码 {}", made.0);
    }
    done(english, chinese)
}

/// One line for each, whether it could be added or not.
async fn add_users(api: &Api, caller: &Caller, names: &[&str]) -> Answer {
    let (mut english, mut chinese) = (Vec::new(), Vec::new());
    for name in names {
        match add_user(api, caller, name, &[]).await {
            Ok(done) => {
                english.push(done.english);
                chinese.push(done.chinese);
            }
            Err(error) => {
                english.push(format!("{name}: {}", error.0.message));
                chinese.push(format!("{name}: {}", in_chinese(&error)));
            }
        }
    }
    done(english.join("\n"), chinese.join("\n"))
}

async fn set_users(
    api: &Api,
    caller: &Caller,
    names: &[&str],
    change: Value,
    (english, chinese): (&str, &str),
) -> Answer {
    if names.is_empty() {
        return Err(ApiError::refused("no user is named", "name them after the command")
            .or_chinese("没有指定用户", "请在命令后写用户名"));
    }
    let change: users::Change = serde_json::from_value(change)
        .map_err(|error| ApiError::bad_request(error.to_string(), "report this"))?;
    for name in names {
        users::set(api, caller, name, change.clone()).await?;
    }
    let names = names.join(", ");
    done(format!("{english}: {names}"), format!("{chinese} {names}"))
}

async fn set(api: &Api, caller: &Caller, key: &str, value: Value) -> Result<(), ApiError> {
    let said = value.to_string();
    let refused = |error: ApiError| match error.in_chinese() {
        Some(_) => error,
        None => error.or_chinese(format!("`{key}` 不能设为 `{said}`"), "danlu set 列出可用的值"),
    };
    settings::set(api, caller, key, value).await.map_err(refused)
}

async fn announce(api: &Api, caller: &Caller, words: &str) -> Answer {
    set(api, caller, "announcement", json!(words)).await?;
    match words {
        "" => done("the announcement is removed", "公告已清除"),
        _ => done("the announcement is shown to everybody", "公告已发布"),
    }
}

/// gpuman lets anything of its inside be set; here these have a meaning.
async fn set_mapped(api: &Api, caller: &Caller, key: &str, value: &str) -> Answer {
    let number = || serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    match key {
        "auto_dump_thres" | "auto_dump_p" => {
            let ours = if key == "auto_dump_p" { "archive.share" } else { "archive.above" };
            set(api, caller, ours, number()).await?;
            done(format!("{key} = {value}"), format!("{key} = {value}"))
        }
        "ctx.prompt" if value == "None" => announce(api, caller, "").await,
        "ctx.prompt" => announce(api, caller, value).await,
        "round_tid" => nothing_to_do("task ids are never reused", "任务编号从不重复使用"),
        "ctx.enable_super_passwd" => nothing_to_do("there is no super password", "没有超级密码"),
        "sleep_secs" | "save_iter" | "cache_clean_time" => nothing_to_do(
            "nothing is polled, saved or cleaned up periodically",
            "没有定时轮询、保存或清理",
        ),
        _ => {
            let known = "auto_dump_thres, auto_dump_p, ctx.prompt, round_tid";
            Err(ApiError::not_found(
                format!("`{key}` cannot be set"),
                "auto_dump_thres, auto_dump_p, ctx.prompt; danlu set lists Danlu's own settings",
            )
            .or_chinese(format!("没有设置项 `{key}`,可用: {known}"), "danlu set 列出丹炉的设置"))
        }
    }
}

async fn dump(api: &Api, caller: &Caller, user: &str, first: Option<usize>) -> Answer {
    let wanted = Archive { user: Some(user.to_owned()), first, ..Archive::default() };
    archived(archive::run(api, caller, &wanted).await?)
}

type Machines = BTreeMap<NodeId, BTreeSet<u32>>;

/// `3`, where there is one machine, or `gpu7:3`; and the list of them for people.
fn devices(api: &Api, words: &[&str]) -> Result<(Machines, String), ApiError> {
    let mut machines = Machines::new();
    for word in words {
        let (machine, index) = match word.rsplit_once(':') {
            Some((machine, index)) => (Some(machine), index),
            None => (None, *word),
        };
        let node = cluster::chosen(api, machine).map_err(|error| {
            let chinese = match machine {
                Some(machine) => format!("没有机器 {machine}"),
                None => format!("有多台机器,请写 机器:编号,例如 gpu7:{index}"),
            };
            ApiError::refused(error.0.message, "name the machine: add device gpu7:3")
                .or_chinese(chinese, "例如 add device gpu7:3")
        })?;
        machines.entry(node).or_default().insert(number(index)?);
    }
    if machines.is_empty() {
        return Err(ApiError::refused("no GPU is named", "add device 3, or add device gpu7:3")
            .or_chinese("没有指定 GPU", "例如 add device 3 或 add device gpu7:3"));
    }
    Ok((machines, words.join(", ")))
}

async fn manage(
    api: &Api,
    caller: &Caller,
    machines: Machines,
    change: fn(BTreeSet<u32>) -> GpuChange,
) -> Result<(), ApiError> {
    for (node, gpus) in machines {
        let change = change(gpus);
        caller.ask(api, Input::ManageGpus { by: caller.actor(), node, change }).await?;
    }
    Ok(())
}

async fn requeue_running(api: &Api, caller: &Caller) -> usize {
    let running: Vec<TaskId> = api.handle.model().active_runs().map(|run| run.task).collect();
    let by = caller.actor();
    let asked: Vec<_> =
        running.iter().map(|task| caller.begin(api, Input::Requeue { by, task: *task })).collect();
    let mut count = 0;
    for answer in asked {
        count += usize::from(answer.wait().await.is_ok());
    }
    count
}

fn number<T: FromStr>(word: &str) -> Result<T, ApiError> {
    let wrong = |_| {
        ApiError::refused(format!("`{word}` is not a number"), "as in move 12 0")
            .or_chinese(format!("`{word}` 不是数字"), "例如 move 12 0")
    };
    word.parse().map_err(wrong)
}

fn numbers(words: &[&str]) -> Result<Vec<u64>, ApiError> {
    words.iter().map(|word| number(word)).collect()
}
