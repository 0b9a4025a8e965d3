//! Compact form of a text's vector: one byte per number, with a common scale.

/// A vector of length 1, accurate to a hundredth.
#[derive(Debug, Clone, PartialEq)]
pub struct ByteVector {
    /// Factor for each number; more than 0.
    pub scale: f32,
    /// Numbers from -127 to 127.
    pub numbers: Vec<i8>,
}

impl ByteVector {
    /// Converts a vector to the nearest compact one.
    #[must_use]
    pub fn of(vector: &[f32]) -> Self {
        let most = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = most.max(f32::MIN_POSITIVE) / f32::from(i8::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "it is clamped")]
        let byte = |number: &f32| (number / scale).round().clamp(-127.0, 127.0) as i8;
        Self { scale, numbers: vector.iter().map(byte).collect() }
    }

    /// Returns the cosine of the angle between this vector and another one, given by its scale and numbers. Both must have
    /// the same length.
    #[must_use]
    pub fn cosine(&self, scale: f32, numbers: &[i8]) -> f32 {
        // Integers in blocks of fixed size compile to a few SIMD instructions.
        const AT_ONCE: usize = 16;
        let (mine, rest) = self.numbers.as_chunks::<AT_ONCE>();
        let (others, other_rest) = numbers.as_chunks::<AT_ONCE>();
        let mut sums = [0_i32; AT_ONCE];
        for (one, other) in mine.iter().zip(others) {
            for at in 0..AT_ONCE {
                sums[at] += i32::from(i16::from(one[at]) * i16::from(other[at]));
            }
        }
        let rest = rest.iter().zip(other_rest).map(|(one, other)| i32::from(*one) * i32::from(*other));
        let sum = sums.into_iter().chain(rest).sum::<i32>();
        #[expect(clippy::cast_precision_loss, reason = "a hundredth does not matter")]
        let sum = sum as f32;
        sum * self.scale * scale
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(vector: &[f32]) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        vector.iter().map(|x| x / length).collect()
    }

    proptest! {
        #[test]
        fn a_cosine_of_bytes_is_that_of_the_numbers(
            (one, other) in (1..100_usize).prop_flat_map(|size| {
                let vector = || prop::collection::vec(-1.0..1.0_f32, size);
                (vector(), vector())
            }),
        ) {
            let (one, other) = (unit(&one), unit(&other));
            let wanted: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
            let kept = ByteVector::of(&other);
            let found = ByteVector::of(&one).cosine(kept.scale, &kept.numbers);
            prop_assert!((wanted - found).abs() < 0.03, "{wanted} {found}");
        }
    }

    #[test]
    fn a_vector_of_nothing_is_no_fault() {
        let none = ByteVector::of(&[0.0, 0.0]);
        assert_eq!(none.numbers, [0, 0]);
        assert_eq!(none.cosine(none.scale, &none.numbers), 0.0);
        assert_eq!(ByteVector::of(&[]).numbers, Vec::<i8>::new());
    }
}
