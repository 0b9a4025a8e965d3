//! The chat page of `figaro demo`: an offline Telegram client. Its parts are files by topic, which the compiler puts
//! together: what the browser gets is one page that loads nothing but the files people send.

/// The page: markup, style and script in one.
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
    include_str!("style/layout.css"),
    "</style>\n",
    include_str!("body.html"),
    // One scope: a file uses what others define, in whatever order they stand. What runs at once is in the last.
    "<script type=\"module\">\n",
    include_str!("script/helpers.js"),
    include_str!("script/state.js"),
    include_str!("script/text.js"),
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
    include_str!("script/stream.js"),
    include_str!("script/wiring.js"),
    "</script>\n</body>\n</html>\n",
);
