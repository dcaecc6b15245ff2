//! gpuman's administrator commands. Answers are in the reader's language.

use crate::api::caller::Caller;
use crate::api::{Api, ApiError, archive, cluster, daemon, settings, users};
use danlu_core::input::GpuChange;
use danlu_core::{Input, NodeId, TaskId};
use danlu_messages::errors;
use danlu_messages::server::gpuman as msg;
use danlu_wire::api::{Archive, NewUser, Secret};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// `dump`, for all users: all | k | task i j k.
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

type CommandResult = Result<String, ApiError>;

/// One line of an administrator. Words keep their case.
pub(crate) async fn command(api: &Api, caller: &Caller, line: &str) -> CommandResult {
    caller.require_admin()?;
    Ok(msg::done(&carry_out(api, caller, line).await?))
}

async fn carry_out(api: &Api, caller: &Caller, line: &str) -> CommandResult {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["useradd", name, rest @ ..] => add_user(api, caller, name, rest).await,
        ["addusers", names @ ..] if !names.is_empty() => add_users(api, caller, names).await,
        ["userdel", names @ ..] if !names.is_empty() => {
            for name in names {
                users::delete(api, caller, name).await?;
            }
            let names = names.join(", ");
            done(msg::removed(&names))
        }
        ["suadd", names @ ..] => {
            let words = msg::now_administrators();
            set_users(api, caller, names, json!({ "admin": true }), words).await
        }
        ["sudel", names @ ..] => {
            let words = msg::no_longer_administrators();
            set_users(api, caller, names, json!({ "admin": false }), words).await
        }
        ["lockuser", names @ ..] => {
            set_users(api, caller, names, json!({ "locked": true }), msg::locked()).await
        }
        ["unlockuser", names @ ..] => {
            let words = msg::unlocked();
            set_users(api, caller, names, json!({ "locked": false }), words).await
        }
        ["stop"] => {
            set(api, caller, "queue_paused", json!(true)).await?;
            done(msg::queue_paused())
        }
        ["start"] => {
            set(api, caller, "queue_paused", json!(false)).await?;
            done(msg::queue_running())
        }
        ["force", "stop"] => {
            set(api, caller, "queue_paused", json!(true)).await?;
            let count = requeue_running(api, caller).await;
            done(msg::queue_paused_requeued(&count))
        }
        ["exit"] => {
            daemon::stop_soon(api);
            done(msg::server_stops())
        }
        ["force", "exit"] => {
            daemon::cancel_and_stop(api, caller);
            done(msg::server_cancels_and_stops())
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
            done(msg::task_is_at_position(&task, &position))
        }
        ["add", "device", gpus @ ..] => {
            let (machines, list) = devices(api, gpus)?;
            manage(api, caller, machines, GpuChange::Enable).await?;
            done(msg::gpu_enabled(&list))
        }
        ["remove", "device", gpus @ ..] => {
            let (machines, list) = devices(api, gpus)?;
            manage(api, caller, machines, GpuChange::Disable).await?;
            done(msg::gpu_disabled_running_tasks_continue(&list))
        }
        ["schedule", order] => {
            set(api, caller, "order", json!(order)).await?;
            done(msg::order_is(&order))
        }
        ["reschedule"] => nothing_to_do(msg::every_change_is_scheduled_at_once()),
        ["prompt", "None"] | ["prompt"] => announce(api, caller, "").await,
        ["prompt", ..] => {
            let said = line.trim_start().strip_prefix("prompt").unwrap_or_default().trim();
            announce(api, caller, said).await
        }
        ["set", key, value] => set_mapped(api, caller, key, value).await,
        ["save", "state"] | ["save", "iter", ..] => nothing_to_do(msg::written_before_reply()),
        ["load", "state"] => nothing_to_do(msg::uses_data_on_disk()),
        ["clear", "cache"] => nothing_to_do(msg::no_answer_is_ever_out_of_date()),
        ["lock" | "unlock", ..] => nothing_to_do(msg::no_locks()),
        _ => Err(ApiError::refused(msg::not_a_command(&line), errors::gpuman_commands())),
    }
}

fn done(what: impl Into<String>) -> CommandResult {
    Ok(what.into())
}

