//! Table of commands: finds the command of a message or a press, checks the rights, and runs it. Called by the
//! router.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Access, Command, CommandOutcome, CommandRequest, Press, PressError, Pressed};
use super::handles::Handles;
use super::menu::Menus;
use super::menu_button::MenuButtons;
use super::notices::{self, PressRefusal};
use crate::callback::{self, BackButton, ButtonFamily, Trail};
use crate::inbound::{CommandLine, place, speaker_of};
use crate::views::{CallbackView, KeyView};
use figaro_agent::languages::Languages;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::admission::{Full, WaitingSlot};
use figaro_agent::turn::queue::{Mailboxes, QueuedJob};
use figaro_base::ids::{ChatId, MessageId, UpdateId};
use figaro_base::text::{nearest, one_line};
use figaro_config::AccessSettings;
use figaro_domain::chat::Place;
use figaro_domain::message::Inbound;
use figaro_markup::Formatted;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_prompts::texts::fill;
use figaro_store::{SettingsStore, StoreError};

/// Maximum length of an ignored argument that a card repeats, in characters.
const NAMED_CHARS: usize = 40;

/// Registered commands, and the dispatch of messages and presses to them.
#[derive(Debug)]
pub struct CommandTable {
    pub(crate) cards: Cards,
    access: AccessSettings,
    settings: SettingsStore,
    commands: Vec<Arc<dyn Command>>,
    menus: Menus,
    menu_buttons: MenuButtons,
}

