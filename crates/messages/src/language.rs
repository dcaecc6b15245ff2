//! The language of the reader. It is chosen here alone.

use std::{
    cell::Cell,
    env,
    pin::Pin,
    sync::LazyLock,
    task::{Context, Poll},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    English,
    Chinese,
}

thread_local! {
    static SPOKEN: Cell<Option<Language>> = const { Cell::new(None) };
}

/// Restores the language when it is dropped, also by a panic.
struct Before(Option<Language>);

impl Drop for Before {
    fn drop(&mut self) {
        SPOKEN.set(self.0);
    }
}

impl Language {
    /// The language of the innermost `within`; elsewhere that of this process, read from its environment once.
    pub fn current() -> Self {
        static CURRENT: LazyLock<Language> = LazyLock::new(|| {
            let variables = ["DANLU_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
            Language::first_of(variables.into_iter().filter_map(|name| env::var(name).ok()))
        });
        SPOKEN.get().unwrap_or_else(|| *CURRENT)
    }

    /// Messages that `speak` makes are in this language.
    pub fn within<T>(self, speak: impl FnOnce() -> T) -> T {
        let _before = Before(SPOKEN.replace(Some(self)));
        speak()
    }

    /// Messages that a future makes are in this language, whichever thread polls it.
    pub fn speaking<F>(self, future: F) -> Speaking<F> {
        Speaking { language: self, future: Box::pin(future) }
    }

    /// The rest of the innermost `within` or `speaking` is in this language.
    pub fn go_on(self) {
        if SPOKEN.get().is_some() {
            SPOKEN.set(Some(self));
        }
    }

    /// `en` or `zh`.
    pub fn named(name: &str) -> Option<Language> {
        match name {
            "en" => Some(Self::English),
            "zh" => Some(Self::Chinese),
            _ => None,
        }
    }

    /// What an `Accept-Language` header prefers.
    pub fn accepted(list: &str) -> Language {
        let weight = |language: &str| {
            let parts = list.split(',').map(str::trim).filter(|part| part.starts_with(language));
            let quality = |part: &str| match part.split_once(";q=") {
                Some((_, quality)) => quality.trim().parse::<f32>().unwrap_or(0.0),
                None => 1.0,
            };
            parts.map(quality).fold(0.0, f32::max)
        };
        if weight("zh") > weight("en") { Self::Chinese } else { Self::English }
    }

    /// For the `lang` attribute: screen readers choose a voice by it, browsers a font.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// The first value that is not empty decides, as everywhere on Unix.
    fn first_of(values: impl IntoIterator<Item = String>) -> Self {
        let first = values.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
        if first.to_lowercase().starts_with("zh") { Self::Chinese } else { Self::English }
    }
}

/// A future whose messages are in one language.
#[derive(Debug)]
pub struct Speaking<F> {
    language: Language,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Speaking<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let (poll, language) = this.language.within(|| {
            let poll = this.future.as_mut().poll(context);
            (poll, Language::current())
        });
        // It may have learnt meanwhile what its reader prefers.
        this.language = language;
        poll
    }
}

#[cfg(test)]
mod tests {
    use super::Language::{self, Chinese, English};
    use std::task::{Context, Waker};

    #[test]
    fn the_innermost_reader_counts() {
        assert_eq!(Chinese.within(Language::current), Chinese);
        assert_eq!(Chinese.within(|| English.within(Language::current)), English);
        assert!(std::panic::catch_unwind(|| Chinese.within(|| panic!("on purpose"))).is_err());
        assert_eq!(super::SPOKEN.get(), None);
    }

    #[test]
    fn a_future_keeps_its_language_between_polls() {
        let mut polled = 0;
        let future = std::future::poll_fn(|_| {
            polled += 1;
            match polled {
                1 => Chinese.go_on(),
                2 => return std::task::Poll::Ready(Language::current()),
                _ => unreachable!("it has ended"),
            }
            std::task::Poll::Pending
        });
        let mut future = std::pin::pin!(English.speaking(future));
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(super::SPOKEN.get(), None);
        assert_eq!(future.as_mut().poll(&mut context), std::task::Poll::Ready(Chinese));
    }

    #[test]
    fn the_first_variable_that_is_not_empty_decides() {
        let check = |values: &[&str], expect: Language| {
            let values = values.iter().map(|value| (*value).to_owned());
            assert_eq!(Language::first_of(values), expect);
        };
        check(&[], English);
        check(&["zh"], Chinese);
        check(&["zh_CN.UTF-8"], Chinese);
        check(&["en", "zh_CN.UTF-8"], English);
        check(&["", "ZH_TW.UTF-8"], Chinese);
        check(&["C", "zh_CN.UTF-8"], English);
    }

    #[test]
    fn a_browser_is_served_in_its_order() {
        let check = |list: &str, expect| assert_eq!(Language::accepted(list), expect, "{list}");
        check("zh-CN,zh;q=0.9,en;q=0.8", Chinese);
        check("en-US,en;q=0.9,zh;q=0.8", English);
        check("de,zh;q=0.5", Chinese);
        check("fr", English);
        check("", English);
    }
}
