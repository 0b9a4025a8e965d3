//! `/approve`: calls that wait for an approval and approvals for an hour, the buttons that approve or deny a call,
//! here and under the call itself, and the button that takes back what was done.

use async_trait::async_trait;

use super::asker::Asker;
use super::card::{CARD_UNITS, Card};
use super::cards::Cards;
use super::command::{
    Access, Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::{ListPage, ROWS};
use super::take_back::TakeBack;
use crate::callback::{ApproveButton, BackButton, ButtonFamily, Page, family};
use crate::send;
use figaro_agent::rulings::{RulingPress, RulingRefusal, Rulings};
use figaro_agent::tools::telegram::Approvers;
use figaro_agent::turn::approval_details;
use figaro_agent::turn::parked::Parked;
use figaro_base::ids::RunId;
use figaro_base::text::{one_line, utf16_len};
use figaro_domain::approval::{Grant, Ruled};
use figaro_domain::origin::Origin;
use figaro_domain::turn::ParkedTurn;
use figaro_markup::{CodeFile, render};
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{AuditStore, StoreError};

/// Maximum length of a call's line in the list, in characters.
const GIST_CHARS: usize = 60;
/// Name of the document with a call that is too long for a message.
const FILE_NAME: &str = "call.md";

/// Shows calls that wait for an approval, handles decisions, and ends approvals for an hour.
#[derive(Debug)]
pub(super) struct ApproveCommand {
    cards: Cards,
    parked: Parked,
    approvers: Approvers,
    audit: AuditStore,
    rulings: Rulings,
    back: TakeBack,
}

impl ApproveCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            parked: handles.parked.clone(),
            approvers: handles.approvers.clone(),
            audit: handles.store.audit(),
            rulings: handles.rulings.clone(),
            back: TakeBack::new(handles),
        }
    }
}

