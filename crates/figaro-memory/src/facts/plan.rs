//! What becomes of the proposals of a model: each is refused, or a change of the memories.

use super::judge::{Refusal, Said, judge};
use super::proposal::{Action, Proposal};
use super::same::{Likeness, likeness};
use figaro_base::ids::ChatId;
use figaro_domain::conversation::Message;
use figaro_domain::facts::{Fact, FactChange, Unread};
use figaro_domain::memory::{Memory, numbered};

/// What proposals are judged by.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The chat that the messages were said in.
    pub chat: ChatId,
    /// The messages; the first is `N1`.
    pub messages: &'a [(Unread, Message)],
    /// The active memories of their writer that may be used in the chat; the first is `M1`.
    pub memories: &'a [Memory],
}

/// What becomes of proposals.
#[derive(Debug, Default)]
pub struct Planned {
    /// The changes, in their order.
    pub changes: Vec<FactChange>,
    /// What was refused: which proposal, from 0, and why.
    pub refused: Vec<(usize, Refusal)>,
}

/// Decides on proposals, in their order.
#[must_use]
pub fn plan(known: Known<'_>, proposals: &[Proposal]) -> Planned {
    let mut planned = Planned::default();
    let mut new: Vec<String> = Vec::new();
    for (at, proposal) in proposals.iter().enumerate() {
        match one(known, proposal, &new) {
            Ok(change) => {
                if proposal.change != Action::Remove {
                    new.push(proposal.content.clone());
                }
                planned.changes.push(change);
            }
            Err(refusal) => planned.refused.push((at, refusal)),
        }
    }
    planned
}

fn one(known: Known<'_>, proposal: &Proposal, new: &[String]) -> Result<FactChange, Refusal> {
    let label = proposal.message.trim().strip_prefix('N').and_then(|number| number.parse::<usize>().ok());
    let (unread, message) =
        label.and_then(|number| known.messages.get(number.checked_sub(1)?)).ok_or(Refusal::NotSaid)?;
    let said = Said { text: &message.text, foreign: &unread.foreign };
    let named: Vec<&Memory> = proposal
        .memories
        .iter()
        .filter_map(|label| known.memories.get(numbered(label)?.checked_sub(1)?))
        .collect();
    let content = proposal.content.trim();
    if proposal.change == Action::Remove {
        let memory = named.first().ok_or(Refusal::NoMemory)?;
        // The words that take something back are a statement of the person's own, as any.
        judge(said, &proposal.quote, proposal.quote.trim())?;
        return Ok(FactChange::Remove(memory.id));
    }
    judge(said, &proposal.quote, content)?;
    let fact = Fact {
        content: content.to_owned(),
        chat: known.chat,
        source_message_id: message.id,
        source: message.key(),
        is_preference: proposal.preference,
    };
    if new.iter().any(|other| likeness(other, content) != Likeness::Other) {
        return Err(Refusal::Known);
    }
    match (proposal.change, named.as_slice()) {
        (Action::Update, [first, ..]) => Ok(FactChange::Update(first.id, fact)),
        (Action::Merge, [first, others @ ..]) if !others.is_empty() => {
            Ok(FactChange::Merge(first.id, others.iter().map(|other| other.id).collect(), fact))
        }
        _ => create(known, fact),
    }
}

/// A new memory, unless it is known: then what says it more closely, or of another time, takes the place of what is known.
fn create(known: Known<'_>, fact: Fact) -> Result<FactChange, Refusal> {
    let likenesses =
        || known.memories.iter().map(|memory| (memory, likeness(&memory.content, &fact.content)));
    if likenesses().any(|(_, likeness)| likeness == Likeness::Same) {
        return Err(Refusal::Known);
    }
    let newer = likenesses().find(|(_, likeness)| *likeness == Likeness::Newer);
    Ok(match newer {
        Some((memory, _)) => FactChange::Update(memory.id, fact),
        None => FactChange::Create(fact),
    })
}
