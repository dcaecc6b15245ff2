//! Who I am on each machine, and my own way in by SSH.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::logins::{BadKey, LoginError};
use crate::nodes::NoKeys;
use axum::extract::{Path, State};
use danlu_core::Refusal;
use danlu_wire::api::{Document, ErrorCode, MyNode, MyNodes, NewSshLogin};

pub(super) async fn list(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<MyNodes>>, ApiError> {
    Ok(Json(Document::new(MyNodes { nodes: all(&api, &caller)? })))
}

pub(crate) fn all(api: &Api, caller: &Caller) -> Result<Vec<MyNode>, ApiError> {
    let model = api.handle.model();
    let me = model.users.get(&caller.id).ok_or(Refusal::NoSuchUser)?;
    let logins = api.logins.of(caller.id);
    let on = |name: &String| {
        let login = logins.iter().find(|login| login.node == *name);
        let os_user = login.and_then(|login| login.os_user.clone());
        let ssh = login.and_then(|login| login.ssh.clone());
        MyNode {
            node: name.clone(),
            os_user: os_user.unwrap_or_else(|| me.os_name().to_owned()),
            takes_keys: api.nodes.takes_keys(name).is_ok(),
            ssh_user: ssh.as_ref().map(|ssh| ssh.user.clone()),
            problem: ssh.as_ref().and_then(|_| api.nodes.own_problem(name, caller.id)),
            key: ssh.map(|ssh| format!("{} {}", ssh.key.kind, ssh.key.fingerprint)),
        }
    };
    Ok(model.nodes.values().map(|node| on(&node.name)).collect())
}

pub(super) async fn set(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<NewSshLogin>, ApiError>,
) -> Result<Json<Document<MyNodes>>, ApiError> {
    let Json(wanted) = body?;
    change(&api, &caller, &name, &wanted).await?;
    list(State(api), caller).await
}

pub(crate) async fn change(
    api: &Api,
    caller: &Caller,
    name: &str,
    wanted: &NewSshLogin,
) -> Result<(), ApiError> {
    check_node(api, name)?;
    let door = api.nodes.takes_keys(name).map_err(|no| no_keys(no, name))?;
    let before = api.logins.of(caller.id).into_iter().find(|login| login.node == name);
    let before = before.and_then(|login| login.ssh).map(|ssh| ssh.user);
    if before.is_some_and(|before| before != wanted.ssh_user) {
        check_idle(api, caller, name)?;
    }
    let (key, by) = (wanted.key.as_ref(), caller.asker());
    let who = (name, wanted.ssh_user.as_str());
    api.logins.set_ssh(&api.handle, caller.id, who, &door, key, &by).await?;
    api.nodes.take_over_key(name, caller.id);
    Ok(())
}

pub(super) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Document<MyNodes>>, ApiError> {
    forget(&api, &caller, &name).await?;
    list(State(api), caller).await
}

pub(crate) async fn forget(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    check_idle(api, caller, name)?;
    api.logins.remove_ssh(&api.handle, caller.id, name, &caller.asker()).await?;
    api.nodes.take_over_key(name, caller.id);
    Ok(())
}

pub(super) fn check_node(api: &Api, name: &str) -> Result<(), ApiError> {
    let model = api.handle.model();
    if model.nodes.values().any(|node| node.name == name) {
        return Ok(());
    }
    let message = format!("there is no machine {name}");
    Err(ApiError::not_found(message, "danlu nodes lists them")
        .or_chinese(format!("没有机器 {name}"), "用 danlu nodes 查看"))
}

/// What runs there by their key can be reached by nothing else.
fn check_idle(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    let model = api.handle.model();
    let Some(node) = model.nodes.values().find(|node| node.name == name) else { return Ok(()) };
    if !api.logins.of(caller.id).iter().any(|login| login.node == name && login.ssh.is_some()) {
        return Ok(());
    }
    let there = |run: &&danlu_core::Run| run.part_on(node.id).is_some_and(|it| !it.is_ended());
    let tasks = model.active_runs().filter(there).filter_map(|run| model.tasks.get(&run.task));
    let mine: Vec<String> =
        tasks.filter(|task| task.owner == caller.id).map(|task| task.id.to_string()).collect();
    let (Some(first), count) = (mine.first(), mine.len()) else { return Ok(()) };
    Err(ApiError::refused(
        format!("{count} of your tasks run on {name} by this login"),
        &format!("wait for them or cancel them first: danlu wait {first}"),
    )
    .or_chinese(
        format!("您有 {count} 个任务正以此登录在 {name} 上运行"),
        format!("请先等待其结束或取消：danlu wait {first}"),
    ))
}

/// An agent that is root becomes whom an admin names; nobody can choose there whom it becomes.
fn no_keys(no: NoKeys, name: &str) -> ApiError {
    let ask_admin = |message: String, chinese: String| {
        ApiError::refused(
            message,
            &format!("an administrator can name your OS user there: danlu user set YOU --os-user-on {name}=USER"),
        )
        .or_chinese(
            chinese,
            format!("管理员可以指定您在该机器上的系统用户：danlu user set 用户名 --os-user-on {name}=系统用户"),
        )
    };
    match no {
        NoKeys::NotBySsh => ask_admin(
            format!("{name} is not reached by SSH: no key is needed"),
            format!("{name} 不通过 SSH 连接，无需密钥"),
        ),
        NoKeys::Root => ask_admin(
            format!("the server is root on {name}: no key is needed"),
            format!("服务器在 {name} 上是 root，无需密钥"),
        ),
        NoKeys::Unknown => ApiError::refused(
            format!("{name} is not connected: whether it needs a key of yours is not known now"),
            &format!("try again when it is: danlu nodes lists {name} as ready then"),
        )
        .or_chinese(
            format!("{name} 未连接，目前无法确定是否需要您的密钥"),
            "请在 danlu nodes 显示其就绪后再试",
        ),
    }
}

impl From<LoginError> for ApiError {
    fn from(error: LoginError) -> ApiError {
        let message = error.to_string();
        let refused = |hint| ApiError::refused(message.clone(), hint);
        match &error {
            LoginError::Name(name) => refused("use the name that you log in with there: ann")
                .or_chinese(format!("{name:?} 不能是用户名"), "请填写您在该机器上的登录名，如 ann"),
            LoginError::Root => refused("use the name of an account of your own there")
                .or_chinese("不能用自己的密钥以 root 运行任务", "请填写您自己在该机器上的账户名"),
            LoginError::ServersOwn(name) => refused("use the name of an account of your own there")
                .or_chinese(
                    format!("{name} 是服务器自己在该机器上的登录名"),
                    "请填写您自己在该机器上的账户名",
                ),
            LoginError::NoKey => refused("give the private key as well: --key ~/.ssh/id_ed25519")
                .or_chinese("还没有密钥", "请同时给出私钥"),
            LoginError::Key(bad) => bad_key(*bad, message),
            LoginError::TooMany => {
                refused("remove some that are not used").or_chinese("数量过多", "请删除不再使用的")
            }
            LoginError::Missing(node) => {
                ApiError::not_found(message.clone(), "see the list of them")
                    .or_chinese(format!("{node} 没有登录设置"), "请查看列表")
            }
            LoginError::File { .. } => ApiError::new(
                ErrorCode::Unavailable,
                message.clone(),
                "an administrator sees that only the server may look there: chmod 700",
            )
            .or_chinese("无法保存密钥", "请管理员检查数据目录的权限：chmod 700"),
            LoginError::NotNow(not_now) => not_now.clone().into(),
        }
    }
}

fn bad_key(bad: BadKey, message: String) -> ApiError {
    let (hint, chinese, chinese_hint) = match bad {
        BadKey::Long => (
            "give the file that ssh-keygen wrote, without .pub",
            "内容过大，不是私钥",
            "请给出 ssh-keygen 生成的文件（不带 .pub）",
        ),
        BadKey::Public => {
            ("it is in the file without .pub", "这是公钥，需要私钥", "私钥在不带 .pub 的文件中")
        }
        BadKey::Passphrase => (
            "make one without, for this alone: ssh-keygen -t ed25519 -N '' -f danlu-key",
            "密钥设有口令，此处无法输入",
            "请另建一个无口令的密钥：ssh-keygen -t ed25519 -N '' -f danlu-key",
        ),
        BadKey::OldForm => (
            "write it anew: ssh-keygen -p -N '' -f FILE",
            "密钥不是 OpenSSH 格式",
            "请转换格式：ssh-keygen -p -N '' -f 文件",
        ),
        BadKey::NotAKey => (
            "it begins with -----BEGIN OPENSSH PRIVATE KEY-----; give the whole file",
            "这不是 OpenSSH 私钥",
            "私钥以 -----BEGIN OPENSSH PRIVATE KEY----- 开头，请给出整个文件",
        ),
    };
    ApiError::refused(message, hint).or_chinese(chinese, chinese_hint)
}
