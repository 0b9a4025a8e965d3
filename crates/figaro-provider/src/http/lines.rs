//! JSON values that come one to a line, off a connection that cuts them anywhere. For providers that stream lines in
//! place of server-sent events.

use futures::{Stream, StreamExt, future, stream};
use serde_json::Value;
use tracing::debug;

use super::decode::Values;
use crate::ProviderError;

/// The longest line that is taken: no answer is longer, and memory is not the provider's to fill.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// The values of the lines, in order. A line that is not JSON is passed over; a last one that is not whole is an answer
/// that broke off, and so is a connection that fails.
pub(crate) fn json_lines<S, B, E>(bytes: S) -> Values
where
    S: Stream<Item = Result<B, E>> + Send + 'static,
    B: AsRef<[u8]> + Send + 'static,
    E: Send + 'static,
{
    let pieces = bytes.map(Some).chain(stream::once(future::ready(None)));
    let values = pieces.scan(Lines::default(), |lines, piece| {
        future::ready(Some(match piece {
            Some(Ok(piece)) => lines.more(piece.as_ref()),
            Some(Err(_)) => vec![Err(ProviderError::Cut("the connection broke".into()))],
            None => lines.end(),
        }))
    });
    values.flat_map(stream::iter).boxed()
}

/// The line that has begun.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    /// What these bytes complete.
    fn more(&mut self, bytes: &[u8]) -> Vec<Result<Value, ProviderError>> {
        let mut values = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.0.len() + piece.len() > MAX_LINE_BYTES {
                let told = format!("a line of the answer is longer than {MAX_LINE_BYTES} bytes");
                values.push(Err(ProviderError::Refused(told)));
                return values;
            }
            self.0.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                values.extend(value(&self.0).map(Ok));
                self.0.clear();
            }
        }
        values
    }

    /// A last line may lack its end.
    fn end(&mut self) -> Vec<Result<Value, ProviderError>> {
        let line = std::mem::take(&mut self.0);
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        let cut = |_| ProviderError::Cut("the answer ended within a line".into());
        vec![serde_json::from_slice(&line).map_err(cut)]
    }
}

fn value(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    let value = serde_json::from_slice(line).ok();
    if value.is_none() {
        debug!(bytes = line.len(), "a line that is not JSON was ignored");
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    type Told = Vec<Result<Value, ProviderError>>;

    fn read(pieces: Vec<Result<Vec<u8>, ()>>) -> Told {
        futures::executor::block_on(json_lines(stream::iter(pieces)).collect())
    }

    fn whole(text: &str) -> Told {
        read(vec![Ok(text.into())])
    }

    const TEXT: &str = "{\"a\":\"На 👩‍👧\"}\n\n  \r\nnot JSON\n[1,\"\\n\"]\r\n3";

    fn values() -> Told {
        vec![Ok(json!({"a": "На 👩‍👧"})), Ok(json!([1, "\n"])), Ok(json!(3))]
    }

    #[test]
    fn each_line_is_a_value() {
        let cut = || Err(ProviderError::Cut("the answer ended within a line".into()));
        let cases: [(&str, Told); 7] = [
            (TEXT, values()),
            ("", vec![]),
            ("\n \n\r\n", vec![]),
            ("{}\n{}", vec![Ok(json!({})), Ok(json!({}))]),
            ("{}\n{\"a\":", vec![Ok(json!({})), cut()]),
            ("{}\n{\"a\":\n{}\n", vec![Ok(json!({})), Ok(json!({}))]),
            ("{} {}\n[]\n", vec![Ok(json!([]))]),
        ];
        for (text, expected) in cases {
            assert_eq!(whole(text), expected, "{text:?}");
        }
        // Half a character.
        assert_eq!(read(vec![Ok(b"\"\xd0".to_vec())]), [cut()]);
        assert_eq!(read(vec![Ok(b"\"\xd0\"\n1\n".to_vec())]), [Ok(json!(1))]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(cuts in prop::collection::vec(0..=TEXT.len(), 0..20)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for to in cuts.into_iter().chain([TEXT.len()]) {
                pieces.push(Ok(TEXT.as_bytes()[from..to].to_vec()));
                from = to;
            }
            prop_assert_eq!(read(pieces), values());
        }
    }

    #[test]
    fn a_connection_that_breaks_cuts_the_answer() {
        let told = read(vec![Ok(b"1\n2".to_vec()), Err(())]);
        assert_eq!(told[..2], [Ok(json!(1)), Err(ProviderError::Cut("the connection broke".into()))]);
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let chunk = vec![b' '; 1024 * 1024];
        let mut lines = Lines::default();
        for _ in 0..4 {
            assert_eq!(lines.more(&chunk), []);
        }
        let told = lines.more(&chunk);
        assert!(matches!(told.as_slice(), [Err(ProviderError::Refused(_))]), "{told:?}");
        assert_eq!(lines.0.len(), MAX_LINE_BYTES);
    }
}
