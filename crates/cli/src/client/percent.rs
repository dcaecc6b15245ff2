//! Percent-encoding of what users name in the addresses of requests.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What RFC 3986 calls unreserved stays.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Lists in queries are separated by commas.
const QUERY: &AsciiSet = &SEGMENT.remove(b',');

pub(crate) fn path_segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

pub(crate) fn query_value(value: &str) -> String {
    utf8_percent_encode(value, QUERY).to_string()
}
