//! `/timezone`: sets the time zone of a chat, by a button, the command's argument, or a reply to the question that
//! follows a task made with an assumed zone. `/config` and the delivery show the same card. In groups only admins and
//! owners change the zone.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;

use super::asker::Asker;
use super::card::Card;
use super::cards::{Cards, saved};
use super::command::{
    self, Command, CommandOutcome, CommandRequest, CommandSpec, Group, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ROWS;
use crate::callback::{ButtonFamily, ZoneButton};
use crate::send::Button;
use figaro_base::ids::MessageId;
use figaro_base::text::one_line;
use figaro_domain::chat::{ChatConfig, ConfigPatch, Place};
use figaro_domain::message::Inbound;
use figaro_domain::task::{Task, TaskState};
use figaro_domain::zone::{self, ZoneMatch};
use figaro_memory::facts::{JudgedMessage, may_hold_fact};
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{
    Changing, SettingsStore, StoreError, TaskStore, ZoneChangeResult, change_chat, move_tasks,
};

/// Time after the question within which a message may be its answer.
const OPEN: TimeDelta = TimeDelta::hours(1);
/// Maximum length of the typed text that an error message repeats, in characters.
const WORDS_CHARS: usize = 80;

/// Language and time for the cards of time zones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks<'a> {
    pub(crate) texts: &'a Texts,
    /// IETF tag of the person's language, to guess zones from.
    pub(crate) language: Option<&'a str>,
    pub(crate) now: DateTime<Utc>,
}

impl Clocks<'_> {
    /// Returns the question for a chat's time zone; until it is answered, `assumed` applies.
    #[must_use]
    pub(crate) fn question(&self, place: &Place, assumed: Tz) -> Card {
        let how = if place.is_group() { self.texts.zone_answer_group() } else { self.texts.zone_answer() };
        let how = self.by_time(how, assumed);
        let body = format!("{}\n\n{how}", self.here(self.texts.zone_question(), assumed));
        Card::text(body).rows(self.choices(&zone::guesses(self.language)))
    }

    /// Returns the card of a chat's time zone, with how to change it.
    fn card(&self, config: &ChatConfig, default: Tz) -> Card {
        let texts = self.texts;
        let here = match config.timezone {
            Some(zone) => self.here(texts.zone_here(), zone),
            None => self.here(texts.zone_default(), default),
        };
        let clear = config.timezone.map(|_| Button::new(texts.button_clear(), ZoneButton::Clear));
        Card::titled(texts.config_timezone(), here)
            .how(self.by_time(texts.zone_type(), config.timezone.unwrap_or(default)))
            .rows(self.choices(&zone::guesses(self.language)))
            .row(clear.into_iter().collect())
            .first()
    }

    /// Returns the help for typing a zone, with the current time in `zone` as the example: a fixed time would fit no
    /// zone for most of the hour.
    fn by_time(&self, how: &str, zone: Tz) -> String {
        fill(how, &[("time", &self.now.with_timezone(&zone).format("%H:%M").to_string())])
    }

    /// Returns the card with zones to choose from, for an ambiguous answer.
    fn which(&self, zones: &[Tz]) -> Card {
        Card::text(self.texts.zone_which()).rows(self.choices(zones))
    }

    /// Returns the card that confirms a zone and tells what happens to the chat's tasks.
    fn done(&self, zone: Tz, followed: &ZoneChangeResult) -> Card {
        let texts = self.texts;
        let line = |words: &str, task: &Task, shown: Tz| {
            let time = task.next.map(|next| texts.moment(&next.with_timezone(&shown))).unwrap_or_default();
            fill(words, &[("task", &task.title()), ("time", &time), ("zone", shown.name())])
        };
        let next = |task: &Task, words: &str, shown: Tz| match task.state {
            TaskState::Active => line(words, task, shown),
            _ => format!("• {}", task.title()),
        };
        let moved = followed.moved.iter().map(|task| next(task, texts.zone_task(), zone));
        let kept = followed.kept.iter().map(|task| line(texts.zone_task_kept(), task, zone));
        let others = followed.others.iter().map(|task| next(task, texts.zone_task_there(), task.zone));
        let lists = [
            list(texts.zone_moved(), moved.collect()),
            list(texts.zone_kept(), kept.collect()),
            list(texts.zone_others(), others.collect()),
        ];
        let first = self.here(texts.zone_set(), zone);
        let body: Vec<String> = std::iter::once(first).chain(lists.into_iter().flatten()).collect();
        let count = followed.others.len().to_string();
        let offer = vec![
            Button::new(fill(texts.button_move(), &[("count", &count)]), ZoneButton::Move(zone)),
            Button::new(texts.button_leave(), ZoneButton::Show),
        ];
        let show = vec![Button::new(texts.config_timezone(), ZoneButton::Show)];
        Card::text(body.join("\n\n")).row(if followed.others.is_empty() { show } else { offer })
    }

    fn time(&self, zone: Tz) -> String {
        self.now.with_timezone(&zone).format("%H:%M").to_string()
    }

    fn here(&self, words: &str, zone: Tz) -> String {
        let values = [("zone", zone.name()), ("city", &zone::city(zone)), ("time", &self.time(zone))];
        fill(words, &values)
    }

    /// Returns a button for each zone, two in a row.
    fn choices(&self, zones: &[Tz]) -> Vec<Vec<Button>> {
        let button = |zone: &Tz| {
            Button::new(format!("{} {}", zone::city(*zone), self.time(*zone)), ZoneButton::Set(*zone))
        };
        zones.chunks(2).map(|row| row.iter().map(button).collect()).collect()
    }
}