#[async_trait]
impl Command for ApproveCommand {
    fn spec(&self) -> CommandSpec {
        // Admins approve too: the right is checked for each call.
        CommandSpec::new("approve", Texts::command_approve)
            .group(Group::Owner)
            .owners()
            .pressed_by(Access::Everybody)
            .families(&[ApproveButton::NAME, BackButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(self.list(request.asker, 0).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        if family(press.data) == BackButton::NAME {
            return self.back.press(press).await;
        }
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        Ok(match press.data.parse()? {
            ApproveButton::Rule(run, ruled, page) => self.rule(press, run, ruled, page).await?,
            ApproveButton::End(run, page) => self.end(press, run, page).await?,
            ApproveButton::List(_) | ApproveButton::Open(..) if asker.standing != Standing::Owner => {
                Pressed::toast(texts.owner_only())
            }
            ApproveButton::List(page) => Pressed::card(self.list(asker, page)),
            ApproveButton::Open(run, page) => self.open(asker, run, page),
            ApproveButton::Details(run, is_whole, page) => self.details(asker, run, is_whole, page).await,
        })
    }
}

impl ApproveCommand {
    /// Returns the waiting calls that may be shown here: in a group those requested there, in private all.
    fn waiting(&self, asker: &Asker) -> Vec<ParkedTurn> {
        let mut all = self.parked.with_approvals();
        all.retain(|parked| !asker.place.is_group() || parked.place.chat == asker.place.chat);
        all
    }

    /// Returns the approvals for an hour that may be shown here, one for each turn.
    fn approved(&self, asker: &Asker) -> Vec<Grant> {
        let mut all = self.approvers.grants.open(self.cards.now());
        all.retain(|grant| !asker.place.is_group() || grant.asked_in == asker.place.chat);
        all
    }

    fn list(&self, asker: &Asker, page: Page) -> Card {
        let (texts, all) = (self.cards.texts(asker), self.waiting(asker));
        let hours = self.approved(asker);
        if all.is_empty() && hours.is_empty() {
            return Card::text(texts.approval_none());
        }
        let title = if all.is_empty() { texts.approval_open() } else { texts.approval_list() };
        let page = ListPage::of(all, page);
        let ends = |grant: &Grant| {
            let left = (grant.until - self.cards.now()).num_minutes().max(1);
            let who = one_line(&grant.requester.name, GIST_CHARS / 3);
            let what = texts.method(&grant.method);
            let label = format!("{}: {who}, {what} ({left} min)", texts.button_approve_end());
            vec![send::Button::new(
                one_line(&label, GIST_CHARS),
                ApproveButton::End(grant.run, Some(page.number())),
            )]
        };
        let row = |parked: &ParkedTurn| {
            let name = parked.question.approval.as_deref().map(|asked| asked.requester.name.as_str());
            let label = format!("{}: {}", name.unwrap_or_default(), plain(&parked.question.text));
            let press = ApproveButton::Open(parked.turn.id, page.number());
            vec![send::Button::new(one_line(&label, GIST_CHARS), press)]
        };
        Card::titled(title, String::new())
            .list(texts, &page, row, ApproveButton::List)
            .rows(hours.iter().rev().take(ROWS).map(ends))
    }

    /// Ends an approval for an hour, if the asker has the right to. Later calls need a person's approval again.
    async fn end(&self, press: &Press<'_>, run: RunId, page: Option<Page>) -> Result<Pressed, PressError> {
        let (asker, texts, now) = (press.asker, self.cards.texts(press.asker), self.cards.now());
        let user = &asker.speaker.user;
        let Some(grant) = self.approvers.grants.open(now).into_iter().find(|grant| grant.run == run) else {
            return Ok(Pressed::Stale);
        };
        if !self.approvers.may_end(user, &grant).await? {
            return Ok(Pressed::toast(texts.approval_no_right()));
        }
        let ended = self.approvers.grants.end(run, now);
        self.audit.add(ended.iter().map(|grant| grant.ended(user, now)).collect()).await?;
        tracing::info!(%run, %user, "what was approved for an hour was ended");
        let words = fill(texts.approval_ended(), &[("name", &asker.speaker.name)]);
        Ok(match page {
            Some(page) => Pressed::both(words, self.list(asker, page)),
            None => Pressed::Relabelled { toast: words.clone(), label: Some(words) },
        })
    }

    /// Shows the waiting call of a turn.
    fn open(&self, asker: &Asker, run: RunId, page: Page) -> Pressed {
        match self.waiting(asker).into_iter().find(|parked| parked.turn.id == run) {
            Some(parked) => Pressed::card(self.card(asker, &parked, Some(page), None)),
            None => Pressed::both(self.cards.texts(asker).gone(), self.list(asker, page)),
        }
    }

    /// Shows the waiting call of a turn with or without details, to those who see its card. Details that are too long
    /// for a message are sent as a file.
    async fn details(&self, asker: &Asker, run: RunId, is_whole: bool, page: Option<Page>) -> Pressed {
        let Some(parked) = self.parked.with_approval(run) else { return Pressed::Stale };
        let is_here = parked.place.chat == asker.place.chat;
        let is_owners = asker.is_owner_alone();
        let Some(approval) = parked.question.approval.as_deref().filter(|_| is_here || is_owners) else {
            return Pressed::toast(self.cards.texts(asker).gone());
        };
        let whole = is_whole.then(|| approval_details(self.cards.texts(asker), approval));
        let fits = |whole: &String| utf16_len(whole) + utf16_len(&parked.question.text) < CARD_UNITS;
        if let Some(whole) = whole.clone().filter(|whole| !fits(whole)) {
            let (name, language) = (FILE_NAME.to_owned(), Some("markdown".to_owned()));
            self.cards.send_file(asker, CodeFile { name, language, content: whole }).await;
            return Pressed::Shown { toast: None, card: None };
        }
        Pressed::card(self.card(asker, &parked, page, whole))
    }

    /// Returns the card of a waiting call: the question, the details, and the buttons to decide.
    fn card(&self, asker: &Asker, parked: &ParkedTurn, page: Option<Page>, details: Option<String>) -> Card {
        let (texts, run) = (self.cards.texts(asker), parked.turn.id);
        let may_last = parked.question.approval.as_deref().is_some_and(|approval| approval.may_last);
        let button = |label: &str, ruled| send::Button::new(label, ApproveButton::Rule(run, ruled, page));
        let hour = may_last.then(|| button(texts.button_approve_hour(), Ruled::Hour));
        let once = button(texts.button_approve_once(), Ruled::Once);
        let deny = button(texts.button_approve_deny(), Ruled::Denied);
        let other = if details.is_some() { texts.button_details_hide() } else { texts.button_details() };
        let other = send::Button::new(other, ApproveButton::Details(run, details.is_none(), page));
        let back = page.map(|page| send::Button::new(texts.button_back(), ApproveButton::List(page)));
        let words = [Some(parked.question.text.clone()), details];
        Card::markdown(&words.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
            .row([once].into_iter().chain(hour).chain([deny]).collect())
            .row([other].into_iter().chain(back).collect())
    }

    /// Stores a person's decision on a call, if they have the right to it.
    async fn rule(
        &self,
        press: &Press<'_>,
        run: RunId,
        ruled: Ruled,
        page: Option<Page>,
    ) -> Result<Pressed, PressError> {
        let (asker, texts) = (press.asker, self.cards.texts(press.asker));
        let from = RulingPress {
            origin: Origin::Telegram { update: press.update, message: None },
            shows: page.is_none(),
        };
        let parked = match self.rulings.rule(run, ruled, &asker.speaker, from).await? {
            Ok(parked) => parked,
            Err(RulingRefusal::Stale) => return Ok(Pressed::Stale),
            Err(RulingRefusal::NotForAnHour) => return Err(PressError::Gone),
            Err(why) => return Ok(Pressed::toast(why.words(texts))),
        };
        let words = fill(texts.ruled(ruled), &[("name", &asker.speaker.name)]);
        let back = page.map(|page| send::Button::new(texts.button_back(), ApproveButton::List(page)));
        let end = (ruled == Ruled::Hour)
            .then(|| send::Button::new(texts.button_approve_end(), ApproveButton::End(run, None)));
        let shown = Card::closed(&parked.question, &words);
        Ok(Pressed::both(words, shown.row(end.into_iter().chain(back).collect())))
    }
}

/// Returns the first line of Markdown as plain text, from after its last bold text.
fn plain(markdown: &str) -> String {
    let first = markdown.lines().next().unwrap_or_default();
    let words = first.rsplit("**").next().unwrap_or_default();
    render(words).text.trim().to_owned()
}
