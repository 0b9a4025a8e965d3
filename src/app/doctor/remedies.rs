//! What to do about a message: the tables of docs/troubleshooting.md, which this program contains.

/// Text of docs/troubleshooting.md.
const PAGE: &str = include_str!("../../../docs/troubleshooting.md");
/// Shortest part of a quoted message that is looked for, in characters: a shorter one would fit by chance.
const LEAST: usize = 12;

/// Returns the last column of the first row that quotes a part of this message; `None` if no row does.
pub(super) fn remedy(message: &str) -> Option<String> {
    rows().find(|row| row.quotes.iter().any(|quote| message.contains(quote.as_str()))).map(|row| row.remedy)
}

struct RemedyRow {
    /// Parts of messages in quotes.
    quotes: Vec<String>,
    remedy: String,
}

fn rows() -> impl Iterator<Item = RemedyRow> {
    PAGE.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [first, .., last] = cells[..] else { return None };
        // Every second part stands between quotes.
        let quoted = first.split('"').skip(1).step_by(2);
        let parts = quoted.flat_map(|quote| quote.split('…')).map(str::trim);
        let quotes = parts.filter(|part| part.chars().count() >= LEAST).map(str::to_owned).collect();
        Some(RemedyRow { quotes, remedy: plain(last) })
    })
}

/// Removes the marks of Markdown, and the addresses of links.
fn plain(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, link)) = rest.split_once('[')
        && let Some((name, after)) = link.split_once("](")
        && let Some((_, after)) = after.split_once(')')
    {
        plain.push_str(before);
        plain.push_str(name);
        rest = after;
    }
    (plain + rest).replace(['*', '`'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_finds_its_row() {
        let conflict =
            "another process is getting this bot's updates: stop it, or give it a token of its own";
        assert!(remedy(conflict).unwrap().contains("/revoke at @BotFather"), "{:?}", remedy(conflict));
        let updates = remedy("updates could not be fetched; trying again");
        assert_eq!(updates.as_deref(), Some("TELEGRAM_PROXY, firewall, DNS"));
        assert_eq!(remedy("something nobody wrote about"), None);
        assert!(rows().filter(|row| !row.quotes.is_empty()).count() > 40);
    }

    #[test]
    fn a_link_is_its_name() {
        assert_eq!(
            plain("see [The `store`](operations.md#the-store), or **wait**"),
            "see The store, or wait"
        );
        assert_eq!(plain("an [open one"), "an [open one");
    }
}