/// Sets and shows the time zones of chats. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Zones {
    cards: Cards,
    settings: SettingsStore,
    tasks: TaskStore,
    default_zone: Tz,
    /// Username of the bot, which is removed from answers.
    username: String,
}

/// Shows and changes the time zone of a chat.
#[derive(Debug)]
pub(super) struct TimezoneCommand(Zones);

impl TimezoneCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self(Zones::new(handles))
    }
}

#[async_trait]
impl Command for TimezoneCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new(Zones::COMMAND, Texts::command_timezone)
            .group(Group::Settings)
            .changes_chat()
            .families(&[ZoneButton::NAME])
            .arguments(&[
                ("Riga", "set the zone by a city"),
                ("it is 14:20 here", "set the zone by the time on your clock"),
                ("clear", "use the zone of the settings again"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.0.told(request.asker, request.argument()).await.map(CommandOutcome::Card)
    }

    async fn press(&self, press: &command::Press<'_>) -> Result<Pressed, PressError> {
        let (zones, asker) = (&self.0, press.asker);
        let wanted = press.data.parse()?;
        let texts = zones.cards.texts(asker);
        let (settings, chat) = (&zones.settings, asker.place.chat);
        let before = settings.chat_config(chat)?;
        Ok(match wanted {
            ZoneButton::Show => Pressed::card(zones.card(asker)?),
            ZoneButton::Set(zone) => {
                let asked = zones.asks_in(asker, press.message)?;
                let done = zones.set(asker, zone).await?;
                match asked {
                    // The card of the task updates by itself, without the question.
                    true if done.buttons.len() <= 1 => Pressed::toast(done.body),
                    _ => Pressed::both(saved(texts, &before, &settings.chat_config(chat)?), done),
                }
            }
            ZoneButton::Move(zone) => zones.move_others(asker, zone).await?,
            ZoneButton::Clear => {
                zones.clear(asker).await?;
                let toast = saved(texts, &before, &settings.chat_config(chat)?);
                Pressed::both(toast, zones.card(asker)?)
            }
        })
    }
}

impl Zones {
    /// Name of the command, and of the setting in `/config`.
    pub(super) const COMMAND: &'static str = "timezone";

    /// Creates it with the dependencies in `handles`.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            tasks: handles.store.tasks(),
            default_zone: handles.default_zone,
            username: handles.me.username.clone(),
        }
    }

    /// Handles the argument of the command.
    pub(super) async fn told(&self, asker: &Asker, argument: &str) -> Result<Card, StoreError> {
        let argument = argument.trim();
        if argument.is_empty() {
            return self.card(asker);
        }
        let texts = self.cards.texts(asker);
        if !self.cards.may_change(asker).await {
            return Ok(Card::text(texts.admin_only()));
        }
        if self.cards.languages.locales.clears(argument) {
            self.clear(asker).await?;
            return self.card(asker);
        }
        match zone::read(argument, self.cards.now(), asker.language.as_deref()) {
            ZoneMatch::Zone(zone) => self.set(asker, zone).await,
            ZoneMatch::Several(zones) => Ok(self.clocks(asker).which(&zones)),
            ZoneMatch::Unknown => {
                let words = one_line(argument, WORDS_CHARS);
                let complaint = fill(texts.zone_unknown(), &[("value", &words)]);
                let clocks = self.clocks(asker);
                let zone = self.settings.chat_config(asker.place.chat)?.timezone;
                let how = clocks.by_time(texts.zone_type(), zone.unwrap_or(self.default_zone));
                Ok(Card::text(format!("{complaint} {how}"))
                    .rows(clocks.choices(&zone::guesses(clocks.language))))
            }
        }
    }

    /// Handles a message that answers the question for the chat's time zone, if its author may change it, and returns
    /// the card to show. Returns `None` for any other message.
    pub(crate) async fn answered(
        &self,
        config: &ChatConfig,
        part: &Inbound,
        standing: Standing,
    ) -> Option<Card> {
        let is_open = config.zone_asked.is_some_and(|asked| part.sent_at - asked < OPEN);
        let is_own = part.attachments.is_empty() && part.forwarded_from.is_none() && part.is_addressed();
        if !is_open || config.timezone.is_some() || !is_own {
            return None;
        }
        let words = without_name(&part.text, &self.username);
        let told = zone::answer(&words, part.sent_at, part.language.as_deref())?;
        let asker = Asker::new(part, standing);
        if !self.cards.may_change(&asker).await {
            return None;
        }
        match told {
            ZoneMatch::Zone(zone) => {
                let mut card = match self.set(&asker, zone).await {
                    Ok(card) => card,
                    Err(error) => self.cards.failed(&asker, &error),
                };
                // No card led here, so there is nothing to go back to.
                card.buttons.retain(|row| row.len() > 1);
                Some(card)
            }
            ZoneMatch::Several(zones) => Some(self.clocks(&asker).which(&zones)),
            ZoneMatch::Unknown => None,
        }
    }

    /// Returns `true` if an answer to the question is more than a place: a sentence about its author, which is also a
    /// message to the bot.
    #[must_use]
    pub(crate) fn is_statement(part: &Inbound) -> bool {
        let words: Vec<&str> = part.text.split_whitespace().collect();
        let is_sentence = words.len() > 2 && words.iter().any(|word| word.starts_with(char::is_lowercase));
        let has_clock = part.text.contains(|c: char| c.is_ascii_digit());
        let said = JudgedMessage { text: &part.text, foreign: &part.foreign };
        !part.place.is_group() && is_sentence && !has_clock && part.may_hold_facts() && may_hold_fact(said)
    }

    /// Returns `true` if a message shows a task with the question for the zone below.
    fn asks_in(&self, asker: &Asker, message: MessageId) -> Result<bool, StoreError> {
        let (chat, tasks) = (asker.place.chat, self.tasks.of_chat(asker.place.chat)?);
        Ok(tasks.iter().filter_map(|task| task.message(chat, message)).any(|message| message.asks_zone))
    }

    fn card(&self, asker: &Asker) -> Result<Card, StoreError> {
        let config = self.settings.chat_config(asker.place.chat)?;
        Ok(self.clocks(asker).card(&config, self.default_zone))
    }

    async fn set(&self, asker: &Asker, zone: Tz) -> Result<Card, StoreError> {
        let change = ConfigPatch { timezone: Some(Some(zone)), ..ConfigPatch::default() };
        let changing = Changing { now: self.cards.now(), turn: None };
        let (_, followed) =
            change_chat(&self.settings, &self.tasks, asker.place.chat, change, changing).await?;
        Ok(self.clocks(asker).done(zone, &followed))
    }

    async fn clear(&self, asker: &Asker) -> Result<(), StoreError> {
        let change = ConfigPatch { timezone: Some(None), ..ConfigPatch::default() };
        self.settings.change_chat_config(asker.place.chat, change).await.map(|_| ())
    }

    /// Moves the other tasks to the zone too, unless the chat's zone has changed since the offer.
    async fn move_others(&self, asker: &Asker, zone: Tz) -> Result<Pressed, StoreError> {
        let chat = asker.place.chat;
        if self.settings.chat_config(chat)?.timezone != Some(zone) {
            return Ok(Pressed::both(self.cards.texts(asker).gone(), self.card(asker)?));
        }
        let followed = move_tasks(&self.tasks, chat, zone, self.cards.now()).await?;
        Ok(Pressed::card(self.clocks(asker).done(zone, &followed)))
    }

    fn clocks<'a>(&'a self, asker: &'a Asker) -> Clocks<'a> {
        Clocks { texts: self.cards.texts(asker), language: asker.language.as_deref(), now: self.cards.now() }
    }
}

