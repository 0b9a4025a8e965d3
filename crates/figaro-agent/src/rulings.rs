//! Rulings of people on calls that wait for an approval. Called by the buttons of Telegram and by the dashboard.

use super::tools::telegram::Approvers;
use super::turn::parked::Parked;
use super::turn::queue::{Job, Mailboxes};
use figaro_base::clock::Clock;
use figaro_base::ids::RunId;
use figaro_domain::approval::{Approval, Ruled, Ruling};
use figaro_domain::message::Speaker;
use figaro_domain::origin::Origin;
use figaro_domain::turn::ParkedTurn;
use figaro_mcp_client::servers::{ServerPhase, Servers};
use figaro_policy::approval::NotAllowed;
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Stores rulings and continues the turns that waited for them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rulings {
    /// Turns that wait for a ruling.
    pub parked: Parked,
    /// Queues that a turn continues in.
    pub mailboxes: Mailboxes,
    /// Rights to rule, and what is approved for an hour.
    pub approvers: Approvers,
    /// Other MCP servers, one of which may have to make the call.
    pub servers: Servers,
    /// Source of the current time.
    pub clock: Clock,
}

/// Origin of a ruling.
#[derive(Debug, Clone, Copy)]
pub struct RulingPress {
    /// Its update or request.
    pub origin: Origin,
    /// `true` if the handler of the press updates the message with the question itself.
    pub shows: bool,
}

/// Why a ruling was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulingRefusal {
    /// The call no longer waits: there was a ruling before, or its time is over.
    Stale,
    /// This call cannot be approved for an hour.
    NotForAnHour,
    /// The person may not rule on it.
    NotAllowed(NotAllowed),
    /// The server that has to make the call is not ready.
    NotReady,
}

impl RulingRefusal {
    /// Returns the words for the person.
    #[must_use]
    pub fn words(self, texts: &Texts) -> &str {
        match self {
            Self::Stale | Self::NotForAnHour => texts.gone(),
            Self::NotAllowed(NotAllowed::Requester) => texts.approval_not_requester(),
            Self::NotAllowed(NotAllowed::OwnersOnly) => texts.approval_owners_only(),
            Self::NotAllowed(NotAllowed::NoRight) => texts.approval_no_right(),
            Self::NotReady => texts.approval_not_ready(),
        }
    }
}

impl Rulings {
    /// Rules on a call in the name of a person, if they may, and continues its turn. Returns the turn as it waited.
    ///
    /// # Errors
    /// If the store fails; then nothing is decided.
    pub async fn rule(
        &self,
        run: RunId,
        ruled: Ruled,
        by: &Speaker,
        press: RulingPress,
    ) -> Result<Result<ParkedTurn, RulingRefusal>, StoreError> {
        let Some(parked) = self.parked.with_approval(run) else { return Ok(Err(RulingRefusal::Stale)) };
        let Some(approval) = parked.question.approval.as_deref() else {
            return Ok(Err(RulingRefusal::Stale));
        };
        if let Err(refusal) = self.check(run, ruled, by, approval).await? {
            return Ok(Err(refusal));
        }
        let at = self.clock.now();
        let ruling = Ruling { ruled, by: by.user.clone(), name: by.name.clone(), at };
        let stored = self.parked.rule(run, ruling.clone(), press.origin, press.shows).await?;
        let Some(conversation) = stored else { return Ok(Err(RulingRefusal::Stale)) };
        tracing::info!(%run, user = %ruling.by, ?ruled, "a call that waited was ruled on");
        self.approvers.grants.add(approval.grants(run, &ruling), at);
        // The decision is stored, so limits on waiting jobs must not reject it.
        self.mailboxes.post(conversation, Job::GoOn(run));
        Ok(Ok(parked))
    }

    async fn check(
        &self,
        run: RunId,
        ruled: Ruled,
        by: &Speaker,
        approval: &Approval,
    ) -> Result<Result<(), RulingRefusal>, StoreError> {
        if ruled == Ruled::Hour && !approval.may_last {
            return Ok(Err(RulingRefusal::NotForAnHour));
        }
        if let Err(why) = self.approvers.may_rule(ruled, &by.user, approval).await? {
            tracing::info!(%run, user = %by.user, ?why, "somebody who may not has pressed under a call");
            return Ok(Err(RulingRefusal::NotAllowed(why)));
        }
        // An approval can be used only once and would be wasted.
        let server = approval.server.as_ref().and_then(|tool| self.servers.of(tool));
        let has_to_wait = server.is_some_and(|server| server.status().phase != ServerPhase::Ready);
        if ruled != Ruled::Denied && has_to_wait {
            return Ok(Err(RulingRefusal::NotReady));
        }
        Ok(Ok(()))
    }
}
