//! Why a machine or a user's own connection to it does not work, and what to do about it.

use super::words as msg;
use crate::Language;
use danlu_core::trouble::{Trouble, TroubleKind};

/// What `ssh`, an agent or the operating system has said is quoted as it is, in any language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineProblem {
    /// `ssh` on the server cannot be started.
    SshNotStarted {
        error: String,
    },
    HostKeyUnknown,
    /// With the command that removes the old key.
    HostKeyChanged {
        remove: String,
    },
    LogInRefused {
        said: String,
    },
    SudoRefused {
        said: String,
    },
    NameNotResolved {
        said: String,
    },
    SshdUnreachable {
        said: String,
    },
    /// `ssh` failed in another way.
    SshFailed {
        said: String,
    },
    /// `ssh` ended without a word.
    ConnectionClosed,
    MachineSilent,
    /// The login there has not reported its user.
    AccountUnknown,
    OtherArchitecture {
        theirs: String,
        ours: String,
    },
    NoProgramDirectory,
    ProgramNotWritten,
    ProgramDamaged,
    /// The server cannot read its own program.
    ProgramUnreadable {
        error: String,
    },
    NotDialledIn,
    DialInClosed,
    AgentSilent,
    /// It sends messages that are not valid.
    AgentInvalid {
        said: String,
    },
    AgentAnonymous,
    OtherProtocol {
        version: String,
        theirs: u32,
        ours: u32,
    },
    /// Another machine than the one that `node` stands for.
    OtherMachine {
        host_name: String,
        node: String,
    },
    IdentityNotStored,
    /// `node` has given its runs up to `other`.
    SameRunDirectory {
        other: String,
        node: String,
    },
    Reconnecting,
    ConnectionSilent,
    /// A user's own connection, with tasks that run.
    UserConnectionLost {
        why: Option<Box<MachineProblem>>,
    },
    UserKeyChanged,
    UserKeyUnusable {
        node: String,
    },
    UserKeyOfOtherRoute {
        node: String,
    },
    NotReachedBySsh,
    /// `ssh -G` failed.
    SshRouteUnknown {
        said: String,
    },
    SshRouteSilent,
    ProxyJumpInvalid {
        jumps: String,
    },
    KeyOfRoot,
    KeyOfServer {
        login: String,
    },
    KeyOfOtherLogin {
        login: String,
        wanted: String,
    },
    LoginTaken {
        login: String,
    },
    /// Another machine than the server's own connection has reached.
    KeyOfOtherMachine {
        host_name: String,
    },
    TooFewGpus {
        found: u32,
        expected: u32,
    },
    /// It is connected, and cannot start tasks.
    Unfit(Trouble),
}

impl MachineProblem {
    /// For logs and for what is stored.
    pub fn in_english(&self) -> String {
        Language::English.within(|| self.message())
    }

    pub fn message(&self) -> String {
        use MachineProblem::*;
        match self {
            SshNotStarted { error } => msg::ssh_not_started(error),
            HostKeyUnknown => msg::host_key_unknown().to_owned(),
            HostKeyChanged { .. } => msg::host_key_changed().to_owned(),
            LogInRefused { said } => msg::log_in_refused(said),
            SudoRefused { said } => msg::sudo_refused(said),
            NameNotResolved { said } => msg::name_not_resolved(said),
            SshdUnreachable { said } => msg::sshd_unreachable(said),
            SshFailed { said } => msg::ssh_failed(said),
            ConnectionClosed | DialInClosed => msg::connection_closed().to_owned(),
            MachineSilent => msg::machine_silent().to_owned(),
            AccountUnknown => msg::account_unknown().to_owned(),
            OtherArchitecture { theirs, ours } => msg::other_architecture(theirs, ours),
            NoProgramDirectory => msg::no_program_directory().to_owned(),
            ProgramNotWritten => msg::program_not_written().to_owned(),
            ProgramDamaged => msg::program_damaged().to_owned(),
            ProgramUnreadable { error } => msg::program_unreadable(error),
            NotDialledIn => msg::not_dialled_in().to_owned(),
            AgentSilent => msg::agent_silent().to_owned(),
            AgentInvalid { said } => msg::agent_invalid(said),
            AgentAnonymous => msg::agent_anonymous().to_owned(),
            OtherProtocol { version, theirs, ours } => msg::other_protocol(version, theirs, ours),
            OtherMachine { host_name, .. } => msg::other_machine(host_name),
            IdentityNotStored => msg::identity_not_stored().to_owned(),
            SameRunDirectory { other, .. } => msg::same_run_directory(other),
            Reconnecting => msg::reconnecting().to_owned(),
            ConnectionSilent => msg::connection_silent().to_owned(),
            UserConnectionLost { why: None } => msg::user_connection_lost().to_owned(),
            UserConnectionLost { why: Some(why) } => {
                msg::user_connection_lost_because(&why.message())
            }
            UserKeyChanged => msg::user_key_changed().to_owned(),
            UserKeyUnusable { .. } => msg::user_key_unusable().to_owned(),
            UserKeyOfOtherRoute { .. } => msg::user_key_of_other_route().to_owned(),
            NotReachedBySsh => msg::not_reached_by_ssh().to_owned(),
            SshRouteUnknown { said } => msg::ssh_route_unknown(said),
            SshRouteSilent => msg::ssh_route_silent().to_owned(),
            ProxyJumpInvalid { jumps } => msg::proxy_jump_invalid(jumps),
            KeyOfRoot => msg::key_of_root().to_owned(),
            KeyOfServer { login } => msg::key_of_server(login),
            KeyOfOtherLogin { login, wanted } => msg::key_of_other_login(login, wanted),
            LoginTaken { login } => msg::login_taken(login),
            KeyOfOtherMachine { host_name } => msg::key_of_other_machine(host_name),
            TooFewGpus { found, expected } => msg::too_few_gpus(found, expected),
            Unfit(trouble) => msg::unfit(&trouble.detail),
        }
    }

