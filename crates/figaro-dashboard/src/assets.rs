//! Style, script and icon of the pages. They are in the program: the dashboard works without a network.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::error::DashboardError;

/// Files by name, with their types.
const ASSETS: [(&str, &str, &str); 4] = [
    ("dashboard.css", "text/css; charset=utf-8", include_str!("../assets/dashboard.css")),
    ("dashboard.js", "text/javascript; charset=utf-8", include_str!("../assets/dashboard.js")),
    ("mini-app.js", "text/javascript; charset=utf-8", include_str!("../assets/mini-app.js")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
];

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    ASSETS.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
});

/// Returns the version of the files, which their addresses contain: browsers keep a file for ever.
pub(crate) fn version() -> &'static str {
    &VERSION
}

/// Answers with a file.
pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, DashboardError> {
    let found = ASSETS.iter().find(|(one, ..)| *one == name);
    let (_, kind, text) = found.ok_or(DashboardError::NotFound)?;
    let headers = [(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "max-age=31536000, immutable")];
    Ok((headers, *text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_small() {
        let bytes: usize = ASSETS.iter().map(|(_, _, text)| text.len()).sum();
        assert!(bytes < 40 << 10, "{bytes}");
    }
}
