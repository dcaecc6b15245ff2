use super::{CheckOutcome, MachineProblem};
use crate::Language;
use danlu_core::trouble::{Trouble, TroubleKind};

/// One of each, so that people can read them all: `cargo test -p danlu-messages every_problem -- --nocapture`.
#[test]
fn every_problem_has_a_sentence_and_a_hint_in_both_languages() {
    for it in problems() {
        let (english, hint) = Language::English.within(|| (it.message(), it.hint()));
        let (chinese, next) = Language::Chinese.within(|| (it.message(), it.hint()));
        println!("{english}\n    {hint}\n{chinese}\n    {next}");
        assert_eq!(it.in_english(), english);
        assert!(!english.is_empty() && english.is_ascii() && hint.is_ascii(), "{it:?}");
        assert!(!chinese.is_ascii(), "{it:?}");
        let waits = matches!(
            it,
            MachineProblem::Reconnecting
                | MachineProblem::UserKeyChanged
                | MachineProblem::NotReachedBySsh
        );
        assert_eq!((hint.is_empty(), next.is_ascii()), (waits, waits), "{it:?}");
    }
}

#[test]
fn every_step_of_a_check_has_a_sentence_in_both_languages() {
    for it in outcomes() {
        let (english, hint) = Language::English.within(|| (it.message(), it.hint()));
        let (chinese, next) = Language::Chinese.within(|| (it.message(), it.hint()));
        assert!(!english.is_empty() && english.is_ascii() && hint.is_ascii(), "{it:?}");
        // A driver is named as it names itself.
        let is_quoted = matches!(it, CheckOutcome::Driver { .. });
        assert_eq!(chinese.is_ascii(), is_quoted, "{it:?}");
        assert_eq!(hint.is_empty(), next.is_empty(), "{it:?}");
    }
}

#[test]
fn what_a_machine_said_itself_stays() {
    let said = "Permission denied (publickey).".to_owned();
    let refused = MachineProblem::LogInRefused { said };
    let chinese = Language::Chinese.within(|| refused.message());
    assert_eq!(chinese, "登录被拒绝：Permission denied (publickey).");
    let lost = MachineProblem::UserConnectionLost { why: Some(Box::new(refused)) };
    let chinese = Language::Chinese.within(|| lost.message());
    assert_eq!(chinese, "某位用户自己的连接已断开：登录被拒绝：Permission denied (publickey).");
}

fn problems() -> Vec<MachineProblem> {
    use MachineProblem::*;
    let text = || "gpu1".to_owned();
    let mut all = vec![
        SshNotStarted { error: text() },
        HostKeyUnknown,
        HostKeyChanged { remove: text() },
        LogInRefused { said: text() },
        SudoRefused { said: text() },
        NameNotResolved { said: text() },
        SshdUnreachable { said: text() },
        SshFailed { said: text() },
        ConnectionClosed,
        MachineSilent,
        AccountUnknown,
        OtherArchitecture { theirs: text(), ours: text() },
        NoProgramDirectory,
        ProgramNotWritten,
        ProgramDamaged,
        ProgramUnreadable { error: text() },
        NotDialledIn,
        DialInClosed,
        AgentSilent,
        AgentInvalid { said: text() },
        AgentAnonymous,
        OtherProtocol { version: text(), theirs: 1, ours: 2 },
        OtherMachine { host_name: text(), node: text() },
        IdentityNotStored,
        SameRunDirectory { other: text(), node: text() },
        Reconnecting,
        ConnectionSilent,
        UserConnectionLost { why: None },
        UserConnectionLost { why: Some(Box::new(ConnectionClosed)) },
        UserKeyChanged,
        UserKeyUnusable { node: text() },
        UserKeyOfOtherRoute { node: text() },
        NotReachedBySsh,
        SshRouteUnknown { said: text() },
        SshRouteSilent,
        ProxyJumpInvalid { jumps: text() },
        KeyOfRoot,
        KeyOfServer { login: text() },
        KeyOfOtherLogin { login: text(), wanted: text() },
        LoginTaken { login: text() },
        KeyOfOtherMachine { host_name: text() },
        TooFewGpus { found: 1, expected: 2 },
    ];
    all.extend(TroubleKind::ALL.map(|kind| Unfit(Trouble::new(kind, "no space"))));
    all
}

fn outcomes() -> Vec<CheckOutcome> {
    use CheckOutcome::*;
    let text = || "gpu1".to_owned();
    vec![
        Server,
        Reached { route: text() },
        HasProgram,
        AgentRuns,
        Speaks { version: text() },
        Login { login: text(), is_root: true },
        Login { login: text(), is_root: false },
        Clock { off_ms: 3_000 },
        Disk { free_gb: 7, directory: text(), file_system: text() },
        Driver { version: text() },
        NoDriver,
        Gpus { probe: text() },
        SameMachine { others: vec![text(), text()] },
        Failed(MachineProblem::ConnectionClosed),
    ]
}
