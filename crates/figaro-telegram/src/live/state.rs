//! What there is to show of a turn: the text of the pass in progress, the parts of it that are full, the status. Pure.

use std::collections::VecDeque;

use figaro_base::text::may_be_json;
use figaro_markup::{Parts, Piece};

/// The most UTF-16 units of a message, and of a draft.
pub(crate) const MESSAGE_UNITS: usize = 4096;

/// The state of a preview: what there is to show.
#[derive(Debug)]
pub(super) struct PreviewState {
    pass: u64,
    pub(super) parts: Parts,
    /// Full parts that have not been sent.
    pub(super) ready: VecDeque<Piece>,
    /// How many parts stand in the chat.
    pub(super) sent: usize,
    pub(super) status: Option<String>,
    /// Telegram has refused a part of the pass, or nobody knows whether it has taken it: the delivery will see what is to be
    /// done.
    pub(super) has_given_up: bool,
}

/// What the rendered preview depends on: states of the same version render the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
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
        let parts = Parts::new(MESSAGE_UNITS);
        Self { pass, parts, ready: VecDeque::new(), sent: 0, status: None, has_given_up: false }
    }

    /// Adds text of a pass. Another pass begins with nothing.
    pub(super) fn push(&mut self, pass: u64, text: &str, status: Option<String>) {
        if self.pass != pass {
            *self = Self::of_pass(pass);
        }
        self.parts.push(text);
        self.status = status;
    }

    /// The next part that can be sent, and its place among the parts.
    pub(super) fn full_part(&mut self) -> Option<(usize, &Piece)> {
        // An answer that is one JSON value becomes code when it is whole.
        let is_first = self.sent == 0 && self.ready.is_empty();
        if self.ready.is_empty() && !(is_first && may_be_json(self.parts.markdown())) {
            self.ready.extend(self.parts.cut_off());
        }
        Some((self.sent, self.ready.front()?))
    }

    /// The part that [`Self::full_part`] gave stands in the chat.
    pub(super) fn part_sent(&mut self) {
        self.sent += usize::from(self.ready.pop_front().is_some());
    }

    /// No more parts of this pass are sent before it is whole.
    pub(super) const fn give_up(&mut self) {
        self.has_given_up = true;
    }

    pub(super) const fn pass(&self) -> u64 {
        self.pass
    }

    pub(super) fn version(&self) -> Version {
        let (length, has_given_up) = (self.parts.markdown().len(), self.has_given_up);
        let (is_waiting, status) = (!self.ready.is_empty(), self.status.clone());
        Version { pass: self.pass, sent: self.sent, is_waiting, has_given_up, length, status }
    }
}
