//! What the tools of other servers have in common.

use crate::tools::telegram::Approvers;
use figaro_base::ids::ChatId;
use figaro_mcp_client::servers::{Server, ServerTool, Servers};
use figaro_policy::tools::{Decision, Policy, Role, ServerCall, decide_server};
use figaro_store::AuditStore;

/// What every tool of another server works with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerTools {
    /// The servers there are.
    pub servers: Servers,
    /// Who may approve what takes an approval: owners.
    pub approvers: Approvers,
    /// The rules about calls.
    pub policy: Policy,
    /// Where what is decided is noted.
    pub audit: AuditStore,
}

impl ServerTools {
    /// How often what tools there are has changed.
    #[must_use]
    pub(crate) fn changes(&self) -> u64 {
        self.servers.changes()
    }

    /// Whether a call takes an approval, whoever asks.
    pub(super) fn takes_approval(&self, server: &Server, tool: &ServerTool) -> bool {
        let call = ServerCall {
            server: &server.config.name,
            tool: &tool.remote,
            here: ChatId(1),
            role: Role::Owner,
            is_shut_out: false,
            agent: None,
            task: false,
            is_approved: tool.is_approved,
        };
        decide_server(&self.policy.rules(), &call).decision != Decision::Allow
    }
}
