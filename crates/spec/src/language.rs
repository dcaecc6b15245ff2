//! In which of its two languages Danlu speaks: `text` picks the words.

use std::{cell::Cell, env, sync::LazyLock};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    English,
    Chinese,
}

/// The same sentence in both languages; the person's one is returned.
pub fn text<'a>(english: &'a str, chinese: &'a str) -> &'a str {
    Language::current().say(english, chinese)
}

/// The same sentence in both languages, with names of the caller's variables in braces; a `String`.
#[macro_export]
macro_rules! say {
    ($english:literal, $chinese:literal $(,)?) => {
        match $crate::language::Language::current() {
            $crate::language::Language::English => format!($english),
            $crate::language::Language::Chinese => format!($chinese),
        }
    };
}
pub use say;

thread_local! {
    static SPOKEN: Cell<Option<Language>> = const { Cell::new(None) };
}

/// Also after a panic.
struct Before(Option<Language>);

impl Drop for Before {
    fn drop(&mut self) {
        SPOKEN.set(self.0);
    }
}

impl Language {
    /// The language of this process, read from the environment once; or that of who is spoken to `within`.
    pub fn current() -> Self {
        static CURRENT: LazyLock<Language> = LazyLock::new(|| {
            let variables = ["DANLU_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
            Language::first_of(variables.into_iter().filter_map(|name| env::var(name).ok()))
        });
        SPOKEN.get().unwrap_or_else(|| *CURRENT)
    }

    /// What is said in there is for somebody who reads this language.
    pub fn within<T>(self, speak: impl FnOnce() -> T) -> T {
        let _after = Before(SPOKEN.replace(Some(self)));
        speak()
    }

    pub fn named(name: &str) -> Option<Language> {
        match name {
            "en" => Some(Language::English),
            "zh" => Some(Language::Chinese),
            _ => None,
        }
    }

    pub fn say<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }

    /// For the `lang` attribute: screen readers choose a voice by it, browsers a font.
    pub fn code(self) -> &'static str {
        self.say("en", "zh-CN")
    }

    /// The first value that is not empty decides, as everywhere on Unix.
    fn first_of(values: impl IntoIterator<Item = String>) -> Self {
        let first = values.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
        if first.to_lowercase().starts_with("zh") { Self::Chinese } else { Self::English }
    }
}

#[cfg(test)]
mod tests {
    use super::Language::{self, Chinese, English};

    #[test]
    fn who_is_spoken_to_counts_more_than_the_process() {
        let words = || super::text("no", "不").to_owned();
        assert_eq!(Chinese.within(words), "不");
        assert_eq!(Chinese.within(|| English.within(words)), "no");
        assert!(std::panic::catch_unwind(|| Chinese.within(|| panic!("on purpose"))).is_err());
        assert_eq!(super::SPOKEN.get(), None);
    }

    #[test]
    fn first_value_that_is_not_empty_decides() {
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
}