/// Name or button family that two commands share; the second command cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two commands claim `{0}`")]
pub struct DuplicateName(pub &'static str);

impl CommandTable {
    /// Creates a table without commands.
    #[must_use]
    pub fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            access: handles.access.clone(),
            settings: handles.store.settings(),
            commands: Vec::new(),
            menus: Menus::default(),
            menu_buttons: MenuButtons::new(handles),
        }
    }

    /// Adds a command at the end of the table.
    ///
    /// # Errors
    /// `DuplicateName` if another command has its name or one of its button families.
    pub fn register(&mut self, command: Arc<dyn Command>) -> Result<(), DuplicateName> {
        if self.find(command.spec().name).is_some() {
            return Err(DuplicateName(command.spec().name));
        }
        if let Some(family) = command.spec().families.iter().find(|family| self.of_family(family).is_some()) {
            return Err(DuplicateName(family));
        }
        self.commands.push(command);
        Ok(())
    }

    /// Returns the command with this name, in lower case.
    #[must_use]
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<dyn Command>> {
        self.commands.iter().find(|command| command.spec().name == name)
    }

    /// Returns the message for an unknown command, with the most similar command that the asker may give.
    fn unknown(&self, name: &str, asker: &Asker) -> String {
        let texts = self.cards.texts(asker);
        let known = self
            .commands
            .iter()
            .filter(|command| has(command.spec().access, asker))
            .map(|command| command.spec().name);
        match nearest(name, known, |known| known.len().div_ceil(3)) {
            Some(meant) => fill(texts.unknown_command_meant(), &[("name", name), ("command", meant)]),
            None => texts.unknown_command().to_owned(),
        }
    }

    fn of_family(&self, family: &str) -> Option<&Arc<dyn Command>> {
        self.commands.iter().find(|command| command.spec().families.contains(&family))
    }

    /// Runs a command if the asker may give it.
    pub(crate) async fn run(&self, line: &CommandLine, message: &Inbound, asker: &Asker) -> CommandOutcome {
        let texts = self.cards.texts(asker);
        let Some(command) = self.find(&line.name) else {
            return Card::text(self.unknown(&line.name, asker)).into();
        };
        if !has(command.spec().access, asker) {
            return Card::text(texts.owner_only()).into();
        }
        let request = CommandRequest {
            asker,
            words: &line.argument,
            is_read: &AtomicBool::new(false),
            replied: line.replied.as_ref(),
            message,
            commands: &self.commands,
        };
        let done = command.run(&request).await;
        // The command may have changed the language of the chat.
        self.keep_menu(asker.place.chat);
        self.keep_menu_button(&asker.place, asker.client.as_deref(), asker.standing);
        match done.unwrap_or_else(|error| self.cards.failed(asker, &error).into()) {
            CommandOutcome::Card(card) => self.fitting(card, command, &request).await.into(),
            outcome => outcome,
        }
    }

    /// Removes buttons that the asker may not use, and adds a note about an argument that changed nothing.
    async fn fitting(
        &self,
        mut card: Card,
        command: &Arc<dyn Command>,
        request: &CommandRequest<'_>,
    ) -> Card {
        let texts = self.cards.texts(request.asker);
        let is_closed = !card.buttons.is_empty() && command.spec().changes_chat;
        if is_closed && !self.cards.may_change(request.asker).await {
            card = Card { buttons: Vec::new(), how: Some(texts.admins_change().to_owned()), ..card };
        }
        if !request.words.is_empty() && !request.is_read.load(Ordering::Relaxed) {
            let words = one_line(request.words, NAMED_CHARS);
            let told = fill(texts.words_ignored(), &[("command", command.spec().name), ("words", &words)]);
            card.lead = Some(Formatted { text: told, entities: Vec::new() });
        }
        card.reached(&Trail::default(), texts)
    }

    /// Runs a command without a place in the queue. Returns `false` if it cannot.
    #[must_use]
    pub(crate) fn run_without_room(&self, line: &CommandLine, message: &Inbound, asker: &Asker) -> bool {
        let command = self.find(&line.name).filter(|command| has(command.spec().access, asker));
        command.is_some_and(|command| command.run_without_room(message))
    }

    /// Answers a press that has no effect, with the reason. Always returns `true`: the update is settled.
    pub(crate) async fn refuse_press(&self, view: &CallbackView, why: PressRefusal) -> bool {
        let chat = view.message.as_ref().map(|message| ChatId(message.chat.id));
        let client = view.from.language_code.as_deref();
        let texts = self.cards.languages.texts(chat.unwrap_or(ChatId(view.from.id)), client);
        self.cards.answer(&view.id, Some(&notices::refused(texts, why))).await;
        true
    }

    /// Handles a press. Every press is answered, also of old buttons. A job goes into the queue at the position of
    /// the press; without a slot, only presses that need one are refused. Returns `true` if the update is settled,
    /// `false` if a turn settles it.
    pub(crate) async fn press(
        &self,
        update: UpdateId,
        view: &CallbackView,
        mailboxes: &Mailboxes,
        slot: Result<WaitingSlot, Full>,
    ) -> bool {
        let (asker, message) = match self.asker_of(view) {
            Ok(Some(found)) => found,
            Ok(None) => return self.refuse_press(view, PressRefusal::Stranger).await,
            Err(_told) => return self.refuse_press(view, PressRefusal::Failed).await,
        };
        let (trail, data) = Trail::read(view.data.as_deref().unwrap_or_default());
        let shown = view.message.as_ref();
        let press = Press { update, asker: &asker, message, shown, data };
        let pressed = self.pressed(&press).await;
        self.keep_menu(asker.place.chat);
        self.keep_menu_button(&asker.place, asker.client.as_deref(), asker.standing);
        let (job, toast, once) = match pressed {
            Pressed::Job { job, toast, once } => (*job, toast, once),
            Pressed::Shown { toast, card } => {
                let texts = self.cards.texts(&asker);
                return self.show(view, &press, toast, card.map(|card| card.reached(&trail, texts))).await;
            }
            Pressed::Stale => return self.end(view, &press, self.cards.texts(&asker).gone()).await,
            Pressed::Over(words) => return self.end(view, &press, &words).await,
            Pressed::Relabelled { toast, label } => {
                return self.relabel(view, &press, &toast, label.as_deref()).await;
            }
            Pressed::Marked { toast, label } => return self.mark(view, &press, &toast, &label).await,
        };
        let slot = match slot {
            Ok(slot) => slot,
            Err(full) => return self.refuse_press(view, PressRefusal::Full(full)).await,
        };
        // Done first, because messages written next must not come before it.
        mailboxes.post(asker.place.conversation(), QueuedJob::new(job, Some(slot)));
        self.cards.answer(&view.id, toast.as_deref()).await;
        if once {
            self.buttons_off(view, &press).await;
        }
        false
    }

    /// Shows a toast and the new state of the card. Always returns `true`: the update is settled.
    async fn show(
        &self,
        view: &CallbackView,
        press: &Press<'_>,
        toast: Option<String>,
        card: Option<Card>,
    ) -> bool {
        let unchanged = || self.unchanged(press.asker, view, card.as_ref());
        self.cards.answer(&view.id, toast.as_deref().or_else(unchanged)).await;
        if let Some(card) = card {
            self.cards.edit(press.asker, press.message, card).await;
        }
        true
    }

    /// Shows a toast and removes the buttons of the message. Always returns `true`: the update is settled.
    async fn end(&self, view: &CallbackView, press: &Press<'_>, words: &str) -> bool {
        self.cards.answer(&view.id, Some(words)).await;
        self.buttons_off(view, press).await;
        true
    }

    /// Removes all buttons of a message except the one that takes back what the turn did, which is independent of
    /// them.
    async fn buttons_off(&self, view: &CallbackView, press: &Press<'_>) {
        let is_kept = |key: &KeyView| is_back(key.callback_data.as_deref()) && !is_back(Some(press.data));
        let label = |key| is_kept(key).then_some(key.text.as_str());
        self.set_labels(view, press, label).await;
    }

    /// Shows a toast and sets the label of the button, or removes it. Always returns `true`: the update is settled.
    async fn relabel(
        &self,
        view: &CallbackView,
        press: &Press<'_>,
        toast: &str,
        label: Option<&str>,
    ) -> bool {
        self.cards.answer(&view.id, Some(toast)).await;
        let is_pressed = |key: &KeyView| key.callback_data == view.data;
        let message = view.message.iter();
        let mut keys = message.flat_map(|message| message.reply_markup.inline_keyboard.iter().flatten());
        if keys.any(|key| is_pressed(key) && Some(key.text.as_str()) != label) {
            self.set_labels(view, press, |key| if is_pressed(key) { label } else { Some(&key.text) }).await;
        }
        true
    }

    /// Shows a toast, sets the label of the button and removes the others, except the one that takes back what the
    /// turn did. Does not edit the message if no other button is left. Always returns `true`: the update is settled.
    async fn mark(&self, view: &CallbackView, press: &Press<'_>, toast: &str, label: &str) -> bool {
        self.cards.answer(&view.id, Some(toast)).await;
        let is_pressed = |key: &KeyView| key.callback_data == view.data;
        let stays = |key: &KeyView| is_pressed(key) || is_back(key.callback_data.as_deref());
        let message = view.message.iter();
        let mut keys = message.flat_map(|message| message.reply_markup.inline_keyboard.iter().flatten());
        if keys.any(|key| !stays(key)) {
            let label = |key| if is_pressed(key) { Some(label) } else { stays(key).then_some(&*key.text) };
            self.set_labels(view, press, label).await;
        }
        true
    }

    async fn set_labels<'a>(
        &self,
        view: &'a CallbackView,
        press: &Press<'_>,
        label: impl Fn(&'a KeyView) -> Option<&'a str>,
    ) {
        let Some(message) = &view.message else { return };
        let keyboard = message.reply_markup.with_labels(label);
        self.cards.set_buttons(press.asker, press.message, &keyboard).await;
    }

    /// Returns the toast for a card that its message already shows; without it the press would seem to do nothing.
    fn unchanged(&self, asker: &Asker, view: &CallbackView, card: Option<&Card>) -> Option<&str> {
        let is_shown = card?.is_shown_by(view.message.as_ref()?);
        is_shown.then_some(self.cards.texts(asker).still_so())
    }

    /// Handles the press of a button, and returns what to show.
    pub(crate) async fn pressed(&self, press: &Press<'_>) -> Pressed {
        let texts = self.cards.texts(press.asker);
        let Some(command) = self.of_family(callback::family(press.data)) else {
            return Pressed::toast(texts.gone());
        };
        if !has(command.spec().press_access, press.asker) {
            return Pressed::toast(texts.owner_only());
        }
        if command.spec().changes_chat && !self.cards.may_change(press.asker).await {
            return Pressed::toast(texts.admin_only());
        }
        match command.press(press).await {
            Ok(pressed) => pressed,
            Err(PressError::Gone) => Pressed::toast(texts.gone()),
            Err(PressError::Store(error)) => Pressed::card(self.cards.failed(press.asker, &error)),
        }
    }

    /// Returns the question of a press from before a restart; for a retry, an empty question of the person who
    /// pressed.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) fn question_of(
        &self,
        update: UpdateId,
        view: &CallbackView,
    ) -> Result<Option<Question>, StoreError> {
        let Some((asker, message)) = self.asker_of(view)? else { return Ok(None) };
        let (_, data) = Trail::read(view.data.as_deref().unwrap_or_default());
        let shown = view.message.as_ref();
        let press = Press { update, asker: &asker, message, shown, data };
        let command =
            self.of_family(callback::family(data)).filter(|command| has(command.spec().press_access, &asker));
        Ok(command.and_then(|command| command.question(&press)))
    }

    /// Returns the person who pressed and the message with the button; `None` without the right to press.
    fn asker_of(&self, view: &CallbackView) -> Result<Option<(Asker, MessageId)>, StoreError> {
        let Some(message) = view.message.as_ref() else { return Ok(None) };
        let (place, speaker) = (place(message), speaker_of(&view.from));
        let list = self.settings.access().inspect_err(|error| {
            tracing::error!(%error, label = error.label(), "whether someone may press a button could not be looked up");
        })?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &speaker.user, self.cards.now())
        else {
            return Ok(None);
        };
        let id = MessageId(message.message_id);
        let client = view.from.language_code.clone();
        let language = self.language(place.chat, client.as_deref());
        Ok(Some((Asker { place, speaker, language, client, standing, message: Some(id) }, id)))
    }

    /// Registers the list of commands for everybody with Telegram, in each language, and sets the menu buttons.
    pub async fn publish(&self) {
        self.menus.publish(&self.cards, &self.commands).await;
        self.menu_buttons.publish().await;
    }

    /// Returns the IETF tag of the language for replies in a chat to a person whose client uses `client`. If the chat
    /// has set a language, also updates Telegram's list of its commands.
    pub(crate) fn language(&self, chat: ChatId, client: Option<&str>) -> Option<String> {
        Languages::spoken(self.keep_menu(chat), client)
    }

    /// Sets the menu button of a private chat, if the person has a dashboard.
    pub(crate) fn keep_menu_button(&self, place: &Place, client: Option<&str>, standing: Standing) {
        self.menu_buttons.keep(place, client, standing);
    }

    /// Updates Telegram's list of a chat's commands to the language that the chat has set. Returns its tag.
    fn keep_menu(&self, chat: ChatId) -> Option<&'static str> {
        let set = self.cards.languages.set_in(chat);
        self.menus.keep(&self.cards, &self.commands, chat, set);
        set
    }
}

/// Returns `true` if a button takes back what a turn did.
fn is_back(data: Option<&str>) -> bool {
    data.is_some_and(|data| callback::family(data) == BackButton::NAME)
}

/// Returns `true` if `access` includes the asker.
fn has(access: Access, asker: &Asker) -> bool {
    match access {
        Access::Everybody => true,
        Access::Owners => asker.standing == Standing::Owner,
    }
}
