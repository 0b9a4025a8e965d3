//! The vector of a text: each of its words points in a direction of its own, whatever its case. A few words mean much the same:
//! they point in one direction.

/// How many numbers a vector has.
const DIMENSIONS: usize = 256;
/// Services do not all give vectors of length 1, and whoever asks must not count on it.
const LENGTH: f32 = 3.0;

/// Words that mean much the same, so that a test has texts that are near and share no word.
const ALIKE: [&[&str]; 2] = [&["sugar", "cake", "sweets"], &["car", "vehicle"]];

/// The vector of a text. Of texts with the same words it is the same, and of texts that share words it is near.
pub(super) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    // A text without words has a direction too.
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

/// FNV-1a: the same on every machine.
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
