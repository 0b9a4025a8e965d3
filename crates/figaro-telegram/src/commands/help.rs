//! `/help`: overview, examples as buttons that ask them, and the commands that the person may give.

use async_trait::async_trait;

use super::card::Card;
use super::cards::Cards;
use super::command::{
    Access, Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::callback::{self, ButtonFamily, Gone};
use crate::send::Button;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_policy::access::Standing;
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Bullets of the examples in the text of `/help`, by audience: everybody, all but guests, people who may change the
/// chat.
const BULLETS: [&str; 3] = ["• ", "◦ ", "▪ "];

/// Shows examples and the commands by group.
#[derive(Debug)]
pub(super) struct HelpCommand {
    cards: Cards,
}

impl HelpCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone() }
    }
}

#[async_trait]
impl Command for HelpCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("help", Texts::command_help).families(&[callback::HelpButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        let is_owner = request.asker.standing == Standing::Owner;
        let may_change = self.cards.may_change(request.asker).await;
        let is_guest = matches!(request.asker.standing, Standing::Guest | Standing::Borrowed);
        let bullets = if may_change {
            3
        } else if is_guest {
            1
        } else {
            2
        };
        let (title, said) = texts.help().trim().split_once('\n').unwrap_or_default();
        let as_text: Vec<&str> = said.lines().filter(|line| example(line).is_none()).collect();
        let mut card = Card::titled(title, [&[texts.help_tap()][..], &as_text].concat().join("\n"));
        for group in Group::ALL {
            let lines: Vec<String> = request
                .specs()
                .filter(|spec| spec.group == Some(group) && spec.is_offered)
                .filter(|spec| is_owner || spec.access == Access::Everybody)
                .filter(|spec| may_change || !spec.changes_chat)
                .map(|spec| format!("/{} – {}", spec.name, (spec.about)(texts)))
                .collect();
            if !lines.is_empty() {
                let heading = group.heading(texts);
                card.body += &format!("\n\n{heading}\n{}", lines.join("\n"));
                card.headings.push(heading.to_owned());
            }
        }
        let works = |(bullet, _): &(usize, &str)| *bullet < bullets;
        let shown = examples(texts).zip(0..).filter(|(example, _)| works(example));
        let buttons = shown.map(|((_, words), at)| vec![Button::new(words, callback::HelpButton(at))]);
        Ok(card.rows(buttons).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let words = self.asked(press)?;
        Ok(Pressed::Job {
            job: Box::new(Job::Ask(press.ask(words, self.cards.now()))),
            toast: Some(words.to_owned()),
            once: false,
        })
    }

    fn question(&self, press: &Press<'_>) -> Option<Question> {
        Some(press.ask(self.asked(press).ok()?, self.cards.now()))
    }
}

impl HelpCommand {
    /// Returns the example question of a button.
    fn asked(&self, press: &Press<'_>) -> Result<&str, Gone> {
        let callback::HelpButton(at) = press.data.parse()?;
        let (_, words) = examples(self.cards.texts(press.asker)).nth(at.into()).ok_or(Gone)?;
        Ok(words)
    }
}

/// Returns the examples that can be asked as they are, each with its index in [`BULLETS`].
fn examples(texts: &Texts) -> impl Iterator<Item = (usize, &str)> {
    texts.help().lines().filter_map(example)
}

/// Returns the example of a line; `None` if its text alone is not enough, as for a reply.
fn example(line: &str) -> Option<(usize, &str)> {
    let mut bullets = BULLETS.into_iter().enumerate();
    let found = bullets.find_map(|(at, bullet)| Some((at, line.strip_prefix(bullet)?)));
    found.filter(|(_, words)| !words.ends_with(')'))
}
