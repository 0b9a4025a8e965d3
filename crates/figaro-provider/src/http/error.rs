//! Failures of providers as [`ProviderError`]s: HTTP responses, transport, and errors within a stream.

use std::error::Error as _;
use std::time::Duration;

use chrono::DateTime;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::ProviderError;
use figaro_base::secret::Redactor;
use figaro_base::system::plain;
use figaro_base::text::one_line;

/// Maximum number of bytes read from the body of an error.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Maximum number of characters kept of a provider's message.
const MAX_MESSAGE_CHARS: usize = 300;

/// Phrases of servers for a conversation that does not fit.
const TOO_LONG: [&str; 4] = [
    "maximum context length",
    "available context size",
    "than the context length",
    "maximum number of tokens",
];

/// Classifies an HTTP response other than success.
pub(crate) fn from_http(status: StatusCode, headers: &HeaderMap, body: &str) -> ProviderError {
    let said = ErrorReport::in_body(status, body);
    let is_unrouted = status == StatusCode::NOT_FOUND && no_route(&said.message, body);
    let by_status = || if is_unrouted { ErrorClass::WrongAddress } else { by_status(status) };
    let class = said.class().unwrap_or_else(by_status);
    class.error(said.message, retry_after(headers).or(said.retry_after))
}

/// Returns `true` if a server has nothing at the path, rather than no such model.
fn no_route(message: &str, body: &str) -> bool {
    const WORDS: [&str; 6] =
        ["page not found", "cannot post", "no route", "route not found", "invalid url", "unknown path"];
    let message = message.to_lowercase();
    body.trim_start().starts_with('<')
        || message.trim_end_matches('.') == "not found"
        || WORDS.iter().any(|words| message.contains(words))
}

/// Classifies an `error` event or the `error` of a failed response. The provider began well, so an unexplained
/// failure counts as its own.
pub(crate) fn from_stream(error: &Value) -> ProviderError {
    let said = ErrorReport::in_json(error).unwrap_or_else(|| ErrorReport::only("the answer failed".into()));
    let class = said.class().or_else(|| said.status.map(by_status)).or_else(|| said.by_words());
    class.unwrap_or(ErrorClass::Unavailable).error(said.message, said.retry_after)
}

/// Returns the failure that a value reports in place of a part of the answer, if any. Services and the gateways in
/// front of them each use their own shape.
pub(crate) fn told(value: &Value) -> Option<ProviderError> {
    let fields = value.as_object()?;
    let is_failed = |word: &str| word == "error" || word.ends_with("_error") || word.ends_with("Exception");
    let says = |field: &str| value[field].as_str().is_some_and(is_failed);
    let is_part = ["choices", "candidates", "output"].iter().any(|field| value[field].is_array());
    match fields.get("error") {
        Some(error) if is_part && says_nothing(error) => {}
        Some(error) if error.is_object() => return Some(from_stream(error)),
        Some(Value::String(text)) if !text.is_empty() => return Some(from_stream(value)),
        _ if says("object") || says("type") => return Some(from_stream(value)),
        _ => {}
    }
    if is_part {
        return None;
    }
    let listed = [&value["errors"][0], &value["detail"][0], &value["base_resp"]];
    let is_listed =
        |error: &&&Value| error.is_string() || ErrorReport::has_code(error) || error["msg"].is_string();
    if let Some(error) = listed.iter().find(is_listed) {
        return Some(from_stream(error));
    }
    let detail = &value["detail"];
    if detail.is_object() || detail.as_str().is_some_and(|text| !text.is_empty()) {
        return Some(from_stream(detail));
    }
    let is_failure = value["error"] == true || value["success"] == false || ErrorReport::has_code(value);
    let has_words = WORDS.iter().any(|name| value[*name].as_str().is_some_and(|words| !words.is_empty()));
    (is_failure && has_words).then(|| from_stream(value))
}

