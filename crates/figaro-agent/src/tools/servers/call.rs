//! Policy check of a call of another server's tool: allowed, denied, or shown to an owner first.

use serde_json::{Map, Value};

use super::result::{failure, shown};
use super::tool::RemoteTool;
use crate::tools::{ToolContext, ToolError, ToolOutput};
use figaro_domain::approval::{Approval, ApprovalTarget, Fingerprint, MethodCall, ToolOfServer};
use figaro_domain::audit::AuditKind;
use figaro_domain::turn::Approved;
use figaro_mcp_client::servers::CallError;
use figaro_policy::access::Standing;
use figaro_policy::tools::{CallerRole, Decided, Decision, OWNERS, Rules, ServerCall, decide_server};

/// Reason given if nobody can be asked.
const NOBODY: &str = "It takes an owner's approval, and nobody is asked now: this is the run of a task, or a question from \
    outside of Telegram, or not the person's own words, or too many questions wait for an answer already. Tell the person";

impl RemoteTool {
    /// Makes the call if policy allows. An approved call is made exactly as it was shown.
    pub(super) async fn perform(
        &self,
        arguments: Map<String, Value>,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        if let Some(approved) = &context.approved {
            return self.perform_approved(approved, context).await;
        }
        self.check(&arguments)?;
        let decided = self.decide(context).await?;
        let call = MethodCall { method: self.tool.name.clone(), arguments };
        let note = async |what| self.note(what, &call, &decided, context).await;
        match decided.decision {
            Decision::Allow => {
                note(AuditKind::CallAllowed).await?;
                self.make(call.arguments).await
            }
            Decision::Deny => {
                note(AuditKind::CallDenied).await?;
                Err(context.refusal(&decided.reason))
            }
            Decision::Ask if !context.can_ask || context.standing == Standing::Borrowed => {
                note(AuditKind::CallDenied).await?;
                Err(context.refusal(&format!("{}. {NOBODY}", decided.reason)))
            }
            Decision::Ask => {
                let approval = self.approval(call.clone(), &decided, context);
                if self.tools.approvers.has_granted(&approval, context.now).await? {
                    note(AuditKind::ApprovalUsed).await?;
                    return self.make(call.arguments).await;
                }
                note(AuditKind::CallAsked).await?;
                Ok(ToolOutput::asking(approval))
            }
        }
    }

    async fn perform_approved(
        &self,
        approved: &Approved,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Approved { approval, ruling, .. } = approved;
        let is_this = approval.server.as_ref() == Some(&self.of_server());
        let call = approval.calls.first().filter(|_| is_this && approval.is_for(context.run, &context.call));
        let Some(call) = call else {
            let words = "not made: what was approved is something else, or mcp.json describes the server otherwise now";
            return Err(ToolError::Denied(words.to_owned()));
        };
        if self.tools.approvers.may_rule(ruling.ruled, &ruling.by, approval).await?.is_err() {
            let words = "not made: whoever approved it may not approve it any more";
            return Err(ToolError::Denied(words.to_owned()));
        }
        let decided = self.decide(context).await?;
        // No approval overrides a denial.
        if decided.decision == Decision::Deny {
            self.note(AuditKind::CallDenied, call, &decided, context).await?;
            return Err(context.refusal(&decided.reason));
        }
        self.note(AuditKind::ApprovalUsed, call, &decided, context).await?;
        self.make(call.arguments.clone()).await
    }

