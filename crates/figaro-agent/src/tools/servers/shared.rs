//! Shared parts of the tools of other servers.

use crate::tools::telegram::Approvers;
use figaro_base::ids::ChatId;
use figaro_mcp_client::servers::{Server, ServerTool, Servers};
use figaro_policy::tools::{CallerRole, Decision, Policy, ServerCall, decide_server};
use figaro_store::AuditStore;

/// Dependencies of the tools of other servers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerTools {
    /// Other MCP servers, as `mcp.json` describes them.
    pub servers: Servers,
    /// Owners, who may approve calls.
    pub approvers: Approvers,
    /// Rules that allow, deny or ask about calls.
    pub policy: Policy,
    /// Audit log. Decisions are recorded before they are carried out.
    pub audit: AuditStore,
}

impl ServerTools {
    /// Returns the number of changes to the list of tools so far.
    #[must_use]
    pub(crate) fn changes(&self) -> u64 {
        self.servers.changes()
    }

    /// Returns `true` if a call needs approval from any requester.
    pub(super) fn takes_approval(&self, server: &Server, tool: &ServerTool) -> bool {
        let call = ServerCall {
            server: &server.config.name,
            tool: &tool.remote,
            here: ChatId(1),
            role: CallerRole::Owner,
            is_shut_out: false,
            agent: None,
            task: false,
            is_approved: tool.is_approved,
            only_reads: tool.only_reads,
            read: None,
        };
        decide_server(&self.policy.rules(), &call).decision != Decision::Allow
    }
}
