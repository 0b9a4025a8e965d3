//! Addresses that Telegram accepts for a `text_link`, and the display of others. Called by [`mod@super::render`].

/// Returns the address if Telegram accepts it as a link. For a wrong one it refuses the whole message, so this check
/// is stricter than Telegram's. `mailto:` is not accepted there: it is read as user and host of a web address.
pub(super) fn target(url: &str) -> Option<String> {
    let url = url.trim();
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let (scheme, rest) = url.split_once(':')?;
    let rest = rest.strip_prefix("//")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let accepted = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => is_web_host(authority),
        "tg" => {
            !authority.is_empty()
                && authority.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        }
        _ => false,
    };
    accepted.then(|| url.to_owned())
}

/// Returns the text to show in parentheses after a link with an unacceptable address; `None` for anchors and inline
/// data.
pub(super) fn visible(url: &str) -> Option<&str> {
    let url = url.trim();
    if url.starts_with('#') || starts_with_scheme(url, "data:") {
        return None;
    }
    let shown = if starts_with_scheme(url, "mailto:") {
        // Telegram links a bare address by itself.
        url["mailto:".len()..].split('?').next().unwrap_or_default()
    } else {
        url
    };
    (!shown.is_empty()).then_some(shown)
}

fn starts_with_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

fn is_web_host(authority: &str) -> bool {
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    let port_fits =
        port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    let labels_fit = host.split('.').all(|label| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    });
    port_fits && labels_fit && host.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_telegram_takes_become_links() {
        let taken = [
            "https://example.com",
            "HTTP://example.com:8080/a?b=c#d",
            "https://пример.рф/путь",
            "tg://user?id=42",
            "http://127.0.0.1/",
        ];
        for url in taken {
            assert_eq!(target(url).as_deref(), Some(url));
        }
        let refused = [
            "",
            "example.com",
            "/path",
            "#a",
            "ftp://example.com",
            "javascript:alert(1)",
            "mailto:a@b.c",
            "http://",
            "http://localhost/",
            "https://exa mple.com",
            "http://a.b:99999",
            "http://a.b:",
            "http://.",
            "http://a..b",
            "http://user@example.com",
            "http://[::1]/",
            "tg://",
            "https:example.com",
        ];
        for url in refused {
            assert_eq!(target(url), None, "{url}");
        }
    }

    #[test]
    fn refused_addresses_stay_visible() {
        assert_eq!(visible("ftp://example.com"), Some("ftp://example.com"));
        assert_eq!(visible("mailto:a@b.c?subject=x"), Some("a@b.c"));
        assert_eq!(visible("#part"), None);
        assert_eq!(visible("data:image/png;base64,AAAA"), None);
        assert_eq!(visible(""), None);
    }
}
