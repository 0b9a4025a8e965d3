//! `/mcp`: shows owners the other MCP servers with their state and tools; a button restarts a server.

use std::sync::Arc;

use async_trait::async_trait;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use crate::callback::{ButtonFamily, Page, ServersButton, Short};
use crate::send;
use figaro_base::text::one_line;
use figaro_domain::agent::{ALL_TOOLS, Agent};
use figaro_mcp_client::servers::{Server, ServerPhase, ServerStatus, ServerTool, Servers};
use figaro_prompts::Prompts;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Maximum length of a tool's name and of its description, in characters.
const ABOUT_CHARS: usize = 90;
/// Maximum length of a failure's reason in the list of servers, in characters.
const WHY_CHARS: usize = 120;
/// Maximum number of excluded tools that are shown with their reasons.
const LEFT_OUT: usize = 5;

#[derive(Debug)]
pub(super) struct McpCommand {
    cards: Cards,
    servers: Servers,
    prompts: Arc<Prompts>,
}

#[async_trait]
impl Command for McpCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("mcp", Texts::command_mcp)
            .group(Group::Owner)
            .owners()
            .families(&[ServersButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.list(request.asker, 0).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        Ok(match press.data.parse()? {
            ServersButton::List(page) => Pressed::card(self.list(asker, page)),
            ServersButton::Open(name, page) => match self.servers.get(name.as_str()) {
                Some(server) => Pressed::card(self.one(asker, &server, page)),
                None => Pressed::both(texts.gone(), self.list(asker, 0)),
            },
            ServersButton::Restart(name) => match self.servers.get(name.as_str()) {
                Some(server) if !server.config.is_disabled => {
                    server.restart();
                    Pressed::toast(texts.servers_restarting())
                }
                Some(_) | None => return Err(PressError::Gone),
            },
        })
    }
}

impl McpCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let Handles { cards, servers, prompts, .. } = handles;
        Self { cards: cards.clone(), servers: servers.clone(), prompts: prompts.clone() }
    }

    /// Returns a page of the servers.
    fn list(&self, asker: &Asker, page: Page) -> Card {
        let (texts, all) = (self.cards.texts(asker), self.servers.all());
        if all.is_empty() {
            return Card::titled(texts.servers_title(), texts.servers_none());
        }
        let page = ListPage::of(all.iter().collect(), page);
        let lines = page.items.iter().map(|server| {
            let status = server.status();
            format!("{} {}: {}", mark(&status), server.config.name, state(texts, &status, WHY_CHARS))
        });
        let lines: Vec<String> = lines.collect();
        let row = |server: &&Arc<Server>| {
            let name = &server.config.name;
            let press = Short::new(name).map(|short| ServersButton::Open(short, 0));
            press.map(|press| send::Button::new(name, press)).into_iter().collect()
        };
        let refresh = vec![send::Button::new(texts.button_refresh(), ServersButton::List(page.number()))];
        Card::titled(texts.servers_title(), lines.join("\n"))
            .list(texts, &page, row, ServersButton::List)
            .row(refresh)
    }

    /// Returns the card of a server with a page of its tools.
    fn one(&self, asker: &Asker, server: &Server, page: Page) -> Card {
        let (texts, status) = (self.cards.texts(asker), server.status());
        let page = ListPage::of(status.tools.iter().collect(), page);
        let mut lines = vec![
            format!("{} {}", mark(&status), state(texts, &status, usize::MAX)),
            server.config.place(),
            fill(texts.servers_restarts(), &[("count", &status.restarts.to_string())]),
        ];
        lines.extend(self.agents(texts, server, &status));
        lines.push(String::new());
        lines.extend(page.items.iter().map(|tool| line(tool)));
        if status.tools.iter().any(|tool| tool.is_approved) {
            lines.push(texts.servers_open().to_owned());
        }
        lines.extend(status.left_out.iter().take(LEFT_OUT).map(|left_out| {
            fill(texts.servers_left_out(), &[("tool", &left_out.name), ("reason", &left_out.reason)])
        }));
        let more = status.left_out.len().saturating_sub(LEFT_OUT) + status.beyond;
        if more > 0 {
            lines.push(fill(texts.servers_beyond(), &[("count", &more.to_string())]));
        }
        let name = &server.config.name;
        let open =
            |page| Short::new(name).map_or(ServersButton::List(0), |name| ServersButton::Open(name, page));
        let restart = Short::new(name).filter(|_| !server.config.is_disabled).map(ServersButton::Restart);
        let restart = restart.map(|press| send::Button::new(texts.button_restart(), press));
        let refresh = send::Button::new(texts.button_refresh(), open(page.number()));
        let back = vec![send::Button::new(texts.button_back(), ServersButton::List(0))];
        Card::titled(name, lines.join("\n"))
            .pages(texts, &page, open)
            .row([refresh].into_iter().chain(restart).collect())
            .row(back)
    }

    /// Returns the lines about the agents that use a server, and about tools they list that the server lacks.
    fn agents(&self, texts: &Texts, server: &Server, status: &ServerStatus) -> Vec<String> {
        let name = &server.config.name;
        let agents = self.prompts.agents();
        let lists = |agent: &&Arc<Agent>| agent.server_tools.iter().any(|of| of.server == *name);
        let listing: Vec<&Arc<Agent>> = agents.all().filter(lists).collect();
        let names: Vec<&str> = listing.iter().map(|agent| agent.name.as_str()).collect();
        let mut lines = vec![match names.is_empty() {
            true => texts.servers_no_agents().to_owned(),
            false => fill(texts.servers_agents(), &[("agents", &names.join(", "))]),
        }];
        let is_there =
            |tool: &str| tool == ALL_TOOLS || status.tools.iter().any(|known| known.remote == tool);
        for agent in listing.iter().filter(|_| status.phase == ServerPhase::Ready) {
            let of = agent.server_tools.iter().filter(|of| of.server == *name && !is_there(&of.tool));
            lines.extend(
                of.map(|of| fill(texts.servers_missing(), &[("agent", &agent.name), ("tool", &of.tool)])),
            );
        }
        lines
    }
}

/// Returns a symbol for the state of a server.
const fn mark(status: &ServerStatus) -> &'static str {
    match status.phase {
        ServerPhase::Off => "○",
        ServerPhase::Starting => "⏳",
        ServerPhase::Ready => "✓",
        ServerPhase::Failed(_) => "✗",
    }
}

fn state(texts: &Texts, status: &ServerStatus, most: usize) -> String {
    match &status.phase {
        ServerPhase::Off => texts.servers_off().to_owned(),
        ServerPhase::Starting => texts.servers_starting().to_owned(),
        ServerPhase::Ready => fill(texts.servers_ready(), &[("count", &status.tools.len().to_string())]),
        ServerPhase::Failed(why) => fill(texts.servers_failed(), &[("reason", &one_line(why, most))]),
    }
}

fn line(tool: &ServerTool) -> String {
    let open = if tool.is_approved { " 🔓" } else { "" };
    format!("• {}{open}: {}", one_line(&tool.remote, ABOUT_CHARS), one_line(&tool.description, ABOUT_CHARS))
}