/// Returns `true` if an `error` field next to a part of an answer is empty.
pub(crate) fn says_nothing(error: &Value) -> bool {
    match error {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.values().all(says_nothing),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

/// Classifies a failure of the connection.
pub(crate) fn from_reqwest(error: &reqwest::Error) -> ProviderError {
    if error.is_builder() {
        return ProviderError::Refused(format!("the base URL is not usable: {}", root_cause(error)));
    }
    ProviderError::Unavailable(root_cause(error))
}

/// Reads and classifies a response other than success. The status counts even if the body is long, late or broken.
pub(crate) async fn refusal(mut response: reqwest::Response) -> ProviderError {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    from_http(response.status(), response.headers(), &String::from_utf8_lossy(&body))
}

/// Makes an error fit for logs and people: without secrets, in one short line.
pub(crate) fn presentable(error: ProviderError, redactor: &Redactor) -> ProviderError {
    let short = |text: String| one_line(&redactor.clean(&text), MAX_MESSAGE_CHARS);
    match error {
        ProviderError::Unauthorized(text) => ProviderError::Unauthorized(short(text)),
        ProviderError::UnknownModel(text) => ProviderError::UnknownModel(short(text)),
        ProviderError::NoQuota(text) => ProviderError::NoQuota(short(text)),
        ProviderError::RateLimited { retry_after, message } => {
            ProviderError::RateLimited { retry_after, message: short(message) }
        }
        ProviderError::Unavailable(text) => ProviderError::Unavailable(short(text)),
        ProviderError::TooLong(text) => ProviderError::TooLong(short(text)),
        ProviderError::Unreadable(text) => ProviderError::Unreadable(short(text)),
        ProviderError::Garbled(text) => ProviderError::Garbled(short(text)),
        ProviderError::Refused(text) => ProviderError::Refused(short(text)),
        ProviderError::Foreign(text) => ProviderError::Foreign(short(text)),
        ProviderError::WrongAddress(text) => ProviderError::WrongAddress(short(text)),
        ProviderError::Cut(text) => ProviderError::Cut(short(text)),
        ProviderError::Stalled(limit) => ProviderError::Stalled(limit),
    }
}

#[derive(Debug, Clone, Copy)]
enum ErrorClass {
    Unauthorized,
    UnknownModel,
    NoQuota,
    RateLimited,
    Unavailable,
    TooLong,
    Garbled,
    Refused,
    WrongAddress,
}

impl ErrorClass {
    fn error(self, message: String, retry_after: Option<Duration>) -> ProviderError {
        match self {
            Self::Unauthorized => ProviderError::Unauthorized(message),
            Self::UnknownModel => ProviderError::UnknownModel(message),
            Self::NoQuota => ProviderError::NoQuota(message),
            Self::RateLimited => ProviderError::RateLimited { retry_after, message },
            // A service that names a time to return is overloaded.
            Self::Unavailable if retry_after.is_some() => ProviderError::RateLimited { retry_after, message },
            Self::Unavailable => ProviderError::Unavailable(message),
            Self::TooLong => ProviderError::TooLong(message),
            Self::Garbled => ProviderError::Garbled(message),
            Self::Refused => ProviderError::Refused(message),
            Self::WrongAddress => ProviderError::WrongAddress(message),
        }
    }
}

fn by_status(status: StatusCode) -> ErrorClass {
    match status.as_u16() {
        401 | 403 => ErrorClass::Unauthorized,
        402 => ErrorClass::NoQuota,
        404 => ErrorClass::UnknownModel,
        // The address exists, but is not this service.
        405 => ErrorClass::WrongAddress,
        408 | 409 | 425 => ErrorClass::Unavailable,
        413 => ErrorClass::TooLong,
        429 => ErrorClass::RateLimited,
        500.. => ErrorClass::Unavailable,
        _ => ErrorClass::Refused,
    }
}

/// Error in the provider's own words.
#[derive(Debug)]
struct ErrorReport {
    /// Code, as a word or a number.
    code: String,
    /// Kind of the error, or the reason or quota that Google names.
    kind: String,
    /// Code or status as an HTTP status, if it stands for a failure.
    status: Option<StatusCode>,
    message: String,
    retry_after: Option<Duration>,
    /// `true` if the service includes output of the model that it could not read.
    failed_generation: bool,
}

/// Error classes by parts of an error's kind or code.
const KINDS: [(&[&str], ErrorClass); 7] = [
    (&["rate_limit", "ratelimit", "too_many_requests", "exhausted", "throttl"], ErrorClass::RateLimited),
    (
        &["overload", "unavailable", "capacity", "timeout", "internal", "server_error"],
        ErrorClass::Unavailable,
    ),
    (&["authentication", "unauth", "permission", "api_key"], ErrorClass::Unauthorized),
    (&["not_found"], ErrorClass::UnknownModel),
    (&["quota", "billing", "payment", "insufficient"], ErrorClass::NoQuota),
    (&["too_large", "too_long"], ErrorClass::TooLong),
    (&["invalid", "bad_request", "validation", "failed_precondition"], ErrorClass::Refused),
];

/// Fields that hold an error's code.
const CODES: [&str; 6] = ["code", "status", "status_code", "statusCode", "error_code", "http_status"];
/// Fields that hold an error's message.
const WORDS: [&str; 10] = [
    "message",
    "msg",
    "error",
    "detail",
    "error_description",
    "error_message",
    "error_msg",
    "errorMsg",
    "status_msg",
    "title",
];
/// Phrases of services for unreadable output of the model.
const GARBLED: [&str; 6] = [
    "tool_use_failed",
    "tool call parse",
    "failed to parse tool call",
    "failed to call a function",
    "tool_call_parse_error",
    "unexpected tokens remaining in message header",
];

impl ErrorReport {
    fn only(message: String) -> Self {
        Self {
            code: String::new(),
            kind: String::new(),
            status: None,
            message,
            retry_after: None,
            failed_generation: false,
        }
    }

    /// Reads an error body: `{"error": {…}}` as from OpenAI, the same unwrapped or in a list, or `{"detail": "…"}`.
    /// An HTML page is ignored.
    fn in_body(status: StatusCode, body: &str) -> Self {
        let mut json = serde_json::from_str::<Value>(body).unwrap_or_default();
        if let Some(first) = json.get_mut(0) {
            json = first.take();
        }
        let found = ["error", "detail"].iter().find_map(|key| json.get(key)).and_then(Self::in_json);
        if let Some(said) = found.or_else(|| Self::in_json(&json)) {
            return said;
        }
        let body = body.trim();
        match body.is_empty() || body.starts_with('<') {
            true => Self::only(format!("HTTP {status}")),
            false => Self::only(format!("HTTP {status}: {body}")),
        }
    }

    fn in_json(error: &Value) -> Option<Self> {
        let field = |name: &&str| match &error[*name] {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let words = |name: &&str| error[*name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let mut said = Self {
            code: field(&"code").unwrap_or_default(),
            kind: words(&"type").unwrap_or_default(),
            status: CODES.iter().filter_map(field).find_map(|code| failed_status(&code)),
            message: WORDS.iter().find_map(words).unwrap_or_default(),
            retry_after: google_detail(error, "/retryDelay").and_then(seconds),
            failed_generation: error["failed_generation"].is_string(),
        };
        if said.kind.is_empty() {
            let kind = google_detail(error, "/reason").or(google_detail(error, "/violations/0/quotaId"));
            said.kind = kind.or(error["status"].as_str()).unwrap_or_default().to_owned();
        }
        // A router's own message only says that a provider behind it failed.
        if let Some(behind) = error["metadata"]["raw"].as_str() {
            said.message = format!("{}: {behind}", said.message);
        }
        match error {
            Value::String(text) if !text.is_empty() => Some(Self::only(text.clone())),
            _ if !said.message.is_empty() => Some(said),
            _ if !said.code.is_empty() => Some(Self { message: said.code.clone(), ..said }),
            _ => None,
        }
    }

    /// Returns `true` if a value has the code of a failure: a number other than success, or a word.
    fn has_code(value: &Value) -> bool {
        CODES.iter().any(|name| match &value[*name] {
            Value::Number(code) => code.as_u64().is_none_or(|code| code != 0 && !(100..400).contains(&code)),
            Value::String(word) if *name == "code" => {
                !matches!(word.to_ascii_lowercase().as_str(), "" | "0" | "200" | "ok" | "success")
            }
            Value::String(word) => failed_status(word).is_some(),
            _ => false,
        })
    }

    /// Returns the class by the words of an error without a known code.
    fn by_words(&self) -> Option<ErrorClass> {
        let [kind, code, message] =
            [&self.kind, &self.code, &self.message].map(|words| words.to_ascii_lowercase());
        let has = |word: &&str| kind.contains(word) || code.contains(word);
        let known = KINDS.iter().find(|(words, _)| words.iter().any(has)).map(|(_, class)| *class);
        let is_limit = message.contains("rate limit") || message.contains("too many requests");
        known.or(is_limit.then_some(ErrorClass::RateLimited))
    }

    fn is_garbled(&self) -> bool {
        let message = self.message.to_lowercase();
        GARBLED.iter().any(|words| message.contains(words) || self.code == *words)
    }

    /// Returns the class of a known code, which is more precise than the status. An empty account comes as 429, but
    /// only its owner can help; waiting cannot.
    fn class(&self) -> Option<ErrorClass> {
        let class = match self.code.as_str() {
            _ if self.failed_generation => ErrorClass::Garbled,
            "tool_use_failed" | "output_parse_failed" | "json_validate_failed" => ErrorClass::Garbled,
            _ if self.is_garbled() => ErrorClass::Garbled,
            "invalid_api_key" => ErrorClass::Unauthorized,
            "model_not_found" => ErrorClass::UnknownModel,
            "insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active" => ErrorClass::NoQuota,
            "rate_limit_exceeded" => ErrorClass::RateLimited,
            "context_length_exceeded" | "string_above_max_length" => ErrorClass::TooLong,
            "server_error" | "server_is_overloaded" | "slow_down" => ErrorClass::Unavailable,
            // Compatible servers report it in the message only.
            _ if self.kind == "exceed_context_size_error" => ErrorClass::TooLong,
            _ if TOO_LONG.iter().any(|words| self.message.contains(words)) => ErrorClass::TooLong,
            _ if self.kind == "insufficient_quota" => ErrorClass::NoQuota,
            // Google names a bad key only in the details of a bad request, and an exhausted quota only in those of a
            // limit. If the quota is per day, waiting a minute is pointless.
            _ if self.kind == "API_KEY_INVALID" => ErrorClass::Unauthorized,
            _ if self.kind.contains("PerDay") => ErrorClass::NoQuota,
            _ if self.message.contains("credits are depleted") => ErrorClass::NoQuota,
            _ => return None,
        };
        Some(class)
    }
}

fn failed_status(code: &str) -> Option<StatusCode> {
    let status = code.parse::<StatusCode>().ok()?;
    (status.is_client_error() || status.is_server_error()).then_some(status)
}

/// Returns the first value at this path in Google's error details.
fn google_detail<'a>(error: &'a Value, pointer: &str) -> Option<&'a str> {
    let mut details = error["details"].as_array()?.iter();
    details.find_map(|detail| detail.pointer(pointer)?.as_str())
}

/// Parses a duration in Google's format: `3.5s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

/// Reads `retry-after-ms`, else `Retry-After` in seconds or as a date. A date is relative to the date of the
/// response.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| header(name)?.parse::<f64>().ok();
    if let Some(ms) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    if let Some(seconds) = number("retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |name: &str| DateTime::parse_from_rfc2822(header(name)?).ok();
    let wait = date("retry-after")? - date("date")?;
    Some(wait.to_std().unwrap_or_default())
}

/// Returns the innermost cause, without the URL, which may hold a secret.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(|cause| cause.source()) {
        cause = Some(deeper);
    }
    match cause {
        Some(cause) => plain(cause),
        None if error.is_timeout() => "it took too long".into(),
        None => "the request failed".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limited(retry_after: Option<Duration>, message: &str) -> ProviderError {
        ProviderError::RateLimited { retry_after, message: message.into() }
    }

    #[test]
    fn statuses_and_codes_are_classified() {
        let said = |code: &str| json!({"error": {"message": "m", "type": "t", "code": code}}).to_string();
        let m = || "m".to_owned();
        let cases = [
            (401, said("invalid_api_key"), ProviderError::Unauthorized(m())),
            (402, said(""), ProviderError::NoQuota(m())),
            (401, said(""), ProviderError::Unauthorized(m())),
            (403, said("unsupported_country"), ProviderError::Unauthorized(m())),
            (404, said(""), ProviderError::UnknownModel(m())),
            (400, said("model_not_found"), ProviderError::UnknownModel(m())),
            (429, said("rate_limit_exceeded"), limited(None, "m")),
            (429, said("insufficient_quota"), ProviderError::NoQuota(m())),
            (400, said("context_length_exceeded"), ProviderError::TooLong(m())),
            (413, said(""), ProviderError::TooLong(m())),
            (400, said("invalid_prompt"), ProviderError::Refused(m())),
            (422, said("anything"), ProviderError::Refused(m())),
            (408, said(""), ProviderError::Unavailable(m())),
            (409, said(""), ProviderError::Unavailable(m())),
            (425, said(""), ProviderError::Unavailable(m())),
            (500, said("server_error"), ProviderError::Unavailable(m())),
            (529, said(""), ProviderError::Unavailable(m())),
        ];
        for (status, body, expected) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(from_http(status, &HeaderMap::new(), &body), expected, "{status} {body}");
        }
    }

    #[test]
    fn bodies_of_every_shape_are_read() {
        let cases = [
            (502, "<html><b>Bad</b></html>", ProviderError::Unavailable("HTTP 502 Bad Gateway".into())),
            (404, "<html><b>Lost</b></html>", ProviderError::WrongAddress("HTTP 404 Not Found".into())),
            (404, r#"{"detail":"Not Found"}"#, ProviderError::WrongAddress("Not Found".into())),
            (
                404,
                "404 page not found",
                ProviderError::WrongAddress("HTTP 404 Not Found: 404 page not found".into()),
            ),
            (
                405,
                r#"{"detail":"Method Not Allowed"}"#,
                ProviderError::WrongAddress("Method Not Allowed".into()),
            ),
            (
                404,
                r#"{"error":{"message":"model m not found"}}"#,
                ProviderError::UnknownModel("model m not found".into()),
            ),
            (
                400,
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"code\":\"tool_use_failed\"}"}}}"#,
                ProviderError::Garbled("Provider returned error: {\"code\":\"tool_use_failed\"}".into()),
            ),
            (
                422,
                r#"{"error":{"message":"Input validation error: tool call parse failed"}}"#,
                ProviderError::Garbled("Input validation error: tool call parse failed".into()),
            ),
            (404, "no such page", ProviderError::UnknownModel("HTTP 404 Not Found: no such page".into())),
            (429, "", limited(None, "HTTP 429 Too Many Requests")),
            (400, r#"{"detail":"bad tool"}"#, ProviderError::Refused("bad tool".into())),
            (400, r#"{"error":"bad tool"}"#, ProviderError::Refused("bad tool".into())),
            (400, r#"{"message":"bad","code":400}"#, ProviderError::Refused("bad".into())),
            (
                400,
                r#"{"message":"this model's maximum context length is 8192"}"#,
                ProviderError::TooLong("this model's maximum context length is 8192".into()),
            ),
            (400, "[]", ProviderError::Refused("HTTP 400 Bad Request: []".into())),
            (
                400,
                r#"{"error":{"message":"m","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<f>"}}"#,
                ProviderError::Garbled("m".into()),
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error"}}"#,
                ProviderError::TooLong("m".into()),
            ),
            (
                502,
                r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"busy"}}}"#,
                ProviderError::Unavailable("Provider returned error: busy".into()),
            ),
        ];
        for (status, body, expected) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(from_http(status, &HeaderMap::new(), body), expected, "{status} {body}");
        }
    }

    #[test]
    fn googles_details_are_read() {
        let body = |code: u16, message: &str, details: Value| {
            let error = json!({"code": code, "message": message, "status": "S", "details": details});
            json!([{"error": error}]).to_string()
        };
        let quota = |id: &str| json!([{"violations": [{"quotaId": id}]}, {"retryDelay": "34.5s"}]);
        let too_long = "The input token count (9) exceeds the maximum number of tokens allowed (8).";
        let depleted = "Your prepayment credits are depleted.";
        let wait = Some(Duration::from_millis(34_500));
        let cases = [
            (400, "m", json!([{"reason": "API_KEY_INVALID"}]), ProviderError::Unauthorized("m".into())),
            (400, "m", json!([{"fieldViolations": []}]), ProviderError::Refused("m".into())),
            (400, too_long, json!([]), ProviderError::TooLong(too_long.into())),
            (429, "m", quota("GenerateRequestsPerMinutePerProjectPerModel"), limited(wait, "m")),
            (429, "m", quota("GenerateRequestsPerDayPerProjectPerModel"), ProviderError::NoQuota("m".into())),
            (429, depleted, json!([]), ProviderError::NoQuota(depleted.into())),
        ];
        for (status, message, details, expected) in cases {
            let body = body(status, message, details);
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(from_http(status, &HeaderMap::new(), &body), expected, "{body}");
        }
    }

    #[test]
    fn errors_inside_a_stream_are_classified() {
        let cases = [
            (json!({"code": "server_error", "message": "m"}), ProviderError::Unavailable("m".into())),
            (json!({"code": "rate_limit_exceeded", "message": "m"}), limited(None, "m")),
            (json!({"code": "invalid_prompt", "message": "m"}), ProviderError::Refused("m".into())),
            (json!({"type": "invalid_request_error", "message": "m"}), ProviderError::Refused("m".into())),
            (json!({"type": "insufficient_quota", "message": "m"}), ProviderError::NoQuota("m".into())),
            (json!({"code": "context_length_exceeded", "message": "m"}), ProviderError::TooLong("m".into())),
            (json!({"code": "strange"}), ProviderError::Unavailable("strange".into())),
            (json!({"code": 429, "message": "m"}), limited(None, "m")),
            (json!({"code": "402", "message": "m"}), ProviderError::NoQuota("m".into())),
            (json!({"code": 400, "message": "m"}), ProviderError::Refused("m".into())),
            (json!({"code": 502, "message": "m"}), ProviderError::Unavailable("m".into())),
            (json!({"code": 7, "message": "m"}), ProviderError::Unavailable("m".into())),
            (json!({"type": "overloaded_error", "message": "m"}), ProviderError::Unavailable("m".into())),
            (
                json!({"type": "authentication_error", "message": "m"}),
                ProviderError::Unauthorized("m".into()),
            ),
            (json!({"type": "not_found_error", "message": "m"}), ProviderError::UnknownModel("m".into())),
            (json!({"status": "RESOURCE_EXHAUSTED", "message": "m"}), limited(None, "m")),
            (json!({"status": 529, "code": "busy", "message": "m"}), ProviderError::Unavailable("m".into())),
            (json!("Rate limit reached"), limited(None, "Rate limit reached")),
            (json!({"code": "tool_use_failed", "message": "m"}), ProviderError::Garbled("m".into())),
            (json!({"message": "m", "failed_generation": "<f>"}), ProviderError::Garbled("m".into())),
            (json!(null), ProviderError::Unavailable("the answer failed".into())),
        ];
        for (error, expected) in cases {
            assert_eq!(from_stream(&error), expected, "{error}");
        }
    }

    #[test]
    fn failures_in_place_of_an_answer_are_told_from_parts_of_one() {
        let down = || Some(ProviderError::Unavailable("m".into()));
        let refused = || Some(ProviderError::Refused("m".into()));
        let cases = [
            (json!({"error": {"message": "m", "code": 503}}), down()),
            (json!({"error": "m"}), down()),
            (json!({"error": "m", "status": 429}), Some(limited(None, "m"))),
            (json!({"error": true, "message": "m"}), down()),
            (json!({"error": {"message": "m"}, "choices": []}), down()),
            (json!({"type": "error", "code": "server_error", "message": "m"}), down()),
            (json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}), down()),
            (json!({"type": "invalid_request_error", "message": "m"}), refused()),
            (json!({"object": "error", "message": "m", "code": 400}), refused()),
            (json!({"message": "m", "code": 503}), down()),
            (json!({"message": "m", "statusCode": 429}), Some(limited(None, "m"))),
            (json!({"message": "m", "code": "ThrottlingException"}), Some(limited(None, "m"))),
            (json!({"detail": "m"}), down()),
            (json!({"detail": [{"msg": "m", "type": "value_error"}]}), down()),
            (json!({"success": false, "errors": [{"code": 7003, "message": "m"}]}), down()),
            (json!({"base_resp": {"status_code": 1002, "status_msg": "m"}, "choices": null}), down()),
            (json!({"base_resp": {"status_code": 0, "status_msg": ""}, "choices": null}), None),
            (json!({"choices": [], "code": 0, "message": "", "error": null}), None),
            (json!({"choices": [{"delta": {"content": "a"}}], "message": "m", "code": 500}), None),
            (json!({"message": {"role": "assistant", "content": "a"}, "error": ""}), None),
            (json!({"type": "response.created", "response": {"error": null}}), None),
            (json!({"code": "500", "msg": "m", "success": false}), down()),
            (json!({"choices": null, "error_code": 336003, "error_msg": "m"}), down()),
            (json!({"choices": [], "error": {}}), None),
            (json!({"choices": [], "error": {"message": null, "code": ""}}), None),
            (json!({"choices": [], "error": ""}), None),
            (json!({"error": {}}), Some(ProviderError::Unavailable("the answer failed".into()))),
            (json!({"message": "m", "code": 200}), None),
            (json!({"message": "still loading", "status": "loading"}), None),
            (json!({"candidates": [], "error": null}), None),
            (json!("error"), None),
        ];
        for (value, expected) in cases {
            assert_eq!(told(&value), expected, "{value}");
        }
    }

    #[test]
    fn a_wait_is_read_in_every_form() {
        type Headers = &'static [(&'static str, &'static str)];
        let cases: [(Headers, Option<u64>); 9] = [
            (&[("retry-after", "7")], Some(7000)),
            (&[("retry-after", "0.5")], Some(500)),
            (&[("retry-after", "9"), ("retry-after-ms", "1500")], Some(1500)),
            (
                &[
                    ("date", "Wed, 21 Oct 2026 07:28:00 GMT"),
                    ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"),
                ],
                Some(30_000),
            ),
            (
                &[
                    ("date", "Wed, 21 Oct 2026 07:28:00 GMT"),
                    ("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT"),
                ],
                Some(0),
            ),
            (&[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], None),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "soon")], None),
        ];
        for (pairs, expected) in cases {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers.collect()), expected, "{pairs:?}");
        }
    }

    #[test]
    fn messages_are_short_and_without_the_key() {
        let redactor = Redactor::new([&"sk-secret-key".into()]);
        let long = format!("wrong key sk-secret-key:\n{}", "x".repeat(5000));
        let ProviderError::Unauthorized(shown) = presentable(ProviderError::Unauthorized(long), &redactor)
        else {
            panic!("the class changed");
        };
        assert!(shown.starts_with("wrong key [secret]: xxx"), "{shown}");
        assert_eq!(shown.chars().count(), 300);
    }
}
