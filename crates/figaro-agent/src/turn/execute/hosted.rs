//! Searches that a provider makes itself while it answers: told and stored like the calls of tools. Called by the executor.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;

use super::super::run::Run;
use super::super::setup::Setup;
use super::Executor;
use super::calls::{record, started};
use crate::delivery::TurnEventKind;
use crate::tools::Tool;
use figaro_base::ids::EntryId;
use figaro_domain::tool::{Call, ToolCall, ToolStatus};
use figaro_domain::turn::Step;
use figaro_provider::Search;
use figaro_store::StoreError;

/// The searches of a pass that have begun, oldest first.
#[derive(Debug, Default)]
pub(super) struct Hosted(VecDeque<ToolCall>);

impl Executor {
    /// A search begins. It is told where the turn may search, and nobody has ended the turn.
    pub(super) fn searching(&self, hosted: &mut Hosted, setup: &Setup) {
        let Some(tool) = setup.tools.web_search().filter(|_| setup.control.commit()) else { return };
        let begun = self.begun(tool, setup);
        self.caller.bus.publish(setup.turn.id, started(tool, begun.call.clone()));
        hosted.0.push_back(begun);
    }

    fn begun(&self, tool: &Arc<dyn Tool>, setup: &Setup) -> ToolCall {
        let id = format!("search-{}", EntryId::new());
        let call = Call { id, name: tool.spec().name.clone(), arguments: "{}".to_owned() };
        ToolCall { hosted: true, ..record(&call, setup.log.run(), self.caller.clock.now()) }
    }

    /// A search has ended: it is stored with what it looked for and found. One whose beginning nobody told counts from now.
    pub(super) async fn searched(
        &self,
        hosted: &mut Hosted,
        search: Search,
        run: &Run,
        setup: &Setup,
    ) -> Result<(), StoreError> {
        let Some(tool) = setup.tools.web_search() else { return Ok(()) };
        let mut made = hosted.0.pop_front().unwrap_or_else(|| self.begun(tool, setup));
        let lasted = self.caller.clock.now() - made.started_at;
        let (duration_ms, status) =
            (u64::try_from(lasted.num_milliseconds()).unwrap_or_default(), ToolStatus::Complete);
        made.call.arguments = json!({"queries": search.queries}).to_string();
        let result = json!({"success": true, "sources": search.sources}).to_string();
        made = ToolCall { status, duration_ms: Some(duration_ms), result: Some(result.clone()), ..made };
        let call = made.call.clone();
        let step = Step { calls: vec![made], ..Step::default() };
        setup.log.record(step, run.usage(), run.nano_usd()).await?;
        self.caller
            .bus
            .publish(setup.turn.id, TurnEventKind::ToolEnded { call, status, result, duration_ms });
        Ok(())
    }

    /// The pass is over: of what it has not told the end of, nobody knows more than that it was searched.
    pub(super) async fn end_searches(
        &self,
        mut hosted: Hosted,
        run: &Run,
        setup: &Setup,
    ) -> Result<(), StoreError> {
        while !hosted.0.is_empty() {
            self.searched(&mut hosted, Search::default(), run, setup).await?;
        }
        Ok(())
    }
}
