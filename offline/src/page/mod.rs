//! Chat page of `figaro demo`: an offline Telegram client. The compiler joins its files into one page, which loads nothing
//! but the files people send, and the Mini Apps of the bot.

/// HTML of the page, with style and script.
pub const PAGE: &str = concat!(
    include_str!("head.html"),
    "<style>\n",
    include_str!("style/base.css"),
    include_str!("style/list.css"),
    include_str!("style/conversation.css"),
    include_str!("style/text.css"),
    include_str!("style/parts.css"),
    include_str!("style/composer.css"),
    include_str!("style/calls.css"),
    include_str!("style/apps.css"),
    include_str!("style/layout.css"),
    "</style>\n",
    include_str!("body.html"),
    // All scripts share one scope and may use each other in any order. Code that runs immediately is in the last one.
    "<script type=\"module\">\n",
    include_str!("script/helpers.js"),
    include_str!("script/state.js"),
    include_str!("script/text.js"),
    include_str!("script/blocks.js"),
    include_str!("script/messages.js"),
    include_str!("script/media.js"),
    include_str!("script/polls.js"),
    include_str!("script/acts.js"),
    include_str!("script/keyboards.js"),
    include_str!("script/drafts.js"),
    include_str!("script/conversation.js"),
    include_str!("script/intro.js"),
    include_str!("script/list.js"),
    include_str!("script/composer.js"),
    include_str!("script/attach.js"),
    include_str!("script/calls.js"),
    include_str!("script/apps.js"),
    include_str!("script/stream.js"),
    include_str!("script/wiring.js"),
    "</script>\n</body>\n</html>\n",
);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    /// A name at the start of a line that one of the scripts declares for all of them.
    fn declared(line: &str) -> Option<&str> {
        let rest = line.strip_prefix("async ").unwrap_or(line);
        let rest =
            ["function ", "const ", "let ", "class "].iter().find_map(|word| rest.strip_prefix(word))?;
        rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .next()
            .filter(|name| !name.is_empty())
    }

    // A browser runs nothing of a page that declares a name twice.
    #[test]
    fn the_scripts_declare_every_name_once() {
        let names: Vec<&str> = super::PAGE.lines().filter_map(declared).collect();
        assert!(names.len() > 100, "{} names", names.len());
        let mut seen = HashSet::new();
        let twice: Vec<_> = names.into_iter().filter(|name| !seen.insert(*name)).collect();
        assert_eq!(twice, [""; 0]);
    }
}
