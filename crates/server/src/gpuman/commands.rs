//! gpuman's commands for administrators, each with an answer that says what happened.

use crate::api::caller::Caller;
use crate::api::{Api, ApiError, archive, cluster, daemon, settings, users};
use danlu_core::input::GpuChange;
use danlu_core::{Input, TaskId};
use danlu_messages::errors;
use danlu_wire::api::{Archive, NewUser, Secret};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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

/// One line of an administrator. Words keep their case.
pub(crate) async fn command(api: &Api, caller: &Caller, line: &str) -> Result<String, ApiError> {
    caller.require_admin()?;
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["useradd", name, rest @ ..] => add_user(api, caller, name, rest).await,
        ["addusers", names @ ..] if !names.is_empty() => add_users(api, caller, names).await,
        ["userdel", names @ ..] if !names.is_empty() => {
            for name in names {
                users::delete(api, caller, name).await?;
            }
            done(format!("removed {}", names.join(", ")))
        }
        ["suadd", names @ ..] => set_users(api, caller, names, json!({ "admin": true })).await,
        ["sudel", names @ ..] => set_users(api, caller, names, json!({ "admin": false })).await,
        ["lockuser", names @ ..] => set_users(api, caller, names, json!({ "locked": true })).await,
        ["unlockuser", names @ ..] => {
            set_users(api, caller, names, json!({ "locked": false })).await
        }
        ["stop"] => set(api, caller, "queue_paused", json!(true)).await,
        ["start"] => set(api, caller, "queue_paused", json!(false)).await,
        ["force", "stop"] => {
            set(api, caller, "queue_paused", json!(true)).await?;
            let count = requeue_running(api, caller).await;
            done(format!("the queue is paused; {count} running tasks go back into it"))
        }
        ["exit"] => {
            daemon::stop_soon(api);
            done("the server stops; running tasks go on")
        }
        ["force", "exit"] => {
            daemon::cancel_and_stop(api, caller);
            done("the server cancels what runs and stops")
        }
        ["dump", "all"] => dump(api, caller, "*", None).await,
        ["dump", count] => dump(api, caller, "*", Some(number(count)?)).await,
        ["dumpuser", user, "all"] => dump(api, caller, user, None).await,
        ["dumpuser", user, count] => dump(api, caller, user, Some(number(count)?)).await,
        ["dumptask", ids @ ..] if !ids.is_empty() => {
            let wanted = Archive { ids: numbers(ids)?, ..Archive::default() };
            done(format!("archived {}", archive::run(api, caller, &wanted).await?))
        }
        ["move", task, position] => {
            let (task, position) = (TaskId(number(task)?), number(position)?);
            caller.ask(api, Input::Move { by: caller.actor(), task, position }).await?;
            done(format!("task {task} is at place {position}"))
        }
        ["add", "device", ids @ ..] => manage(api, caller, GpuChange::Enable(ids_of(ids)?)).await,
        ["remove", "device", ids @ ..] => {
            manage(api, caller, GpuChange::Disable(ids_of(ids)?)).await
        }
        ["schedule", order] => set(api, caller, "order", json!(order)).await,
        ["reschedule"] => done("nothing to do: every change is looked at at once"),
        ["prompt", "None"] | ["prompt"] => set(api, caller, "announcement", json!("")).await,
        ["prompt", ..] => {
            let said = line.trim_start().strip_prefix("prompt").unwrap_or_default().trim();
            set(api, caller, "announcement", json!(said)).await
        }
        ["set", key, value] => set_mapped(api, caller, key, value).await,
        ["save", "state"] | ["save", "iter", ..] => {
            done("nothing to do: everything is on disk before it is answered")
        }
        ["load", "state"] => done("nothing to do: what is on disk is what the server works with"),
        ["clear", "cache"] => done("nothing to do: answers are never older than the last change"),
        ["lock" | "unlock", ..] => done("nothing to do: there are no locks that could be left"),
        _ => Err(ApiError::refused(
            errors::line_is_not_a_command(&line),
            errors::useradd_addusers_userdel_suadd_sudel_lockuser(),
        )),
    }
}

