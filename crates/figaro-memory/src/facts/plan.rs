//! Decides on a model's proposals: each is refused or becomes a change of the memories.

use super::judge::{FactRefusal, JudgedMessage, judge};
use super::proposal::{Proposal, ProposalAction};
use super::same::{Likeness, likeness};
use figaro_base::ids::ChatId;
use figaro_domain::conversation::Message;
use figaro_domain::facts::{Fact, FactChange, Unread};
use figaro_domain::memory::{Memory, numbered};

/// Context in which proposals are judged.
#[derive(Debug, Clone, Copy)]
pub struct ProposalContext<'a> {
    /// Chat of the messages.
    pub chat: ChatId,
    /// Messages to judge by; the first is `N1`.
    pub messages: &'a [(Unread, Message)],
    /// Active memories of their writer that may be used in the chat; the first is `M1`.
    pub memories: &'a [Memory],
}

/// Decisions on proposals.
#[derive(Debug, Default)]
pub struct FactPlan {
    /// Accepted changes, in the order of the proposals.
    pub changes: Vec<FactChange>,
    /// Refused proposals, by their index from 0, with the reason.
    pub refused: Vec<(usize, FactRefusal)>,
}

/// Decides on proposals, in order.
#[must_use]
pub fn plan(known: ProposalContext<'_>, proposals: &[Proposal]) -> FactPlan {
    let mut planned = FactPlan::default();
    let mut new: Vec<String> = Vec::new();
    for (at, proposal) in proposals.iter().enumerate() {
        match one(known, proposal, &new) {
            Ok(change) => {
                if proposal.change != ProposalAction::Remove {
                    new.push(proposal.content.clone());
                }
                planned.changes.push(change);
            }
            Err(refusal) => planned.refused.push((at, refusal)),
        }
    }
    planned
}

fn one(known: ProposalContext<'_>, proposal: &Proposal, new: &[String]) -> Result<FactChange, FactRefusal> {
    let label = proposal.message.trim().strip_prefix('N').and_then(|number| number.parse::<usize>().ok());
    let (unread, message) =
        label.and_then(|number| known.messages.get(number.checked_sub(1)?)).ok_or(FactRefusal::NotSaid)?;
    let said = JudgedMessage { text: &message.text, foreign: &unread.foreign };
    let named: Vec<&Memory> = proposal
        .memories
        .iter()
        .filter_map(|label| known.memories.get(numbered(label)?.checked_sub(1)?))
        .collect();
    let content = proposal.content.trim();
    if proposal.change == ProposalAction::Remove {
        let memory = named.first().ok_or(FactRefusal::NoMemory)?;
        // Words that retract a memory must be the person's own, like any statement.
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
        return Err(FactRefusal::Known);
    }
    match (proposal.change, named.as_slice()) {
        (ProposalAction::Update, [first, ..]) => Ok(FactChange::Update(first.id, fact)),
        (ProposalAction::Merge, [first, others @ ..]) if !others.is_empty() => {
            Ok(FactChange::Merge(first.id, others.iter().map(|other| other.id).collect(), fact))
        }
        _ => create(known, fact),
    }
}

/// Creates a memory, unless it is known: a more precise or later version replaces the known one.
fn create(known: ProposalContext<'_>, fact: Fact) -> Result<FactChange, FactRefusal> {
    let likenesses =
        || known.memories.iter().map(|memory| (memory, likeness(&memory.content, &fact.content)));
    if likenesses().any(|(_, likeness)| likeness == Likeness::Same) {
        return Err(FactRefusal::Known);
    }
    let newer = likenesses().find(|(_, likeness)| *likeness == Likeness::Newer);
    Ok(match newer {
        Some((memory, _)) => FactChange::Update(memory.id, fact),
        None => FactChange::Create(fact),
    })
}
