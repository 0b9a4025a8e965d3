//! Vectors of texts. Each word has its own direction, regardless of case. A few synonyms share one direction.

/// Length of a vector, in numbers.
const DIMENSIONS: usize = 256;
/// Weight of a word in a vector. It is not 1, as clients must not rely on normalised vectors.
const LENGTH: f32 = 3.0;

/// Groups of synonyms, so that tests have similar texts without a common word.
const ALIKE: [&[&str]; 2] = [&["sugar", "cake", "sweets"], &["car", "vehicle"]];

/// Returns the vector of a text. Texts with the same words have equal vectors, texts that share words similar ones.
pub(super) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    // A text without words needs a direction too.
    vector[0] = 0.1;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        let alike = ALIKE.iter().find(|alike| alike.contains(&word.as_str()));
        let hash = hash(alike.map_or(word.as_str(), |alike| alike[0]));
        let place = usize::try_from(hash % 255).unwrap_or_default() + 1;
        vector[place] += if hash & (1 << 40) == 0 { LENGTH } else { -LENGTH };
    }
    vector
}

/// Computes the FNV-1a hash, which is the same on every machine.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_near() {
        let cosine = |a: &str, b: &str| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            let (a, b) = (vector(a), vector(b));
            dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
        };
        assert!(cosine("Ann likes red apples", "apples: RED ones, ann!") > 0.6);
        assert!(cosine("Ann likes red apples", "the train leaves at nine").abs() < 0.3);
        assert!(cosine("No sugar for me", "Should I bake a cake?") > 0.15, "they share no word");
        assert_eq!(vector("  "), vector("?!"));
    }
}
