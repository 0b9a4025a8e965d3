//! `/business`: shows the account that the person connected the bot to, with its chats; handles the buttons of drafts.

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
use crate::business::{CustomerKey, Drafter, SendCause, SendEnd, SkippedCard, about, names_chat};
use crate::callback::{BusinessButton, ButtonFamily, Page};
use crate::send::Button;
use figaro_base::ids::ChatId;
use figaro_base::text::one_line;
use figaro_domain::business::{BusinessAccount, CustomerChat};
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Maximum length of a name on a button, in characters.
const BUTTON_CHARS: usize = 50;

/// Shows the connection, and sends, repeats and drops drafts.
#[derive(Debug)]
pub(super) struct BusinessCommand {
    cards: Cards,
    drafter: Arc<Drafter>,
    connects_accounts: bool,
}

#[async_trait]
impl Command for BusinessCommand {
    fn spec(&self) -> CommandSpec {
        let spec = CommandSpec::new("business", Texts::command_business);
        spec.group(Group::Settings).families(&[BusinessButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let texts = self.cards.texts(request.asker);
        Ok(match self.account(request.asker)? {
            Some(account) => self.list(request.asker, &account, 0)?,
            None if request.asker.place.is_group() => Card::text(texts.business_private()),
            None if self.connects_accounts => Card::text(texts.business_none()),
            None => Card::text(texts.business_off()),
        }
        .into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let asker = press.asker;
        let Some(account) = self.account(asker)? else { return Err(PressError::Gone) };
        match press.data.parse()? {
            BusinessButton::Send(chat, number) => self.send(press, &account, chat, number).await,
            BusinessButton::Always(chat, number) => self.always(press, &account, chat, number).await,
            BusinessButton::Again(chat, number) => self.again(asker, &account, chat, number),
            BusinessButton::Skip(chat, number) => {
                let key = CustomerKey::of(&account, chat);
                match self.drafter.skip(&account, &key, SkippedCard { number, card: press.message }).await? {
                    true => Ok(Pressed::toast(self.cards.texts(asker).business_skipped())),
                    false => Err(PressError::Gone),
                }
            }
            BusinessButton::End(chat) => {
                self.set_standing(&account, chat, false).await?;
                Ok(Pressed::Over(self.cards.texts(asker).business_ended().to_owned()))
            }
            BusinessButton::List(page) => Ok(Pressed::card(self.list(asker, &account, page)?)),
            BusinessButton::Open(chat, page) => self.open(asker, &account, chat, page),
            BusinessButton::Forget(chat, page) => {
                self.drafter.forget(&account, &CustomerKey::of(&account, chat)).await?;
                let list = self.list(asker, &account, page)?;
                Ok(Pressed::both(self.cards.texts(asker).business_forgotten(), list))
            }
        }
    }
}

impl BusinessCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let connects_accounts = handles.me.connects_accounts;
        Self { cards: handles.cards.clone(), drafter: handles.business.clone(), connects_accounts }
    }

    /// Returns the account of the asker, in the private chat that gets its drafts.
    fn account(&self, asker: &Asker) -> Result<Option<BusinessAccount>, StoreError> {
        let found = self.drafter.desk.store.of_person(&asker.speaker.user)?;
        Ok(found.filter(|account| account.chat == asker.place.chat))
    }

    fn chat(&self, account: &BusinessAccount, chat: ChatId) -> Result<CustomerChat, PressError> {
        let found = self.drafter.desk.store.customer(&account.connection, chat)?;
        found.ok_or(PressError::Gone)
    }

    /// Returns the chat of a draft, if the draft is still the one of the button.
    fn draft(
        &self,
        account: &BusinessAccount,
        chat: ChatId,
        number: u32,
    ) -> Result<CustomerChat, PressError> {
        let mut found = self.chat(account, chat)?;
        found.draft_mut(number).ok_or(PressError::Gone)?;
        Ok(found)
    }

    async fn set_standing(
        &self,
        account: &BusinessAccount,
        chat: ChatId,
        is_standing: bool,
    ) -> Result<(), PressError> {
        let store = &self.drafter.desk.store;
        let set = store.change(&account.connection, chat, None, |chat| chat.is_standing = is_standing);
        set.await?.ok_or(PressError::Gone)
    }

    async fn send(
        &self,
        press: &Press<'_>,
        account: &BusinessAccount,
        chat: ChatId,
        number: u32,
    ) -> Result<Pressed, PressError> {
        let texts = self.cards.texts(press.asker);
        let cause = SendCause::Press(press.message);
        Ok(match self.drafter.desk.send(account, chat, number, cause).await? {
            SendEnd::Sent => Pressed::toast(texts.business_sent()),
            SendEnd::Busy => Pressed::toast(texts.business_busy()),
            // The card may show a newer draft meanwhile, whose buttons stay.
            SendEnd::Gone | SendEnd::Held => return Err(PressError::Gone),
            SendEnd::NoRight => Pressed::toast(texts.business_no_right()),
            SendEnd::Unclear => Pressed::toast(texts.business_unclear()),
            SendEnd::Refused | SendEnd::Stopping => Pressed::toast(texts.business_refused()),
        })
    }

    /// Has the drafts of a chat sent without a press, beginning with this one.
    async fn always(
        &self,
        press: &Press<'_>,
        account: &BusinessAccount,
        chat: ChatId,
        number: u32,
    ) -> Result<Pressed, PressError> {
        self.draft(account, chat, number)?;
        if !account.can_reply {
            return Ok(Pressed::toast(self.cards.texts(press.asker).business_no_right()));
        }
        self.set_standing(account, chat, true).await?;
        self.send(press, account, chat, number).await
    }

    fn again(
        &self,
        asker: &Asker,
        account: &BusinessAccount,
        chat: ChatId,
        number: u32,
    ) -> Result<Pressed, PressError> {
        self.draft(account, chat, number)?;
        self.drafter.draft(CustomerKey::of(account, chat), None);
        Ok(Pressed::toast(self.cards.texts(asker).inline_waiting()))
    }

    /// Returns the card of the connection: its rights, and a button for each chat.
    fn list(&self, asker: &Asker, account: &BusinessAccount, page: Page) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let chats = self.drafter.desk.store.customers(&account.connection)?;
        let page = ListPage::of(chats, page);
        let open = |chat: &CustomerChat| {
            let mark = if chat.is_standing { "🤖 " } else { "" };
            let label = format!("{mark}{}", one_line(&chat.name, BUTTON_CHARS));
            vec![Button::new(label, BusinessButton::Open(chat.chat, page.number()))]
        };
        Ok(Card::titled(texts.business_title(), about(texts, account)).list(
            texts,
            &page,
            open,
            BusinessButton::List,
        ))
    }

    fn open(
        &self,
        asker: &Asker,
        account: &BusinessAccount,
        chat: ChatId,
        page: Page,
    ) -> Result<Pressed, PressError> {
        let (texts, chat) = (self.cards.texts(asker), self.chat(account, chat)?);
        let end = chat.is_standing.then(|| Button::new(texts.business_end(), BusinessButton::End(chat.chat)));
        let body = if chat.is_standing { texts.business_standing() } else { texts.business_waits() };
        let card = Card::titled(&names_chat(texts, &chat.name), body).row(end.into_iter().collect());
        let forget = Button::new(texts.button_forget(), BusinessButton::Forget(chat.chat, page));
        let back = Button::new(texts.button_back(), BusinessButton::List(page));
        Ok(Pressed::card(card.row(vec![forget]).row(vec![back])))
    }
}
