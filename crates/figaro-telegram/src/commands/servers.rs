//! `/mcp`: the other MCP servers, how they are, and what tools they have, for owners; a button starts one anew.

use std::sync::Arc;

use async_trait::async_trait;

use super::asker::Asker;
use super::card::{Card, ROWS, number, page_of, pager};
use super::cards::Cards;
use super::command::{Access, Command, Group, Outcome, Press, PressError, Pressed, Request};
use super::handles::Handles;
use crate::callback::{Family, Page, Servers as Button, Short};
use crate::send;
use figaro_base::text::one_line;
use figaro_domain::agent::{ALL_TOOLS, Agent};
use figaro_mcp_client::servers::{Phase, Server, ServerTool, Servers, Status};
use figaro_prompts::Prompts;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// What a tool does is shown in so many characters.
const ABOUT_CHARS: usize = 90;
/// Why a server failed in the list of all.
const WHY_CHARS: usize = 120;
/// So many tools that are left out are shown, each with its reason.
const LEFT_OUT: usize = 5;

/// Shows other MCP servers.
#[derive(Debug)]
pub(super) struct McpServers {
    cards: Cards,
    servers: Servers,
    prompts: Arc<Prompts>,
}

#[async_trait]
impl Command for McpServers {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn about<'a>(&'a self, texts: &'a Texts) -> &'a str {
        texts.command_mcp()
    }

    fn group(&self) -> Option<Group> {
        Some(Group::Owner)
    }

    fn access(&self) -> Access {
        Access::Owners
    }

    async fn run(&self, request: &Request<'_>) -> Result<Outcome, StoreError> {
        Ok(self.list(request.asker, 0).into())
    }

    fn families(&self) -> &'static [&'static str] {
        &[Button::NAME]
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        Ok(match press.data.parse()? {
            Button::List(page) => Pressed::card(self.list(asker, page)),
            Button::Open(name, page) => match self.servers.get(name.as_str()) {
                Some(server) => Pressed::card(self.one(asker, &server, page)),
                None => Pressed::both(texts.gone(), self.list(asker, 0)),
            },
            Button::Restart(name) => match self.servers.get(name.as_str()) {
                Some(server) if !server.config.is_disabled => {
                    server.restart();
                    Pressed::toast(texts.servers_restarting())
                }
                Some(_) | None => return Err(PressError::Gone),
            },
        })
    }
}

impl McpServers {
    pub(super) fn new(handles: &Handles) -> Self {
        let Handles { cards, servers, prompts, .. } = handles;
        Self { cards: cards.clone(), servers: servers.clone(), prompts: prompts.clone() }
    }

    /// A page of the servers.
    fn list(&self, asker: &Asker, page: Page) -> Card {
        let (texts, all) = (self.cards.texts(asker), self.servers.all());
        if all.is_empty() {
            return Card::titled(texts.servers_title(), texts.servers_none());
        }
        let page = page_of(page, all.len());
        let shown: Vec<&Arc<Server>> = all.iter().skip(page * ROWS).take(ROWS).collect();
        let lines = shown.iter().map(|server| {
            let status = server.status();
            format!("{} {}: {}", mark(&status), server.config.name, state(texts, &status, WHY_CHARS))
        });
        let lines: Vec<String> = lines.collect();
        let row = |server: &&Arc<Server>| {
            let name = &server.config.name;
            Some(vec![send::Button::new(name, Button::Open(Short::new(name)?, 0))])
        };
        let refresh = vec![send::Button::new(texts.button_refresh(), Button::List(number(page)))];
        Card::titled(texts.servers_title(), lines.join("\n"))
            .rows(shown.iter().filter_map(row))
            .row(pager(texts, page, all.len(), Button::List))
            .row(refresh)
    }

    /// A server, with a page of its tools.
    fn one(&self, asker: &Asker, server: &Server, page: Page) -> Card {
        let (texts, status) = (self.cards.texts(asker), server.status());
        let page = page_of(page, status.tools.len());
        let mut lines = vec![
            format!("{} {}", mark(&status), state(texts, &status, usize::MAX)),
            server.config.place(),
            fill(texts.servers_restarts(), &[("count", &status.restarts.to_string())]),
        ];
        lines.extend(self.agents(texts, server, &status));
        lines.push(String::new());
        lines.extend(status.tools.iter().skip(page * ROWS).take(ROWS).map(|tool| line(tool)));
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
        let open = |page| Short::new(name).map_or(Button::List(0), |name| Button::Open(name, page));
        let restart = Short::new(name).filter(|_| !server.config.is_disabled).map(Button::Restart);
        let restart = restart.map(|press| send::Button::new(texts.button_restart(), press));
        let refresh = send::Button::new(texts.button_refresh(), open(number(page)));
        let back = vec![send::Button::new(texts.button_back(), Button::List(0))];
        Card::titled(name, lines.join("\n"))
            .row(pager(texts, page, status.tools.len(), open))
            .row([refresh].into_iter().chain(restart).collect())
            .row(back)
    }

    /// Which agents have tools of a server, and which list what it does not have.
    fn agents(&self, texts: &Texts, server: &Server, status: &Status) -> Vec<String> {
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
        for agent in listing.iter().filter(|_| status.phase == Phase::Ready) {
            let of = agent.server_tools.iter().filter(|of| of.server == *name && !is_there(&of.tool));
            lines.extend(
                of.map(|of| fill(texts.servers_missing(), &[("agent", &agent.name), ("tool", &of.tool)])),
            );
        }
        lines
    }
}

/// A sign for how a server is.
const fn mark(status: &Status) -> &'static str {
    match status.phase {
        Phase::Off => "○",
        Phase::Starting => "⏳",
        Phase::Ready => "✓",
        Phase::Failed(_) => "✗",
    }
}

fn state(texts: &Texts, status: &Status, most: usize) -> String {
    match &status.phase {
        Phase::Off => texts.servers_off().to_owned(),
        Phase::Starting => texts.servers_starting().to_owned(),
        Phase::Ready => fill(texts.servers_ready(), &[("count", &status.tools.len().to_string())]),
        Phase::Failed(why) => fill(texts.servers_failed(), &[("reason", &one_line(why, most))]),
    }
}

fn line(tool: &ServerTool) -> String {
    let open = if tool.is_approved { " 🔓" } else { "" };
    format!("• {}{open}: {}", one_line(&tool.remote, ABOUT_CHARS), one_line(&tool.description, ABOUT_CHARS))
}
