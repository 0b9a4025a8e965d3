//! Content Security Policy of the answers.

use axum::http::HeaderValue;

/// Web clients of Telegram, which show Mini Apps in a frame.
const WEB_CLIENTS: &str = "https://*.telegram.org";

/// The pages load and send nothing but from and to their own address, and run no script within a page.
macro_rules! policy {
    ($($ancestors:literal)?) => {
        concat!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; ",
            "form-action 'self'; base-uri 'none'; frame-ancestors ",
            $($ancestors)?
        )
    };
}

/// The policy of pages that stand in no frame.
pub(crate) const UNFRAMED: HeaderValue = HeaderValue::from_static(policy!("'none'"));

/// Returns the policy of pages that clients of Telegram may show in a frame. `local` is the origin of a client on this machine.
/// `None` if that is no origin.
pub(crate) fn framed(local: Option<&str>) -> Option<HeaderValue> {
    let policy = format!("{}{WEB_CLIENTS} {}", policy!(), local.unwrap_or_default());
    HeaderValue::from_str(policy.trim_end()).ok()
}
