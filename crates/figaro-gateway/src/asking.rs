//! The way of a question from its request into the queue of its conversation.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::caller::{Bytes, Caller, CallerPlace};
use super::entry::{Entry, Target};
use super::error::ApiError;
use super::gateway::Gateway;
use super::handover::Mark;
use super::hub::{Asked, Follower};
use super::packs;
use figaro_agent::turn::question::{Again, Client, Question};
use figaro_agent::turn::queue::{Job, Posted};
use figaro_agent::turn::requested::Requested;
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_domain::session::SessionChange;
use figaro_policy::access::Standing;

/// The kind of client that asks over HTTP and does not name itself.
const CLIENT: &str = "http";

/// A question as its request has put it.
#[derive(Debug)]
pub(super) struct Put {
    /// What the person said last, which the turn answers.
    pub(super) words: String,
    /// The calls that the last question of the session is gone on with: whoever asked had them to make.
    pub(super) resumes: Option<Mark>,
    /// What is asked for beside it.
    pub(super) requested: Requested,
}

/// Puts a question into the queue of its conversation; gives the follower of its turn.
///
/// # Errors
/// If the store fails.
pub(super) async fn ask(
    gateway: &Gateway,
    entry: Entry,
    put: Put,
    bytes: Bytes,
) -> Result<Follower, ApiError> {
    let Entry { caller, wishes, target, room, slot } = entry;
    let spot = match target {
        Target::Session(name) => caller.in_conversation(gateway.store.external().keep(&name).await?),
        Target::Alone(spot) => spot,
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
        is_anonymous: caller.user.is_none(),
        is_stateless: wishes.session.is_none(),
        hears_memory: wishes.events,
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
        Some(_) => Job::Again(Again { asked: question, model: None }),
        None => Job::Ask(question),
    };
    let (identity, account) = (caller.identity(), caller.account.clone());
    let resumes = put.resumes;
    let mailboxes = gateway.mailboxes.clone();
    let session = wishes.session;
    let asked = Asked {
        requested,
        conversation,
        session,
        teaches,
        identity,
        account,
        room,
        bytes,
        resumes,
        mailboxes,
    };
    let follower = gateway.hub.expect(asked);
    gateway.mailboxes.post(conversation, Posted::new(job, Some(slot)));
    Ok(follower)
}

/// The words of somebody as a message of their conversation.
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

/// Has the session of a place be called as its caller calls it.
async fn named(gateway: &Gateway, spot: &CallerPlace, name: &str) -> Result<(), ApiError> {
    let session =
        gateway.store.conversations().session(spot.place.conversation(), gateway.clock.now()).await?;
    if session.external_name.is_none() {
        let change =
            SessionChange { external_name: Some(name.trim().to_owned()), ..SessionChange::default() };
        gateway.store.sessions().change(session.id, change).await?;
    }
    Ok(())
}
