//! Vectors for texts, close to each other if the texts have similar meanings. They come from a model of a service, or
//! from one in a local folder. Used for search by meaning.

mod error;
#[cfg(feature = "local-embedder")]
pub mod local;
pub(super) mod service;

use std::fmt::Debug;

use async_trait::async_trait;

pub use error::EmbedError;

use figaro_base::text::estimate_tokens;

/// Model that computes vectors of texts.
#[async_trait]
pub trait Embedder: Debug + Send + Sync {
    /// Returns the name of the model, such as `openai:text-embedding-3-small`, or `local:` with the beginning of a
    /// hash. Only vectors of the same name can be compared.
    fn name(&self) -> &str;

    /// Returns `true` if the model runs in this process: texts stay here, and nothing is paid.
    fn is_local(&self) -> bool;

    /// Returns one vector of length 1 for each text, in order, all with the same number of dimensions. Accepts any
    /// number of texts. Of a text that is too long for the model, only the beginning counts. Dropping the future
    /// cancels the call.
    ///
    /// # Errors
    /// If any of the texts has no vector.
    async fn embed(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError>;
}

/// Purpose of a vector. Some models treat a question and its possible answers differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedPurpose {
    /// Text that a search is made for.
    Question,
    /// Text that a search can find.
    Passage,
}

/// Vectors of some texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedded {
    /// One vector per text, in order. The dot product of two is the cosine of the angle between them.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens of the texts, counted by the service or else estimated from above. Never 0 if anything was embedded.
    pub tokens: u64,
}

/// Maximum number of texts in a request to a service.
const MAX_TEXTS: usize = 64;
/// Maximum number of tokens in a request with several texts. A model on a machine without a graphics card reads about
/// this many within the timeout of a silent service.
const MAX_CALL_TOKENS: usize = 16_000;

/// Returns how many of these texts, from the first on, go into one request to a service: at least one, unless there
/// are none.
#[must_use]
pub fn texts_of_a_call(texts: &[&str]) -> usize {
    let mut sum = 0_usize;
    let fits = |text: &&&str| {
        sum += estimate_tokens(text).max(1);
        sum <= MAX_CALL_TOKENS
    };
    texts.iter().take(MAX_TEXTS).take_while(fits).count().max(1).min(texts.len())
}

/// Scales a vector to length 1; `None` if it has no direction.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a part of a vector of length 1")]
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_few_texts_and_few_tokens_but_one_however_long() {
        let (long, longer) = ("word ".repeat(7_000), "word ".repeat(20_000));
        let (long, longer) = (long.as_str(), longer.as_str());
        let cases = [
            (vec![], 0),
            (vec![""; 100], 64),
            (vec!["a"; 3], 3),
            (vec![longer, "a"], 1),
            (vec![long, long, long], 2),
            (vec!["a", longer], 1),
        ];
        for (texts, wanted) in cases {
            assert_eq!(texts_of_a_call(&texts), wanted, "{}", texts.len());
        }
    }

    #[test]
    fn a_vector_is_brought_to_length_1_if_it_has_a_direction() {
        let cases: [(&[f32], Option<&[f32]>); 6] = [
            (&[3.0, -4.0], Some(&[0.6, -0.8])),
            (&[1e-30, 0.0], Some(&[1.0, 0.0])),
            (&[1.5e38, 2e38], Some(&[0.6, 0.8])),
            (&[0.0, 0.0], None),
            (&[], None),
            (&[f32::NAN, 1.0], None),
        ];
        for (given, wanted) in cases {
            assert_eq!(unit(given.to_vec()).as_deref(), wanted, "{given:?}");
        }
        assert_eq!(unit(vec![f32::INFINITY, 1.0]), None);
    }
}
