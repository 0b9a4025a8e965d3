//! Pictures and sounds of the bot.

/// Content of a file that Telegram shows or plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Media {
    /// Picture: PNG, JPEG or WebP.
    Photo(Vec<u8>),
    /// Voice message: Opus in Ogg, MP3 or M4A.
    Voice(Vec<u8>),
}
