//! The name a person probably meant.

/// Longest name compared; longer ones are not typed by hand.
const LONGEST: usize = 64;

/// Single changes (insert, drop, replace, swap neighbours) that lead from `a` to `b`, case ignored.
fn changes(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|s| s.chars().flat_map(char::to_lowercase).collect::<Vec<char>>());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The names nearest to `wanted`, best first, at most `count`; none that differ in more than half of it.
fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let length = wanted.chars().count();
    if length > LONGEST {
        return Vec::new();
    }
    let mut ranked: Vec<(usize, &str)> = names
        .into_iter()
        .filter(|name| name.chars().count() <= LONGEST)
        .map(|name| (changes(wanted, name), name))
        .filter(|&(changes, _)| 2 * changes <= length.max(2))
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(count).map(|(_, name)| name).collect()
}

/// `; did you mean "a" or "b"?`, or nothing when no name is near.
pub(crate) fn suggestion<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(wanted, names, 3).as_slice() {
        [] => String::new(),
        near => {
            let quoted: Vec<String> = near.iter().map(|name| format!("\"{name}\"")).collect();
            format!("; did you mean {}?", quoted.join(" or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["width", "eccentricity", "tone"];
        assert_eq!(nearest("widht", names, 2), ["width"]);
        assert_eq!(nearest("Tone", names, 2), ["tone"]);
        assert_eq!(suggestion("eccentrcity", names), "; did you mean \"eccentricity\"?");
        assert_eq!(suggestion("zzzzzz", names), "");
        assert!(nearest(&"x".repeat(10_000), names, 1).is_empty());
    }
}
