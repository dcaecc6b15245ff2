//! Tells people what they want to know: events become messages in a file of its own, which threads deliver.
//!
//! Invariant: nothing else ever waits for it. News that it cannot take at once are read from the event table later.

pub(crate) mod channels;
mod digest;
mod digest_words;
mod document;
mod expand;
mod expiring;
mod html;
mod lanes;
pub(crate) mod letter;
mod monthly;
pub(crate) mod outbox;
mod postman;
pub(crate) mod quiet_hours;
pub(crate) mod recipients;
mod render;
mod service;
mod subject;
mod task_words;
mod tidings;
mod when_free;
mod worker;

pub(crate) use channels::{
    Channels, Delivered, HttpAnswer, HttpClient, HttpRequest, SecretError, SecretText, shown,
};
pub(crate) use outbox::{Post, PostState};
pub(crate) use recipients::Target;
pub use service::Notifier;
pub(crate) use service::NotifyUnavailable;
pub(crate) use when_free::{FreeWatch, MOST_WATCHES, WatchRow};
