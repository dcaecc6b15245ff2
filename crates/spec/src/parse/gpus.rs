//! Parses `--gpus 2`, `--gpus A100:2`, `--gpu-ids 0-3` and the slots of a GPU.

use super::whole;
use danlu_messages::spec as msg;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCount {
    pub count: u32,
    /// Part of the model's name.
    pub model: Option<String>,
}

pub fn parse_gpus(given: &str) -> Result<GpuCount, String> {
    if given.contains("..") {
        return Err(msg::elastic_not_supported().to_owned());
    }
    let (model, count) = match given.rsplit_once(':') {
        Some(("", _)) => return Err(complaint(given)),
        Some((model, count)) => (Some(model.to_owned()), count),
        None => (None, given),
    };
    whole(count).map(|count| GpuCount { count, model }).ok_or_else(|| complaint(given))
}

fn complaint(given: &str) -> String {
    let looks_like_model =
        given.starts_with(|c: char| c.is_ascii_alphabetic()) && !given.contains(':');
    let example = if looks_like_model { format!("{given}:1") } else { "A100:2".to_owned() };
    msg::expected_gpus(&example)
}

/// `--gpu-ids 0,2` or `0-3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuIds(pub Vec<u32>);

pub fn parse_gpu_ids(given: &str) -> Result<GpuIds, String> {
    let complaint = || msg::expected_gpu_numbers().to_owned();
    let mut ids = Vec::new();
    for part in given.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| whole::<u32>(text).ok_or_else(complaint);
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last - first > 1_000 {
            return Err(complaint());
        }
        ids.extend(first..=last);
    }
    Ok(GpuIds(ids))
}

/// `danlu gpu slots 0=2`.
pub fn parse_slots(given: &str) -> Result<(u32, u16), String> {
    let pair = given.split_once('=').and_then(|(gpu, slots)| Some((whole(gpu)?, whole(slots)?)));
    pair.ok_or_else(|| msg::expected_gpu_slots().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_a_model_and_a_number() {
        let wish = |count, model: Option<&str>| GpuCount { count, model: model.map(Into::into) };
        assert_eq!(parse_gpus("2"), Ok(wish(2, None)));
        assert_eq!(parse_gpus("0"), Ok(wish(0, None)));
        assert_eq!(parse_gpus("A100:2"), Ok(wish(2, Some("A100"))));
        assert_eq!(parse_gpus("RTX 6000 Ada:1"), Ok(wish(1, Some("RTX 6000 Ada"))));
    }

    #[test]
    fn a_gpu_and_its_slots() {
        assert_eq!(parse_slots("0=2"), Ok((0, 2)));
        for wrong in ["", "0", "=2", "0=", "0=x", "0=-1", "0=99999"] {
            assert!(parse_slots(wrong).is_err(), "{wrong} is accepted");
        }
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for wrong in ["", "-1", "+1", ":2", "A100:", "A100:x", "1..4", "99999999999"] {
            assert!(parse_gpus(wrong).is_err(), "{wrong} is accepted");
        }
        assert!(parse_gpus("A100").is_err_and(|complaint| complaint.contains("A100:1")));
    }
}
