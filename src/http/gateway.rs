//! What the handlers of the gateway work with, and the way of a question from a request into the queue of its conversation.

use std::sync::Arc;

use axum::extract::FromRef;

use super::caller::{Caller, Known, Spot};
use super::error::ApiError;
use super::handover::Mark;
use super::hub::{Asked, Follower, Hub};
use super::lanes::Lanes;
use super::metrics::Meters;
use crate::clock::Clock;
use crate::domain::chat::ConfigPatch;
use crate::domain::message::{Inbound, Speaker};
use crate::domain::session::SessionChange;
use crate::ids::{RequestId, UpdateId, UserId};
use crate::ledger::Ledger;
use crate::policy::access::Standing;
use crate::prompts::Prompts;
use crate::shutdown::TaskTracker;
use crate::store::kv::KvStore;
use crate::store::{ConversationStore, SessionStore, SettingsStore};
use crate::telemetry::vitals::Vitals;
use crate::turn::question::{Again, Client, Question};
use crate::turn::queue::admission::{Full, Refusal};
use crate::turn::queue::{Job, Mailboxes, Posted};
use crate::turn::requested::Requested;

/// The kind of client that asks over HTTP and does not name itself.
const CLIENT: &str = "http";

/// What the handlers work with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// The callers that there are.
    pub known: Arc<Known>,
    /// The turns that can be followed.
    pub hub: Hub,
    /// Places for questions of which nothing is kept.
    pub lanes: Lanes,
    /// The queues of conversations.
    pub mailboxes: Mailboxes,
    /// Agents and personas.
    pub prompts: Arc<Prompts>,
    /// The way to the models.
    pub ledger: Arc<Ledger>,
    /// The store of the bot.
    pub store: Arc<KvStore>,
    /// Counts what happens.
    pub meters: Arc<Meters>,
    /// When the bot started.
    pub vitals: Arc<Vitals>,
    /// Gives the current time.
    pub clock: Clock,
    /// Whether the bot is about to end.
    pub background: TaskTracker,
}

impl FromRef<Gateway> for Arc<Known> {
    fn from_ref(gateway: &Gateway) -> Self {
        gateway.known.clone()
    }
}

/// A question as its request has put it.
#[derive(Debug)]
pub struct Put {
    /// Its words.
    pub words: String,
    /// The session that it belongs to; `None` for a question that stands alone.
    pub session: Option<String>,
    /// It only tests an agent.
    pub is_eval: bool,
    /// The calls that the last question of the session is gone on with: whoever asked had them to make.
    pub resumes: Option<Mark>,
    /// What is asked for beside it.
    pub requested: Requested,
}

impl Gateway {
    /// Puts a question into the queue of its conversation; gives the follower of its turn.
    ///
    /// # Errors
    /// If there is no room for it, or the session is not the caller's.
    pub async fn ask(&self, caller: &Caller, put: Put) -> Result<Follower, ApiError> {
        if self.background.is_stopping() {
            return Err(ApiError::unavailable(
                "stopping",
                "Figaro is about to end; ask again when it has started anew",
            ));
        }
        let now = self.clock.now();
        let room = caller.account.admit(now.date_naive())?;
        let lane = put.session.is_none().then(|| self.lanes.take());
        let spot = match (&put.session, &lane) {
            (Some(session), _) => {
                let spot = self.claimed(caller.session(session)?).await?;
                self.named(&spot, session).await?;
                spot
            }
            (None, Some(lane)) => alone(caller, lane),
            (None, None) => return Err(ApiError::invalid("there is no place for the question")),
        };
        let conversation = spot.place.conversation();
        let slot = self.mailboxes.admit(&spot.user, conversation).map_err(|refusal| no_room(&refusal))?;
        let requested = Arc::new(Requested {
            tenant: caller.tenant.clone(),
            is_anonymous: caller.user.is_none(),
            is_stateless: put.session.is_none(),
            ..put.requested
        });
        let speaker = Speaker {
            user: spot.user,
            name: caller.user.clone().unwrap_or_else(|| "user".to_owned()),
            username: None,
        };
        let learns = caller.user.is_some() && !requested.is_stateless;
        let part = Inbound {
            update: update_of(requested.id),
            learns,
            ..Inbound::addressed(spot.place, speaker, put.words, now)
        };
        let standing = if caller.rights.owner { Standing::Owner } else { Standing::Member };
        let question = Question {
            client: Client { id: CLIENT, is_eval: put.is_eval },
            requested: Some(requested.clone()),
            ..Question::new(part, standing)
        };
        let job = match &put.resumes {
            Some(_) => Job::Again(Again { asked: question, model: None }),
            None => Job::Ask(question),
        };
        let (identity, account) = (caller.identity(), caller.account.clone());
        let resumes = put.resumes;
        let asked = Asked { requested, conversation, identity, account, room, lane, resumes };
        let follower = self.hub.expect(asked);
        self.mailboxes.post(conversation, Posted::new(job, Some(slot)));
        Ok(follower)
    }

    /// Has the session of a place be called as its caller calls it.
    async fn named(&self, spot: &Spot, name: &str) -> Result<(), ApiError> {
        let session = self.store.session(spot.place.conversation(), self.clock.now()).await?;
        if session.outside.is_none() {
            let change = SessionChange { outside: Some(name.trim().to_owned()), ..SessionChange::default() };
            self.store.change_session(session.id, change).await?;
        }
        Ok(())
    }

    /// The place of a caller, which is theirs from now on: its number is a hash, and another name may have the same.
    ///
    /// # Errors
    /// If it is somebody else's.
    pub async fn claimed(&self, spot: Spot) -> Result<Spot, ApiError> {
        let chat = spot.place.chat;
        let mut config = self.store.chat_config(chat).await?;
        if config.claimed_by.is_none() {
            let claim = ConfigPatch { claim: Some(spot.owner.clone()), ..ConfigPatch::default() };
            config = self.store.change_chat_config(chat, claim).await?;
        }
        match config.claimed_by.as_ref() == Some(&spot.owner) {
            true => Ok(spot),
            false => Err(ApiError::conflict(
                "this name cannot be used here: choose another one for the session or the user",
            )),
        }
    }
}

/// The place of a question that stands alone.
fn alone(caller: &Caller, lane: &super::lanes::Lane) -> Spot {
    let user = match &caller.user {
        Some(user) => UserId::outside(&caller.tenant, user),
        // No person has a name that begins with a blank.
        None => UserId::outside(&caller.tenant, &format!(" {}", lane.number())),
    };
    Spot { place: lane.place(), user, owner: String::new() }
}

/// A number of an update that Telegram never gives: each question has one of its own.
fn update_of(request: RequestId) -> UpdateId {
    let bytes = request.to_bytes();
    let last = bytes.iter().skip(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    UpdateId((last | 1 << 63).cast_signed())
}

fn no_room(refusal: &Refusal) -> ApiError {
    let words = match refusal.full {
        Full::Person => "too many questions of this user wait already",
        Full::Conversation => "too many questions of this session wait already",
        Full::All => "too many questions wait already",
    };
    ApiError::too_many("too_many_waiting", words).after(std::time::Duration::from_secs(1))
}
