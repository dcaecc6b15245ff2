//! The description of the API is kept in the project, so that every change of it is seen.

use danlu_server::api::openapi;
use std::fs;
use std::path::Path;

#[test]
fn the_description_of_the_api_is_as_it_was_kept() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("DANLU_UPDATE").is_some() {
        fs::write(&kept, &*openapi::TEXT).expect("it can be written");
    }
    let text = fs::read_to_string(&kept).unwrap_or_default();
    assert!(
        text == *openapi::TEXT,
        "the API has changed: look at the difference after DANLU_UPDATE=1 cargo test -p danlu-server --test openapi"
    );
}