/// Returns a heading with the number of lines, and the first lines; `None` without lines.
fn list(heading: &str, mut lines: Vec<String>) -> Option<String> {
    let count = lines.len();
    lines.truncate(ROWS);
    if lines.len() < count {
        lines.push("…".to_owned());
    }
    let heading = fill(heading, &[("count", &count.to_string())]);
    (count > 0).then(|| format!("{heading}\n{}", lines.join("\n")))
}

/// Removes the bot's username from a message.
fn without_name(text: &str, username: &str) -> String {
    let is_name = |word: &&str| {
        let name = word.trim_end_matches([',', ':', '.', '!']).strip_prefix('@');
        name.is_some_and(|name| name.eq_ignore_ascii_case(username))
    };
    // Line breaks must stay.
    text.split(' ').filter(|word| !is_name(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bots_name_is_left_out_of_an_answer_and_nothing_else() {
        for (text, words) in [
            ("@figaro_bot Riga", "Riga"),
            ("@Figaro_Bot, São Paulo", "São Paulo"),
            ("Riga @figaro_bot!", "Riga"),
            ("@figaro_bots Riga", "@figaro_bots Riga"),
            ("@figaro_bot\nRiga", "@figaro_bot\nRiga"),
        ] {
            assert_eq!(without_name(text, "figaro_bot"), words);
        }
    }
}
