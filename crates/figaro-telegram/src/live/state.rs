//! State of a turn's preview: the text of the current pass, its full parts, the status. Pure.

use std::collections::VecDeque;

use crate::outgoing::MESSAGE_UNITS;
use figaro_base::text::may_be_json;
use figaro_markup::{AnswerSplitter, Piece, is_rich};

#[derive(Debug)]
pub(super) struct PreviewState {
    pass: u64,
    pub(super) parts: AnswerSplitter,
    /// Full parts that are not sent yet.
    pub(super) ready: VecDeque<Piece>,
    /// Number of parts that are sent.
    pub(super) sent: usize,
    pub(super) status: Option<String>,
    /// `true` after Telegram refused a part of the pass or its outcome is unknown, or if the answer will be a rich
    /// message; the delivery handles the rest.
    pub(super) has_given_up: bool,
    /// `true` if the answer may become a rich message, which shows all of it.
    pub(super) may_be_rich: bool,
}

/// Key of a rendered preview: states with equal versions render the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreviewVersion {
    pass: u64,
    sent: usize,
    is_waiting: bool,
    has_given_up: bool,
    length: usize,
    status: Option<String>,
}

impl PreviewState {
    pub(super) fn new() -> Self {
        Self::of_pass(0)
    }

    fn of_pass(pass: u64) -> Self {
        let parts = AnswerSplitter::new(MESSAGE_UNITS);
        let (ready, status) = Default::default();
        Self { pass, parts, ready, sent: 0, status, has_given_up: false, may_be_rich: false }
    }

    pub(super) const fn may_be_rich(mut self, may: bool) -> Self {
        self.may_be_rich = may;
        self
    }

    /// Adds text of a pass. A new pass starts empty.
    pub(super) fn push(&mut self, pass: u64, text: &str, status: Option<String>) {
        if self.pass != pass {
            *self = Self::of_pass(pass).may_be_rich(self.may_be_rich);
        }
        self.parts.push(text);
        self.status = status;
    }

    /// Returns the next part that can be sent, with its index. Of an answer that will be a rich message, none is.
    pub(super) fn full_part(&mut self) -> Option<(usize, &Piece)> {
        // An answer that is a single JSON value becomes code when it is complete.
        let is_first = self.sent == 0 && self.ready.is_empty();
        if self.ready.is_empty() && !(is_first && may_be_json(self.parts.markdown())) {
            let whole = (is_first && self.may_be_rich).then(|| self.parts.clone());
            self.ready.extend(self.parts.cut_off());
            let is_cut = !self.ready.is_empty();
            if let Some(whole) = whole.filter(|whole| is_cut && is_rich(whole.markdown())) {
                (self.parts, self.ready) = (whole, VecDeque::new());
                self.give_up();
                return None;
            }
        }
        Some((self.sent, self.ready.front()?))
    }

    /// Records that the part from [`Self::full_part`] was sent.
    pub(super) fn part_sent(&mut self) {
        self.sent += usize::from(self.ready.pop_front().is_some());
    }

    /// Stops sending parts of this pass before it is complete.
    pub(super) const fn give_up(&mut self) {
        self.has_given_up = true;
    }

    pub(super) const fn pass(&self) -> u64 {
        self.pass
    }

    pub(super) fn version(&self) -> PreviewVersion {
        let (length, has_given_up) = (self.parts.markdown().len(), self.has_given_up);
        let (is_waiting, status) = (!self.ready.is_empty(), self.status.clone());
        PreviewVersion { pass: self.pass, sent: self.sent, is_waiting, has_given_up, length, status }
    }
}
