//! What the parts of the bot share.

use std::sync::Arc;

use crate::app::groups::Groups;
use crate::clock::Clock;
use crate::config::Settings;
use crate::languages::Languages;
use crate::mcp::supervisor::Mcp;
use crate::memory::Chats;
use crate::policy::access::Admins;
use crate::policy::tools::Policy;
use crate::prompts::Prompts;
use crate::provider::embed::Embedder;
use crate::store::kv::KvStore;
use crate::telegram::inbound::Me;
use crate::telegram::live::Live;
use crate::telegram::send::Sender;
use crate::telemetry::vitals::Vitals;
use crate::tools::telegram::Approvers;
use crate::turn::parked::Parked;

/// What the parts share, once the outside has been found to be there.
pub(super) struct Base<'a> {
    pub(super) settings: &'a Settings,
    pub(super) groups: &'a Groups,
    pub(super) clock: Clock,
    pub(super) store: Arc<KvStore>,
    pub(super) me: Me,
    pub(super) http: reqwest::Client,
    pub(super) mcp: Mcp,
    pub(super) sender: Sender,
    pub(super) live: Arc<Live>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) languages: Languages,
    pub(super) vitals: Arc<Vitals>,
    pub(super) admins: Arc<dyn Admins>,
    pub(super) approvers: Approvers,
    pub(super) policy: Policy,
    /// The text of the owner's file of rules.
    pub(super) policy_text: Option<String>,
    pub(super) parked: Parked,
    pub(super) chats: Chats,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}
