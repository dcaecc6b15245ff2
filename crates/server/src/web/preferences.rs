//! Language and theme, kept in cookies so that they also hold before log-in.

use super::form::own_path;
use axum::extract::Form;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use danlu_messages::Language;
use serde::Deserialize;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Theme {
    /// As the browser says.
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    pub(super) fn named(name: &str) -> Option<Theme> {
        [Theme::Auto, Theme::Light, Theme::Dark].into_iter().find(|theme| theme.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    pub(super) fn is_auto(self) -> bool {
        self == Theme::Auto
    }

    pub(super) fn is_dark(self) -> bool {
        self == Theme::Dark
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Preferences {
    lang: String,
    theme: String,
    back: String,
}

pub(super) async fn change(Form(chosen): Form<Preferences>) -> Response {
    let back = own_path(&chosen.back).unwrap_or("/");
    let cookie = if Language::named(&chosen.lang).is_some() {
        Some(("lang", chosen.lang.as_str()))
    } else {
        Theme::named(&chosen.theme).map(|theme| ("theme", theme.name()))
    };
    let answer = Redirect::to(back);
    match cookie {
        None => answer.into_response(),
        Some((name, value)) => {
            let cookie = format!("{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax");
            ([(header::SET_COOKIE, cookie)], answer).into_response()
        }
    }
}
