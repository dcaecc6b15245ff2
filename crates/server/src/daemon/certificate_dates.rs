//! Until when a certificate is valid, read from its DER form (RFC 5280).

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// `None` for bytes that are no certificate.
pub(crate) fn ends_at(certificate: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = element(certificate, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if let Some((_, rest)) = element(fields, VERSION) {
        fields = rest;
    }
    // Serial number, algorithm and issuer come before it.
    for _ in 0..3 {
        let (_, _, rest) = any(fields)?;
        fields = rest;
    }
    let (validity, _) = element(fields, SEQUENCE)?;
    let (_, _, rest) = any(validity)?;
    let (kind, until, _) = any(rest)?;
    time(kind, std::str::from_utf8(until).ok()?)
}

/// The content of the first element if it is of that kind, and what follows.
fn element(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (kind, content, rest) = any(bytes)?;
    (kind == wanted).then_some((content, rest))
}

fn any(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, bytes) = bytes.split_first()?;
    let (first, bytes) = bytes.split_first()?;
    let (length, bytes) = match first {
        0..=0x7f => (usize::from(*first), bytes),
        0x81..=0x84 => {
            let (digits, bytes) = bytes.split_at_checked(usize::from(first & 0x7f))?;
            let value = digits.iter().fold(0, |value, digit| value << 8 | usize::from(*digit));
            (value, bytes)
        }
        _ => return None,
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((*kind, content, rest))
}

/// `261118070000Z` or `20261118070000Z`.
fn time(kind: u8, text: &str) -> Option<Timestamp> {
    let digits = text.strip_suffix('Z').filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    let (year, rest) = match kind {
        UTC_TIME if digits.len() == 12 => {
            let year: i16 = digits[..2].parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, &digits[2..])
        }
        GENERALIZED_TIME if digits.len() == 14 => (digits[..4].parse().ok()?, &digits[4..]),
        _ => return None,
    };
    let two = |at: usize| rest[at..at + 2].parse::<i8>().ok();
    let at = DateTime::new(year, two(0)?, two(2)?, two(4)?, two(6)?, two(8)?, 0).ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let key = rcgen::KeyPair::generate().expect("a key");
        for (year, expect) in [(2031, "2031-02-03T00:00:00Z"), (2062, "2062-02-03T00:00:00Z")] {
            let mut about = rcgen::CertificateParams::new(vec!["lab".to_owned()]).expect("a name");
            about.not_after = rcgen::date_time_ymd(year, 2, 3);
            let made = about.self_signed(&key).expect("a certificate");
            let ends = ends_at(made.der()).map(|ends| ends.to_string());
            assert_eq!(ends.as_deref(), Some(expect));
        }
    }

    #[test]
    fn anything_else_has_no_end() {
        for bytes in [&b""[..], b"\x30", b"\x30\x84\xff\xff\xff\xff", b"hello", &[0x30; 64]] {
            assert_eq!(ends_at(bytes), None);
        }
    }
}
