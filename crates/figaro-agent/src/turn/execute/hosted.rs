//! Searches that a provider makes itself while it answers: told and stored like the calls of tools. Called by the executor.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;

use super::super::report::Reporter;
use super::super::run::Run;
use super::super::setup::Setup;
use super::calls::{Caller, record, started};
use crate::delivery::TurnEventKind;
use crate::tools::Tool;
use figaro_base::ids::EntryId;
use figaro_domain::tool::{Call, ToolCall, ToolStatus};
use figaro_domain::turn::Step;
use figaro_provider::Search;

/// The searches of a pass.
pub(super) struct Hosted<'a> {
    caller: &'a Caller,
    reporter: &'a Reporter,
    run: &'a Run,
    setup: &'a Setup,
    /// Those that have begun and not ended, oldest first.
    begun: VecDeque<ToolCall>,
}

impl<'a> Hosted<'a> {
    pub(super) const fn of(
        caller: &'a Caller,
        reporter: &'a Reporter,
        run: &'a Run,
        setup: &'a Setup,
    ) -> Self {
        Self { caller, reporter, run, setup, begun: VecDeque::new() }
    }

    /// A search begins. It is told where the turn may search, and nobody has ended the turn.
    pub(super) fn begin(&mut self) {
        let Some(tool) = self.setup.tools.web_search().filter(|_| self.setup.control.commit()) else {
            return;
        };
        let begun = self.record(tool);
        self.caller.bus.publish(self.setup.turn.id, started(tool, begun.call.clone()));
        self.begun.push_back(begun);
    }

    fn record(&self, tool: &Arc<dyn Tool>) -> ToolCall {
        let id = format!("search-{}", EntryId::new());
        let call = Call { id, name: tool.spec().name.clone(), arguments: "{}".to_owned() };
        ToolCall { hosted: true, ..record(&call, self.setup.log.run(), self.caller.clock.now()) }
    }

    /// A search has ended: it is stored with what it looked for and found. One whose beginning nobody told counts from now. An
    /// answer does not fail with the record of a search.
    pub(super) async fn found(&mut self, search: Search) {
        let Some(tool) = self.setup.tools.web_search() else { return };
        let mut made = self.begun.pop_front().unwrap_or_else(|| self.record(tool));
        let lasted = self.caller.clock.now() - made.started_at;
        let duration_ms = u64::try_from(lasted.num_milliseconds()).unwrap_or_default();
        let status = ToolStatus::Complete;
        made.call.arguments = json!({"queries": search.queries}).to_string();
        let result = json!({"success": true, "sources": search.sources}).to_string();
        made = ToolCall { status, duration_ms: Some(duration_ms), result: Some(result.clone()), ..made };
        let call = made.call.clone();
        let step = Step { calls: vec![made], ..Step::default() };
        if let Err(error) = self.setup.log.record(step, self.run.usage(), self.run.nano_usd()).await {
            self.reporter.report(&error, "a search of the provider could not be stored");
        }
        let ended = TurnEventKind::ToolEnded { call, status, result, duration_ms };
        self.caller.bus.publish(self.setup.turn.id, ended);
    }

    /// The pass is over: of what it has not told the end of, nobody knows more than that it was searched.
    pub(super) async fn end(mut self) {
        while !self.begun.is_empty() {
            self.found(Search::default()).await;
        }
    }
}
