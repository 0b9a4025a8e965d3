//! Web searches that a provider makes itself while it answers. They are published and stored like tool calls. Called by
//! the executor.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;

use super::super::report::Reporter;
use super::super::run::Run;
use super::super::setup::Setup;
use super::calls::{ToolCaller, record, started};
use crate::delivery::TurnEventKind;
use crate::tools::Tool;
use figaro_base::ids::EntryId;
use figaro_domain::tool::{Call, ToolCall, ToolStatus};
use figaro_domain::turn::Step;
use figaro_provider::HostedSearch;

/// Web searches that the provider makes during one pass.
pub(super) struct Hosted<'a> {
    caller: &'a ToolCaller,
    reporter: &'a Reporter,
    run: &'a Run,
    setup: &'a Setup,
    /// Records of the searches in progress, oldest first.
    begun: VecDeque<ToolCall>,
}

impl<'a> Hosted<'a> {
    pub(super) const fn of(
        caller: &'a ToolCaller,
        reporter: &'a Reporter,
        run: &'a Run,
        setup: &'a Setup,
    ) -> Self {
        Self { caller, reporter, run, setup, begun: VecDeque::new() }
    }

    /// Publishes the start of a search, if the turn may search and was not told to end.
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

    /// Stores and publishes a finished search with its queries and sources. A search without a reported start begins
    /// now. A store failure is only reported: the answer does not fail with it.
    pub(super) async fn found(&mut self, search: HostedSearch) {
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

    /// Ends the remaining searches of a finished pass. Their queries and sources are unknown.
    pub(super) async fn end(mut self) {
        while !self.begun.is_empty() {
            self.found(HostedSearch::default()).await;
        }
    }
}
