//! Acknowledges a notice that is shown on top of the pages.

use crate::api::{Api, notices};
use crate::web::acts::done;
use crate::web::form::Sent;
use crate::web::page::PageResult;
use axum::extract::State;

pub(in crate::web) async fn acknowledge(State(api): State<Api>, sent: Sent) -> PageResult {
    done(&sent, notices::take_note(&api, &sent.visit.caller, sent.field("id")).await)
}
