//! Vectors of a chat's newest messages in memory, a row for each position in the index, within a limit.

use figaro_domain::vector::ByteVector;

/// Memory limit of the rows of a chat, in bytes: some 40,000 messages with 384 numbers each, or 10,000 with 1,536.
const MAX_BYTES: usize = 16 << 20;
/// Rows added at a time.
const ROWS: usize = 256;
/// Scale of a row whose message has no vector yet.
const NONE: f32 = 0.0;
/// Scale of a row whose message never gets a vector.
const NEVER: f32 = -1.0;

/// Vectors of the newest messages of an index, all of one model.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// Numbers of each vector; 0 before the first.
    dimensions: usize,
    /// Position in the index of the first row.
    first: usize,
    scales: Vec<f32>,
    numbers: Vec<i8>,
}

impl Vectors {
    /// Sets the vector of the message at a position. Ignores one with other dimensions, and one of a message too old to
    /// be kept.
    pub(crate) fn set(&mut self, at: usize, vector: &ByteVector) {
        if self.dimensions == 0 {
            self.dimensions = vector.numbers.len();
            self.numbers = vec![0; self.scales.len() * self.dimensions];
        }
        if vector.numbers.is_empty() || vector.numbers.len() != self.dimensions {
            return;
        }
        if let Some(row) = self.row(at) {
            self.scales[row] = vector.scale;
            self.numbers[row * self.dimensions..][..self.dimensions].copy_from_slice(&vector.numbers);
        }
    }

    /// Removes the vector of an edited message.
    pub(crate) fn forget(&mut self, at: usize) {
        if let Some(scale) = at.checked_sub(self.first).and_then(|row| self.scales.get_mut(row)) {
            *scale = NONE;
        }
    }

    /// Marks the message at a position as never getting a vector.
    pub(crate) fn leave_out(&mut self, at: usize) {
        if let Some(row) = self.row(at) {
            self.scales[row] = NEVER;
        }
    }

    /// Returns `true` if the message at a position, of `messages`, may get a vector: it has none, is not marked as never
    /// getting one, and is not too old.
    #[must_use]
    pub(crate) fn lacks(&self, at: usize, messages: usize) -> bool {
        let row = at.checked_sub(self.first);
        let has_none = row.is_some_and(|row| self.scales.get(row).is_none_or(|scale| *scale == NONE));
        has_none && at + self.most() >= messages
    }

    /// Returns the similarity of each of `messages` messages to a vector: the cosine of the angle between them, 0 for
    /// those without.
    #[must_use]
    pub(crate) fn cosines(&self, asked: &ByteVector, messages: usize) -> Vec<f32> {
        let mut cosines = vec![0.0; messages];
        if self.dimensions == 0 || asked.numbers.len() != self.dimensions {
            return cosines;
        }
        let rows = self.numbers.chunks_exact(self.dimensions).zip(&self.scales);
        for (cosine, (numbers, scale)) in cosines.iter_mut().skip(self.first).zip(rows) {
            if *scale > NONE {
                *cosine = asked.cosine(*scale, numbers);
            }
        }
        cosines
    }

    /// Returns the number of messages with a vector.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.scales.iter().filter(|scale| **scale > NONE).count()
    }

    /// Returns `true` if no message has a vector.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns their approximate memory use in bytes.
    #[must_use]
    pub(crate) const fn bytes(&self) -> usize {
        self.numbers.capacity() + self.scales.capacity() * size_of::<f32>()
    }

    /// Returns the maximum number of rows.
    fn most(&self) -> usize {
        MAX_BYTES / (self.dimensions + size_of::<f32>())
    }

    /// Returns the row of a position, added if needed; `None` for one that is too old. The oldest rows are dropped for
    /// it.
    fn row(&mut self, at: usize) -> Option<usize> {
        let most = self.most();
        if at >= self.first + most {
            // Drops some more than needed, so that not every new message moves all rows.
            let first = at + 1 - most + most / 16;
            let gone = (first - self.first).min(self.scales.len());
            drop(self.scales.drain(..gone));
            drop(self.numbers.drain(..gone * self.dimensions));
            self.first = first;
        }
        let row = at.checked_sub(self.first)?;
        if row >= self.scales.len() {
            let rows = (row + 1).next_multiple_of(ROWS);
            self.scales.reserve_exact(rows - self.scales.len());
            self.scales.resize(row + 1, NONE);
            self.numbers.reserve_exact((rows * self.dimensions).saturating_sub(self.numbers.len()));
            self.numbers.resize((row + 1) * self.dimensions, 0);
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: &[i8]) -> ByteVector {
        ByteVector { scale: 0.01, numbers: numbers.to_vec() }
    }

    #[test]
    fn what_lacks_a_vector_is_told_until_it_has_one_or_gets_none() {
        let mut vectors = Vectors::default();
        assert!((0..5).all(|at| vectors.lacks(at, 5)));
        vectors.leave_out(0);
        vectors.set(3, &vector(&[100, 0]));
        vectors.set(1, &vector(&[1, 2, 3]));
        vectors.set(2, &vector(&[]));
        let lacking: Vec<usize> = (0..5).filter(|at| vectors.lacks(*at, 5)).collect();
        assert_eq!((lacking, vectors.len()), (vec![1, 2, 4], 1));
        assert_eq!(vectors.cosines(&vector(&[100, 0]), 5), [0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(vectors.cosines(&vector(&[1]), 5), [0.0; 5]);
    }

    #[test]
    fn the_newest_are_kept_within_the_bound_in_whichever_order_they_come() {
        const DIMENSIONS: usize = 4_000;
        let most = MAX_BYTES / (DIMENSIONS + 4);
        let one = vector(&[1; DIMENSIONS]);
        let messages = 3 * most;
        let mut rising = Vectors::default();
        (0..messages).for_each(|at| rising.set(at, &one));
        let mut falling = Vectors::default();
        (0..messages).rev().for_each(|at| falling.set(at, &one));
        for vectors in [rising, falling] {
            assert!(vectors.len() >= most * 7 / 8 && vectors.bytes() <= MAX_BYTES + ROWS * 4_004);
            assert!(vectors.cosines(&one, messages)[messages - 1] > 0.0);
            assert!(!vectors.lacks(0, messages), "too old");
            let lacking = (0..messages).filter(|at| vectors.lacks(*at, messages)).count();
            assert_eq!(lacking, 0, "what has left does not come back");
            assert!(vectors.lacks(messages, messages + 1));
        }
    }
}