fn nothing_to_do(why: &str) -> CommandResult {
    done(msg::nothing_to_do(&why))
}

fn archived(count: usize) -> CommandResult {
    done(msg::tasks_archived(&count))
}

/// `useradd name [password [os_user [its password]]]`.
async fn add_user(api: &Api, caller: &Caller, name: &str, rest: &[&str]) -> CommandResult {
    let password = rest.first().map(|password| Secret((*password).to_owned()));
    let wanted = NewUser {
        name: name.to_owned(),
        os_user: rest.get(1).map(|user| (*user).to_owned()),
        one_time_password: password.is_none(),
        password,
        ..NewUser::default()
    };
    let made = users::new(api, caller, wanted).await?;
    let mut said = msg::added(&name);
    // gpuman's fourth word is the password of the OS user.
    if rest.len() > 2 {
        said += msg::os_password_not_kept();
    }
    if let Some(made) = made {
        said += &msg::one_time_password(&made.0);
    }
    done(said)
}

/// One line for each, whether it could be added or not.
async fn add_users(api: &Api, caller: &Caller, names: &[&str]) -> CommandResult {
    let mut lines = Vec::new();
    for name in names {
        let added = add_user(api, caller, name, &[]).await;
        lines.push(added.unwrap_or_else(|error| format!("{name}: {}", error.0.message)));
    }
    done(lines.join("\n"))
}

async fn set_users(
    api: &Api,
    caller: &Caller,
    names: &[&str],
    change: Value,
    words: &str,
) -> CommandResult {
    if names.is_empty() {
        return Err(ApiError::refused(msg::no_user_is_named(), msg::name_them()));
    }
    let change: users::UserEdit = serde_json::from_value(change).map_err(|error| {
        ApiError::bad_request(error.to_string(), danlu_messages::errors::report_this())
    })?;
    for name in names {
        users::set(api, caller, name, change.clone()).await?;
    }
    let names = names.join(", ");
    done(msg::users_changed(&words, &names))
}

async fn set(api: &Api, caller: &Caller, key: &str, value: Value) -> Result<(), ApiError> {
    settings::set(api, caller, key, value).await
}

async fn announce(api: &Api, caller: &Caller, words: &str) -> CommandResult {
    set(api, caller, "announcement", json!(words)).await?;
    match words {
        "" => done(msg::announcement_removed()),
        _ => done(msg::announcement_shown()),
    }
}

/// gpuman lets anything of its inside be set; here these have a meaning.
async fn set_mapped(api: &Api, caller: &Caller, key: &str, value: &str) -> CommandResult {
    let number = || serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    match key {
        "auto_dump_thres" | "auto_dump_p" => {
            let ours = if key == "auto_dump_p" { "archive.share" } else { "archive.above" };
            set(api, caller, ours, number()).await?;
            done(format!("{key} = {value}"))
        }
        "ctx.prompt" if value == "None" => announce(api, caller, "").await,
        "ctx.prompt" => announce(api, caller, value).await,
        "round_tid" => nothing_to_do(msg::task_ids_are_never_reused()),
        "ctx.enable_super_passwd" => nothing_to_do(msg::no_super_password()),
        "sleep_secs" | "save_iter" | "cache_clean_time" => nothing_to_do(msg::nothing_periodic()),
        _ => {
            let known = "auto_dump_thres, auto_dump_p, ctx.prompt, round_tid";
            Err(ApiError::not_found(msg::cannot_be_set(&key, &known), msg::own_settings()))
        }
    }
}

async fn dump(api: &Api, caller: &Caller, user: &str, first: Option<usize>) -> CommandResult {
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
            let message = match machine {
                Some(_) => error.0.message,
                None => msg::several_machines(&index),
            };
            ApiError::refused(message, msg::name_the_machine())
        })?;
        machines.entry(node).or_default().insert(number(index)?);
    }
    if machines.is_empty() {
        return Err(ApiError::refused(msg::no_gpu_is_named(), msg::example_devices()));
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
    let wrong = |_| ApiError::refused(msg::not_a_number(&word), msg::example_move());
    word.parse().map_err(wrong)
}

fn numbers(words: &[&str]) -> Result<Vec<u64>, ApiError> {
    words.iter().map(|word| number(word)).collect()
}
