//! Finds the end of an environment, and the borders of its rows and cells. Called by [`mod@super::parse`].

/// Returns the end of the environment, skipping nested ones of the same name.
pub(super) fn matching_end(body: &str, name: &str) -> Option<usize> {
    let (begin, end) = (format!("\\begin{{{name}}}"), format!("\\end{{{name}}}"));
    let mut depth = 0_usize;
    for (at, _) in body.match_indices('\\') {
        let here = body.get(at..).unwrap_or_default();
        if here.starts_with(&begin) {
            depth += 1;
        } else if here.starts_with(&end) {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

/// Skips the `{ccc}` of an array.
pub(super) fn after_columns(body: &str) -> &str {
    let columns = body.trim_start().strip_prefix('{').and_then(|rest| rest.split_once('}'));
    columns.map_or(body, |(_, rest)| rest)
}

/// Cuts at each separator that is in no group and in no nested environment.
pub(super) fn cut<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    while let Some(here) = text.get(at..).filter(|here| !here.is_empty()) {
        let first = here.chars().next().map_or(1, char::len_utf8);
        if depth == 0 && here.starts_with(separator) {
            parts.push(text.get(start..at).unwrap_or_default());
            at += separator.len();
            start = at;
            continue;
        }
        if here.starts_with("\\begin{") {
            depth += 1;
        } else if here.starts_with("\\end{") {
            depth = depth.saturating_sub(1);
        }
        if here.starts_with('\\') {
            // An escaped sign is no separator.
            at += 1 + here.chars().nth(1).map_or(0, char::len_utf8);
            continue;
        }
        depth = if here.starts_with('{') {
            depth + 1
        } else {
            depth.saturating_sub(usize::from(here.starts_with('}')))
        };
        at += first;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}
