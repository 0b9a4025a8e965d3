//! The data of a turn, with what earlier attempts at an edited question have done.

use super::super::error::TurnError;
use super::super::question::Question;
use super::super::run::EarlierCall;
use super::super::taken_up::TakenUp;
use super::Preparer;
use super::load::{TurnChoices, TurnData};
use figaro_domain::tool::{Effect, ToolCall, ToolStatus};
use figaro_domain::turn::{ActiveTurn, Attempt};
use figaro_store::StoreError;

impl Preparer {
    /// Loads the data for the turn, with the calls of earlier attempts.
    pub(super) async fn load(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        taken_up: &TakenUp,
        chosen: &TurnChoices<'_>,
    ) -> Result<TurnData, TurnError> {
        let acted = self.acted_before(turn)?;
        Ok(TurnData { acted, ..self.loader.load(turn, question, taken_up, chosen).await? })
    }

    /// Returns the calls of earlier attempts at the question, and of their children, that did something, or may have; none if the question was not
    /// edited.
    ///
    /// # Errors
    /// If they cannot be read: the turn could then do them again.
    fn acted_before(&self, turn: &ActiveTurn) -> Result<Vec<EarlierCall>, TurnError> {
        if !turn.edited {
            return Ok(Vec::new());
        }
        let lost = |error: StoreError| self.reporter.lost(&error);
        let attempts = self.conversations.attempts(turn.conversation).map_err(lost)?;
        let mut acted = Vec::new();
        for attempt in attempts.iter().filter(|attempt| attempt.turn != turn.id) {
            let calls = self.conversations.tool_calls(attempt.turn).map_err(lost)?;
            let done = calls.into_iter().filter(|call| may_have_acted(call) && !self.only_reads(call));
            acted.extend(done.map(|call| with_result(call, attempt)));
        }
        Ok(acted)
    }

    fn only_reads(&self, call: &ToolCall) -> bool {
        let name = &call.call.name;
        let tool = self.agents.all_tools().get(name, std::slice::from_ref(name));
        call.hosted || tool.is_some_and(|tool| tool.effect() == Effect::Read)
    }
}

const fn may_have_acted(call: &ToolCall) -> bool {
    match call.status {
        ToolStatus::Complete | ToolStatus::Unknown | ToolStatus::Running => true,
        ToolStatus::Failed | ToolStatus::Denied => false,
    }
}

fn with_result(call: ToolCall, attempt: &Attempt) -> EarlierCall {
    let is_result = |id: &str| id == call.call.id;
    let mut messages = attempt.messages.iter();
    let result =
        messages.find(|message| message.tool.as_ref().is_some_and(|tool| is_result(&tool.tool_call_id)));
    let output = result.map(|message| message.text.clone()).or(call.result).unwrap_or_default();
    EarlierCall { call: call.call, output }
}