    /// Checks for required arguments, so that nobody approves a call the server would reject.
    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let required = self.tool.parameters["required"].as_array().into_iter().flatten();
        let missing = required.filter_map(Value::as_str).find(|name| !arguments.contains_key(*name));
        match missing {
            Some(name) => Err(ToolError::ForModel(format!("the arguments do not fit: {name} is missing"))),
            None => Ok(()),
        }
    }

    /// Returns the role of the requester. People are admins of their own private chat, but not for tools that act far
    /// beyond it.
    async fn role(&self, rules: &Rules, context: &ToolContext) -> CallerRole {
        if context.standing == Standing::Member && !context.place.chat.is_group() {
            return CallerRole::Member;
        }
        self.tools.approvers.role(rules, context).await
    }

    /// Returns `true` if the requester may make no calls at all. A task was requested in its creator's own words, but the
    /// creator may be a guest by now.
    fn is_shut_out(&self, context: &ToolContext) -> Result<bool, ToolError> {
        match context.task {
            Some(_) => Ok(self.tools.approvers.is_guest(context)?),
            None => Ok(matches!(context.standing, Standing::Guest | Standing::Borrowed)),
        }
    }

    async fn decide(&self, context: &ToolContext) -> Result<Decided, ToolError> {
        let rules = self.tools.policy.rules();
        let call = ServerCall {
            server: &self.server.config.name,
            tool: &self.tool.remote,
            here: context.place.chat,
            role: self.role(&rules, context).await,
            is_shut_out: self.is_shut_out(context)?,
            agent: context.agent.agent_schema_uri.as_deref(),
            task: context.task.is_some(),
            is_approved: self.tool.is_approved,
            only_reads: self.tool.only_reads,
            read: context.foreign(),
        };
        let decided = decide_server(&rules, &call);
        let (tool, chat) = (&self.tool.name, context.place.chat);
        tracing::info!(tool, %chat, ?decided, "policy decided about a call of an MCP server");
        Ok(decided)
    }

    fn of_server(&self) -> ToolOfServer {
        let config = &self.server.config;
        ToolOfServer { server: config.name.clone(), tool: self.tool.remote.clone(), way: config.way_hash() }
    }

    /// Makes the approval to request from an owner.
    fn approval(&self, call: MethodCall, decided: &Decided, context: &ToolContext) -> Approval {
        let place = &context.place;
        let (rule, calls) = (decided.rule.as_str().to_owned(), vec![call]);
        Approval {
            fingerprint: Fingerprint::of(context.run, &context.call, &calls),
            calls,
            server: Some(self.of_server()),
            targets: vec![ApprovalTarget { chat: place.chat, title: place.title.clone() }],
            people: Vec::new(),
            about: None,
            right: None,
            needs_other: decided.people >= 2,
            // Destructive calls need approval each time, and acts after reading: the text may wish for more than one.
            may_last: !self.tool.is_destructive
                && decided.people < 2
                && (self.tool.only_reads || context.read.is_none()),
            reason: rule.starts_with(OWNERS).then(|| decided.reason.clone()),
            rule,
            asked_in: place.chat,
            requester: context.speaker.clone(),
            read: context.read_for(decided.rule.as_str()),
        }
    }

    /// Records the decision in the audit log before it is carried out.
    ///
    /// # Errors
    /// If the store fails. The call is not made then.
    async fn note(
        &self,
        what: AuditKind,
        call: &MethodCall,
        decided: &Decided,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        Ok(self.tools.audit.add(vec![context.audited(what, call, decided.rule.as_str())]).await?)
    }

    async fn make(&self, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let name = &self.server.config.name;
        match self.server.call(&self.tool, arguments).await {
            Ok(reply) if reply.is_error => {
                Err(ToolError::Quoted { by: name.clone(), words: failure(name, &reply) })
            }
            Ok(reply) => Ok(shown(name, reply)),
            Err(error @ CallError::Unavailable(_)) => {
                Err(ToolError::ForModel(format!("the MCP server {name}: {error}")))
            }
            Err(CallError::Refused(words)) => {
                Err(ToolError::Quoted { by: name.clone(), words: super::result::quoted(name, &words) })
            }
            Err(error @ CallError::Lost(_)) => Err(ToolError::Unknown(format!(
                "the MCP server {name}: {error}; whether the call acted is not known, so do not repeat it"
            ))),
        }
    }
}
