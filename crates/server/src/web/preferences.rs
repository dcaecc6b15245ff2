//! Language and theme, kept in cookies so that they also hold before log-in.

use super::form::own_path;
use axum::extract::Form;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use danlu_messages::Language;
use serde::Deserialize;

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
        let known = ["auto", "light", "dark"].contains(&chosen.theme.as_str());
        known.then_some(("theme", chosen.theme.as_str()))
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