    /// Empty where there is nothing to do but to wait.
    pub fn hint(&self) -> String {
        use MachineProblem::*;
        match self {
            HostKeyChanged { remove } => msg::remove_old_host_key(remove),
            OtherMachine { node, .. } => msg::accept_machine(node),
            SameRunDirectory { node, .. } => msg::remove_or_move(node),
            UserKeyUnusable { node } | UserKeyOfOtherRoute { node } => msg::give_key_again(node),
            SshNotStarted { .. } => msg::install_ssh().to_owned(),
            HostKeyUnknown => msg::let_host_key_in().to_owned(),
            LogInRefused { .. } => msg::check_authorized_keys().to_owned(),
            SudoRefused { .. } => msg::allow_sudo().to_owned(),
            NameNotResolved { .. } => msg::check_name().to_owned(),
            SshdUnreachable { .. } => msg::check_sshd().to_owned(),
            SshFailed { .. } | ConnectionClosed => msg::read_sshd_log().to_owned(),
            MachineSilent | AgentSilent => msg::check_load().to_owned(),
            AccountUnknown => msg::check_id_program().to_owned(),
            OtherArchitecture { .. } => msg::install_and_dial_in().to_owned(),
            NoProgramDirectory | ProgramNotWritten => msg::check_home_directory().to_owned(),
            ProgramDamaged => msg::sent_again().to_owned(),
            ProgramUnreadable { .. } => msg::check_proc().to_owned(),
            NotDialledIn => msg::join_from_there().to_owned(),
            DialInClosed => msg::check_dial_in_agent().to_owned(),
            AgentInvalid { .. } | AgentAnonymous => msg::check_what_runs_there().to_owned(),
            OtherProtocol { .. } => msg::same_release().to_owned(),
            IdentityNotStored => msg::check_server_disk().to_owned(),
            ConnectionSilent => msg::check_network().to_owned(),
            UserConnectionLost { .. } => msg::reconnects_by_itself().to_owned(),
            SshRouteUnknown { .. }
            | SshRouteSilent
            | ProxyJumpInvalid { .. }
            | KeyOfOtherMachine { .. } => msg::check_ssh_configuration().to_owned(),
            KeyOfRoot | KeyOfServer { .. } | KeyOfOtherLogin { .. } => {
                msg::give_own_account().to_owned()
            }
            LoginTaken { .. } => msg::one_account_each().to_owned(),
            TooFewGpus { .. } => msg::run_nvidia_smi().to_owned(),
            Unfit(trouble) => repair(trouble.kind).to_owned(),
            Reconnecting | UserKeyChanged | NotReachedBySsh => String::new(),
        }
    }
}

/// It gets tasks again by itself once it is repaired.
fn repair(kind: TroubleKind) -> &'static str {
    match kind {
        TroubleKind::Descriptors => msg::raise_open_files(),
        TroubleKind::Processes => msg::check_process_limit(),
        TroubleKind::Memory => msg::free_memory(),
        TroubleKind::DiskFull => msg::make_room(),
        TroubleKind::Disk => msg::check_disk(),
        TroubleKind::Launcher | TroubleKind::Other => msg::read_agent_log(),
    }
}
