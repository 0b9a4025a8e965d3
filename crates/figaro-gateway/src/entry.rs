//! The way in of a question: what its head says, and its places among those that are answered or wait. They are taken before its
//! body is read, so that nobody has the process hold more bodies than there are places.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::caller::{Caller, CallerPlace, QuestionHeaders, Room};
use super::error::ApiError;
use super::gateway::Gateway;
use super::models::may_ask;
use figaro_agent::turn::queue::admission::{Full, Refusal, Slot};
use figaro_domain::external::ExternalName;

/// A question whose body is still to be read.
#[derive(Debug)]
pub(super) struct Entry {
    /// Whoever asks, by the key or token that they show.
    pub(super) caller: Caller,
    /// What the head asks for.
    pub(super) wishes: QuestionHeaders,
    /// Where it is answered.
    pub(super) target: Target,
    /// Its place among the questions of the caller.
    pub(super) room: Room,
    /// Its place among what waits.
    pub(super) slot: Slot,
}

/// Where a question is answered.
#[derive(Debug)]
pub(super) enum Target {
    /// In the session of this name.
    Session(ExternalName),
    /// In a place of its own, of which nothing is kept.
    Alone(CallerPlace),
}

impl FromRequestParts<Gateway> for Entry {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, gateway: &Gateway) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, gateway).await?;
        caller.require(may_ask, "questions")?;
        let wishes = QuestionHeaders::read(&parts.headers)?;
        if gateway.background.is_stopping() {
            return Err(ApiError::stopping());
        }
        let room = caller.account.admit(gateway.clock.now())?;
        let target = match &wishes.session {
            Some(session) => Target::Session(caller.session(session)?),
            None => Target::Alone(caller.alone()),
        };
        let slot = match &target {
            Target::Session(name) => {
                // A name that is new is kept once the question was read.
                let known = gateway.store.external().find(name).await?;
                let user = match known {
                    Some(conversation) => caller.in_conversation(conversation).user,
                    None => caller.person().unwrap_or_else(|| caller.unknown(name)),
                };
                gateway.mailboxes.admit(Some(&user), known)
            }
            Target::Alone(spot) => {
                // Each question of somebody unknown may be another person's.
                let person = Some(&spot.user).filter(|_| caller.user.is_some());
                gateway.mailboxes.admit(person, spot.place.conversation())
            }
        };
        let slot = slot.map_err(|refusal| no_room(&refusal))?;
        Ok(Self { caller, wishes, target, room, slot })
    }
}

fn no_room(refusal: &Refusal) -> ApiError {
    let words = match refusal.full {
        Full::Person => "too many questions of this user wait already",
        Full::Conversation => "too many questions of this session wait already",
        Full::All => "too many questions wait already",
    };
    ApiError::too_many("too_many_waiting", words).after(std::time::Duration::from_secs(1))
}
