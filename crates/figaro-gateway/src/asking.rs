//! Brings a question from its request into the queue of its conversation.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::caller::{BodyPermit, Caller, CallerPlace};
use super::entry::{IncomingQuestion, QuestionTarget};
use super::error::GatewayError;
use super::file_part::FilePart;
use super::files;
use super::gateway::Gateway;
use super::handover::CallIdPrefix;
use super::hub::{Follower, PendingQuestion};
use super::packs;
use figaro_agent::turn::question::{Client, Question, RepeatRequest};
use figaro_agent::turn::queue::{Job, QueuedJob};
use figaro_agent::turn::requested::Requested;
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_domain::session::SessionChange;
use figaro_policy::access::Standing;

/// Kind of an HTTP client that does not name itself.
const CLIENT: &str = "http";

/// Question read from a request.
#[derive(Debug)]
pub(super) struct Put {
    /// Last message of the person, which the turn answers.
    pub(super) words: String,
    /// Files that come with the question, and ids of stored ones.
    pub(super) files: Vec<FilePart>,
    /// Prefix of the calls whose results the request brings; `None` if it brings none. The caller made these calls.
    pub(super) resumes: Option<CallIdPrefix>,
    /// Options of the turn.
    pub(super) requested: Requested,
}

/// Puts a question into the queue of its conversation and returns the follower of its turn.
///
/// # Errors
/// If the store fails.
pub(super) async fn ask(
    gateway: &Gateway,
    entry: IncomingQuestion,
    put: Put,
    bytes: BodyPermit,
) -> Result<Follower, GatewayError> {
    let IncomingQuestion { caller, wishes, target, room, slot } = entry;
    let files = files::of_question(gateway, &caller, put.files).await?;
    let spot = match target {
        QuestionTarget::Session(name) => caller.in_conversation(gateway.store.external().keep(&name).await?),
        QuestionTarget::Alone(spot) => spot,
    };
    if let Some(session) = &wishes.session {
        named(gateway, &spot, session).await?;
    }
    if let Some(packs) = &wishes.packs {
        packs::choose(gateway, &spot, packs).await?;
    }
    let conversation = spot.place.conversation();
    let requested = Arc::new(Requested {
        tenant: caller.tenant.clone(),
        key: caller.account.key().map(str::to_owned),
        is_anonymous: caller.user.is_none(),
        is_stateless: wishes.session.is_none(),
        hears_memory: wishes.events,
        files,
        ..put.requested
    });
    let part = part(&caller, spot, &requested, put.words, gateway.clock.now());
    let teaches = gateway.remembers && wishes.events && part.may_hold_facts();
    let standing = if caller.rights.owner { Standing::Owner } else { Standing::Member };
    let question = Question {
        client: Client { id: CLIENT, is_eval: wishes.is_eval },
        requested: Some(requested.clone()),
        ..Question::new(part, standing)
    };
    let job = match &put.resumes {
        Some(_) => Job::Again(RepeatRequest { asked: question, model: None, is_edit: false }),
        None => Job::Ask(question),
    };
    let identity = caller.identity();
    let resumes = put.resumes;
    let mailboxes = gateway.mailboxes.clone();
    let session = wishes.session;
    let asked = PendingQuestion {
        requested,
        conversation,
        session,
        teaches,
        identity,
        room,
        bytes,
        resumes,
        mailboxes,
    };
    let follower = gateway.hub.expect(asked);
    gateway.mailboxes.post(conversation, QueuedJob::new(job, Some(slot)));
    Ok(follower)
}

/// Builds the queue entry of a message in its conversation.
fn part(
    caller: &Caller,
    spot: CallerPlace,
    requested: &Requested,
    words: String,
    now: DateTime<Utc>,
) -> Inbound {
    let speaker = Speaker {
        user: spot.user,
        name: caller.user.clone().unwrap_or_else(|| "user".to_owned()),
        username: None,
    };
    let learns = caller.user.is_some() && !requested.is_stateless;
    let origin = Origin::Http { request: requested.id };
    let program = requested.client.clone();
    Inbound { learns, program, ..Inbound::addressed(origin, spot.place, speaker, words, now) }
}

/// Records the caller's name of a session.
async fn named(gateway: &Gateway, spot: &CallerPlace, name: &str) -> Result<(), GatewayError> {
    let session = gateway.store.conversations().session(spot.place.conversation(), gateway.clock.now())?;
    if session.external_name.is_none() {
        let change =
            SessionChange { external_name: Some(name.trim().to_owned()), ..SessionChange::default() };
        gateway.store.sessions().change(session.id, change).await?;
    }
    Ok(())
}
