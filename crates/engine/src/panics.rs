//! A bug of ours that panics is caught, with the place where it happened.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static WHERE: Cell<Option<String>> = const { Cell::new(None) };
}

/// The message of a panic, and its place in the code.
#[derive(Debug, Clone)]
pub struct Panic {
    pub message: String,
    pub place: String,
}

/// `Err` if it panics. The value that it was changing must not be used any more.
pub fn guarded<T>(act: impl FnOnce() -> T) -> Result<T, Panic> {
    remember_places();
    WHERE.set(None);
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| Panic {
        message: words(payload.as_ref()),
        place: WHERE.take().unwrap_or_default(),
    })
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// The place is known only while it happens.
fn remember_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            WHERE.set(info.location().map(ToString::to_string));
            before(info);
        }));
    });
}
