//! Admission of a question: its headers and its permits. The permits are taken before the body is read, so the
//! process never holds more bodies than it has permits.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::caller::{Caller, CallerPlace, QuestionHeaders, QuestionPermit};
use super::error::GatewayError;
use super::gateway::Gateway;
use super::models::may_ask;
use figaro_agent::turn::queue::admission::{AdmissionRefusal, Full, WaitingSlot};
use figaro_domain::external::ExternalName;

/// Question whose body is still to be read.
#[derive(Debug)]
pub(super) struct IncomingQuestion {
    /// Caller, by the key or token in the request.
    pub(super) caller: Caller,
    /// Options from the headers.
    pub(super) wishes: QuestionHeaders,
    pub(super) target: QuestionTarget,
    /// Permit among the questions of the caller.
    pub(super) room: QuestionPermit,
    /// Place in the waiting queue.
    pub(super) slot: WaitingSlot,
}

#[derive(Debug)]
pub(super) enum QuestionTarget {
    /// Session of this name.
    Session(ExternalName),
    /// Conversation of its own, which is not stored.
    Alone(CallerPlace),
}

impl FromRequestParts<Gateway> for IncomingQuestion {
    type Rejection = GatewayError;

    async fn from_request_parts(parts: &mut Parts, gateway: &Gateway) -> Result<Self, GatewayError> {
        let caller = Caller::from_request_parts(parts, gateway).await?;
        caller.require(may_ask, "questions")?;
        let wishes = QuestionHeaders::read(&parts.headers)?;
        if gateway.background.is_stopping() {
            return Err(GatewayError::stopping());
        }
        let room = caller.account.admit()?;
        let target = match &wishes.session {
            Some(session) => QuestionTarget::Session(caller.session(session)?),
            None => QuestionTarget::Alone(caller.alone()),
        };
        let slot = match &target {
            QuestionTarget::Session(name) => {
                // A new name is stored only after the question was read.
                let known = gateway.store.external().find(name)?;
                let user = match known {
                    Some(conversation) => caller.in_conversation(conversation).user,
                    None => caller.person().unwrap_or_else(|| caller.unknown(name)),
                };
                gateway.mailboxes.admit(Some(&user), known)
            }
            QuestionTarget::Alone(spot) => {
                // Each question of an anonymous caller may come from another person.
                let person = Some(&spot.user).filter(|_| caller.user.is_some());
                gateway.mailboxes.admit(person, spot.place.conversation())
            }
        };
        let slot = slot.map_err(|refusal| no_room(&refusal))?;
        Ok(Self { caller, wishes, target, room, slot })
    }
}

fn no_room(refusal: &AdmissionRefusal) -> GatewayError {
    let words = match refusal.full {
        Full::Person => "too many questions of this user wait already",
        Full::Conversation => "too many questions of this session wait already",
        Full::All => "too many questions wait already",
    };
    GatewayError::too_many("too_many_waiting", words).after(std::time::Duration::from_secs(1))
}
