//! The shortest time that GPUs may be called idle after, and the check of what administrators want.

use super::verdict;
use crate::api::ApiError;
use danlu_core::Span;
use danlu_core::idle::IdleSettings;
use danlu_messages::idle as msg;

/// Programs that work may leave a GPU alone for almost as long.
#[cfg(not(debug_assertions))]
pub(super) fn least() -> Span {
    verdict::LEAST
}

/// In builds for development tests may have less: `DANLU_TEST_IDLE_SECONDS`.
#[cfg(debug_assertions)]
pub(super) fn least() -> Span {
    use std::sync::LazyLock;
    static LEAST: LazyLock<Span> = LazyLock::new(|| {
        let given = std::env::var("DANLU_TEST_IDLE_SECONDS").ok();
        given.and_then(|it| it.parse().ok()).map_or(verdict::LEAST, Span::from_secs)
    });
    *LEAST
}

pub(crate) fn check_settings(idle: &IdleSettings) -> Result<(), ApiError> {
    let least = least();
    let all = [
        ("idle.tell_after", idle.tell_after),
        ("idle.ask_after", idle.ask_after),
        ("idle.release_after", idle.release_after),
    ];
    match all.into_iter().find(|(_, span)| *span < least) {
        Some((key, _)) => {
            Err(ApiError::bad_request(msg::too_soon(&key, &least), msg::too_soon_hint()))
        }
        None => Ok(()),
    }
}
