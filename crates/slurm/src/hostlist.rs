//! Lists of machines as Slurm writes them: `gpu[01-03,7],login`.

use danlu_messages::slurm as msg;

/// More than any lab has; a list of a few letters could name millions.
const MOST: usize = 65_536;

/// `gpu[01-02],x` as `gpu01`, `gpu02`, `x`.
pub fn expand(list: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for item in items(list)? {
        let mut found = vec![String::new()];
        let mut rest = item;
        while let Some(open) = rest.find('[') {
            let close = rest[open..].find(']').map(|at| open + at).ok_or_else(|| wrong(list))?;
            let numbers = numbers(&rest[open + 1..close]).ok_or_else(|| wrong(list))?;
            if found.len().saturating_mul(numbers.len()) > MOST {
                return Err(wrong(list));
            }
            let prefix = &rest[..open];
            let with = |begun: &String| {
                let begun = format!("{begun}{prefix}");
                numbers.iter().map(move |number| format!("{begun}{number}")).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(with).collect();
            rest = &rest[close + 1..];
        }
        names.extend(found.into_iter().map(|begun| begun + rest));
        if names.len() > MOST {
            return Err(wrong(list));
        }
    }
    Ok(names)
}

/// At commas outside of brackets.
fn items(list: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut depth, mut from) = (Vec::new(), 0_u32, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1).ok_or_else(|| wrong(list))?,
            ',' if depth == 0 => {
                items.push(&list[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if depth != 0 {
        return Err(wrong(list));
    }
    items.push(&list[from..]);
    Ok(items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect())
}

/// `01-03,7` with the zeros of its first number.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > MOST as u64 {
            return None;
        }
        all.extend((first..=last).map(|number| format!("{number:0width$}")));
    }
    Some(all)
}

/// Neighbours with one prefix together: `n[1-2],x`.
pub fn compress<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    // Prefix, width, numbers; names without a number have no numbers.
    let mut groups: Vec<(String, Vec<(u64, usize)>)> = Vec::new();
    for name in names {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        let parsed = number.parse::<u64>().ok().map(|value| (value, number.len()));
        match (
            groups.iter_mut().find(|(known, numbers)| known == prefix && !numbers.is_empty()),
            parsed,
        ) {
            (Some((_, numbers)), Some(number)) => numbers.push(number),
            (None, Some(number)) => groups.push((prefix.to_owned(), vec![number])),
            (_, None) => groups.push((name.to_owned(), Vec::new())),
        }
    }
    let written = |(prefix, mut numbers): (String, Vec<(u64, usize)>)| {
        numbers.sort_unstable_by_key(|(value, width)| (*width, *value));
        numbers.dedup();
        match numbers.as_slice() {
            [] => prefix,
            [(value, width)] => format!("{prefix}{value:0width$}"),
            several => format!("{prefix}[{}]", ranges(several)),
        }
    };
    groups.into_iter().map(written).collect::<Vec<_>>().join(",")
}

fn ranges(numbers: &[(u64, usize)]) -> String {
    let mut parts: Vec<(u64, u64, usize)> = Vec::new();
    for (value, width) in numbers {
        match parts.last_mut() {
            Some((_, last, same))
                if *last + 1 == *value
                    && (same == width || (*same < *width && value.to_string().len() == *width)) =>
            {
                *last = *value;
            }
            _ => parts.push((*value, *value, *width)),
        }
    }
    let written = |(first, last, width): (u64, u64, usize)| match first == last {
        true => format!("{first:0width$}"),
        false => format!("{first:0width$}-{last:0width$}"),
    };
    parts.into_iter().map(written).collect::<Vec<_>>().join(",")
}

fn wrong(list: &str) -> String {
    msg::invalid_hostlist(&list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_written_and_read_as_slurm_does() {
        assert_eq!(
            expand("gpu[01-03,7],x").expect("a list"),
            ["gpu01", "gpu02", "gpu03", "gpu7", "x"]
        );
        assert_eq!(expand("r[1-2]n[1-2]").expect("a list"), ["r1n1", "r1n2", "r2n1", "r2n2"]);
        assert_eq!(expand("").expect("a list"), Vec::<String>::new());
        for wrong in ["a[1", "a]1", "a[2-1]", "a[1-99999999]", "a[x]"] {
            assert!(expand(wrong).is_err(), "{wrong}");
        }
        assert_eq!(compress(["a1", "a2", "a3"]), "a[1-3]");
        assert_eq!(compress(["gpu01", "gpu02", "gpu04", "x"]), "gpu[01-02,04],x");
        assert_eq!(compress(["n9", "n10", "n12"]), "n[9-10,12]");
        assert_eq!(compress(["n1"]), "n1");
        assert_eq!(compress([]), "");
    }
}