fn done(what: impl std::fmt::Display) -> Result<String, ApiError> {
    Ok(format!("完成: {what}"))
}

/// `useradd name [password [os_user [its password]]]`.
async fn add_user(
    api: &Api,
    caller: &Caller,
    name: &str,
    rest: &[&str],
) -> Result<String, ApiError> {
    let password = rest.first().map(|password| Secret((*password).to_owned()));
    let wanted = NewUser {
        name: name.to_owned(),
        os_user: rest.get(1).map(|user| (*user).to_owned()),
        one_time_password: password.is_none(),
        password,
        ..NewUser::default()
    };
    let made = users::new(api, caller, wanted).await?;
    let made = made.map_or(String::new(), |made| format!(", one-time password {}", made.0));
    let note = match rest.len() {
        0..=2 => "",
        _ => "; the password of the OS user is not needed and was not kept",
    };
    done(format!("added {name}{made}{note}"))
}

async fn add_users(api: &Api, caller: &Caller, names: &[&str]) -> Result<String, ApiError> {
    let mut answers = Vec::new();
    for name in names {
        let added = add_user(api, caller, name, &[]).await;
        answers.push(added.unwrap_or_else(|error| format!("{name}: {}", error.0.message)));
    }
    Ok(answers.join("\n"))
}

async fn set_users(
    api: &Api,
    caller: &Caller,
    names: &[&str],
    change: Value,
) -> Result<String, ApiError> {
    if names.is_empty() {
        return Err(ApiError::refused(
            errors::which_users(),
            errors::name_them_after_the_command(),
        ));
    }
    let change: users::Change = serde_json::from_value(change)
        .map_err(|error| ApiError::bad_request(error.to_string(), errors::report_this()))?;
    for name in names {
        users::set(api, caller, name, change.clone()).await?;
    }
    done(names.join(", "))
}

async fn set(api: &Api, caller: &Caller, key: &str, value: Value) -> Result<String, ApiError> {
    let said = format!("{key} = {value}");
    settings::set(api, caller, key, value).await?;
    done(said)
}

/// gpuman lets anything of its inside be set; here these have a meaning.
async fn set_mapped(
    api: &Api,
    caller: &Caller,
    key: &str,
    value: &str,
) -> Result<String, ApiError> {
    let number = || serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    match key {
        "auto_dump_thres" => set(api, caller, "archive.above", number()).await,
        "auto_dump_p" => set(api, caller, "archive.share", number()).await,
        "ctx.prompt" if value == "None" => set(api, caller, "announcement", json!("")).await,
        "ctx.prompt" => set(api, caller, "announcement", json!(value)).await,
        "ctx.enable_super_passwd" => done("nothing to do: there is no super password"),
        "sleep_secs" | "save_iter" | "cache_clean_time" => {
            done("nothing to do: nothing is polled, saved or cleaned by the clock")
        }
        _ => Err(ApiError::not_found(
            errors::key_cannot_be_set(&key),
            errors::auto_dump_thres_auto_dump_p_ctx_prompt_danlu(),
        )),
    }
}

async fn dump(
    api: &Api,
    caller: &Caller,
    user: &str,
    first: Option<usize>,
) -> Result<String, ApiError> {
    let wanted = Archive { user: Some(user.to_owned()), first, ..Archive::default() };
    done(format!("archived {}", archive::run(api, caller, &wanted).await?))
}

async fn manage(api: &Api, caller: &Caller, change: GpuChange) -> Result<String, ApiError> {
    let node = cluster::chosen(api, None)?;
    caller.ask(api, Input::ManageGpus { by: caller.actor(), node, change }).await?;
    done("danlu gpus shows them")
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
    let wrong =
        |_| ApiError::refused(errors::word_is_not_a_number(&word), errors::as_in_move_12_0());
    word.parse().map_err(wrong)
}

fn numbers(words: &[&str]) -> Result<Vec<u64>, ApiError> {
    words.iter().map(|word| number(word)).collect()
}

fn ids_of(words: &[&str]) -> Result<BTreeSet<u32>, ApiError> {
    words.iter().map(|word| number(word)).collect()
}
