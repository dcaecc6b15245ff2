//! The reader's own account: password, language, machines, template, tokens, sessions.

use super::acts::done;
use super::form::Sent;
use super::moment::Moment;
use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::secrets;
use crate::api::{Api, ApiError, me as account, me_nodes, notify, session, tokens as made};
use crate::daemon::config::EMAIL;
use askama::Template;
use axum::extract::State;
use danlu_core::user::UserChange;
use danlu_messages::web::me as msg;
use danlu_messages::web::pages;
use danlu_spec::field::{Form, label};
use danlu_spec::{Field, Patch};
use danlu_wire::api::{
    ChannelView, MaybeNewer, Me, MyNode, NewSshLogin, NewToken, QuietHours, Scope, Secret,
    SessionView, TokenView,
};

#[derive(Template)]
#[template(path = "me.html")]
struct MePage<'a> {
    context: &'a PageContext,
    me: Me,
    /// There is no session on the local socket.
    local: bool,
    template: Vec<(&'static str, String)>,
    channels: Vec<ChannelView>,
    nodes: Vec<MyNode>,
    tokens: Vec<TokenView>,
    sessions: Vec<SessionView>,
}

pub(super) async fn me(State(api): State<Api>, visit: Visit) -> PageResult {
    let template = account::template_of(&api, &visit.caller);
    Ok(page(&MePage {
        context: &visit.context,
        me: account::me(&api, &visit.caller).map_err(visit.no())?,
        local: visit.caller.local,
        template: in_fields(&template),
        channels: notify::channel_views(&api, &visit.caller),
        nodes: me_nodes::all(&api, &visit.caller).map_err(visit.no())?,
        tokens: made::views(&api, &visit.caller),
        sessions: session::views(&api, &visit.caller),
    }))
}

/// What each field is called, and its value as it is typed.
fn in_fields(template: &Patch) -> Vec<(&'static str, String)> {
    let form = Form::of(template);
    let typed = Field::ALL.iter().map(|it| (*it, form.get(*it).to_owned()));
    let umask = template.umask.value().map(|umask| (Field::Umask, format!("{umask:03o}")));
    let said = typed.chain(umask).filter(|(_, text)| !text.is_empty());
    said.map(|(field, text)| (label(field), text)).collect()
}

impl MePage<'_> {
    fn time(&self, text: &str) -> Moment {
        Moment::read(text, self.context.now)
            .unwrap_or(Moment::new(self.context.now, self.context.now))
    }

    fn scope<'a>(&self, scope: &'a MaybeNewer<Scope>) -> &'a str {
        match scope {
            MaybeNewer::Known(Scope::Read) => msg::read(),
            MaybeNewer::Known(Scope::Submit) => msg::submit(),
            MaybeNewer::Known(Scope::Admin) => msg::everything(),
            MaybeNewer::Newer(name) => name,
        }
    }

    /// `Firefox, Linux` of what it says of itself.
    fn browser(&self, said: &str) -> String {
        browser(said)
    }

    fn any_takes_keys(&self) -> bool {
        self.nodes.iter().any(|node| node.takes_keys)
    }

    fn sends_mail(&self) -> bool {
        self.channels.iter().any(|channel| channel.name == EMAIL)
    }

    fn is_told_over(&self, channel: &str) -> bool {
        self.me.notify.channels.iter().any(|chosen| chosen == channel)
    }

    fn quiet(&self) -> QuietHours {
        let nothing = || QuietHours { from: String::new(), to: String::new(), zone: None };
        self.me.notify.quiet.clone().unwrap_or_else(nothing)
    }

    fn speaks(&self, language: &str) -> bool {
        self.me.language.as_deref() == Some(language)
    }
}

/// Each pretends to be the ones before it, so that the last ones are looked for first.
fn browser(said: &str) -> String {
    let first = |names: &[(&str, &'static str)]| {
        names.iter().find(|(word, _)| said.contains(word)).map(|(_, name)| *name)
    };
    let program = first(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ]);
    let system = first(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ]);
    match (program, system) {
        (Some(program), Some(system)) => format!("{program}, {system}"),
        (Some(program), None) => program.to_owned(),
        _ => said.chars().take(60).collect(),
    }
}

pub(super) async fn password(State(api): State<Api>, sent: Sent) -> PageResult {
    let (new, again) = (sent.field("new"), sent.field("again"));
    if new != again {
        let words = msg::passwords_differ();
        return done(&sent, Err(ApiError::bad_request(words, "")));
    }
    let old = Some(sent.field("old"));
    done(&sent, account::set_password(&api, &sent.visit.caller, old, new).await)
}

pub(super) async fn profile(State(api): State<Api>, sent: Sent) -> PageResult {
    let given = |name: &str| Some(sent.field(name).to_owned());
    let change = UserChange { language: given("language"), ..UserChange::default() };
    done(&sent, account::set(&api, &sent.visit.caller, change).await)
}

/// The key goes to the server only; it is never shown again.
pub(super) async fn nodes(State(api): State<Api>, sent: Sent) -> PageResult {
    let caller = &sent.visit.caller;
    let removed = sent.field("remove");
    if !removed.is_empty() {
        return done(&sent, me_nodes::forget(&api, caller, removed).await);
    }
    let key = Some(sent.field("key")).filter(|key| !key.trim().is_empty());
    let wanted = NewSshLogin {
        ssh_user: sent.field("ssh_user").trim().to_owned(),
        key: key.map(|key| Secret(key.to_owned())),
    };
    done(&sent, me_nodes::change(&api, caller, sent.field("node"), &wanted).await)
}

/// From the form of a new task it is kept; here it is only taken away.
pub(super) async fn template(State(api): State<Api>, sent: Sent) -> PageResult {
    done(&sent, account::keep_template(&api, &sent.visit.caller, Patch::default()).await)
}

pub(super) async fn tokens(State(api): State<Api>, sent: Sent) -> PageResult {
    let (caller, context) = (&sent.visit.caller, &sent.visit.context);
    let revoked = sent.field("revoke");
    if !revoked.is_empty() {
        let result = api.auth.revoke_token(&api.handle, caller.id, revoked, &caller.asker()).await;
        return done(&sent, result.map_err(ApiError::from));
    }
    let scope = match sent.field("scope") {
        "read" => Scope::Read,
        "admin" => Scope::Admin,
        _ => Scope::Submit,
    };
    let expires = Some(sent.field("expires").to_owned());
    let wanted = NewToken { name: sent.field("name").trim().to_owned(), scope, expires };
    let token = made::new(&api, caller, wanted).await.map_err(sent.visit.no())?;
    let words = (msg::new_token(), msg::copy_it_now_it_is_not_shown_again());
    Ok(secrets::shown_once(
        context,
        words,
        vec![(token.token.name, token.secret.0)],
        Vec::new(),
        "/me#tokens",
    ))
}

pub(super) async fn sessions(State(api): State<Api>, sent: Sent) -> PageResult {
    let caller = &sent.visit.caller;
    let ended =
        api.auth.end_session(&api.handle, caller.id, sent.field("end"), &caller.asker()).await;
    done(&sent, ended.map_err(ApiError::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_in_short() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0 Safari/537.36";
        assert_eq!(browser(chrome), "Chrome, Linux");
        assert_eq!(browser(&format!("{chrome} Edg/148.0")), "Edge, Linux");
        let firefox =
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0";
        assert_eq!(browser(firefox), "Firefox, macOS");
        assert_eq!(browser("curl/8.5.0"), "curl");
        assert_eq!(browser("a program of ours"), "a program of ours");
    }
}
