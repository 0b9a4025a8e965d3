//! `/budget`: shows the limits on spending, and lets owners set them: of the whole bot, a role, a person, a chat, a task, an
//! agent, a key. Members see the limits that hold for them.

mod words;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;

use self::words::{LimitChange, NamedParty, read};
use super::access::AccessCard;
use super::agents::ChatAgents;
use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ListPage;
use super::removed::RecentlyRemoved;
use super::usage::limit_line;
use crate::callback::{BudgetButton, BudgetKey, ButtonFamily, Page, key_of};
use crate::send::Button;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::text::one_line;
use figaro_domain::budget::{Budget, BudgetAxis, Caps, Period, PeriodCaps};
use figaro_domain::usage::{Payer, dollars};
use figaro_ledger::Ledger;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{StoreError, TaskStore};

/// Maximum length of a name on a button, in characters.
const NAME_CHARS: usize = 30;

/// Shows and sets limits on spending.
#[derive(Debug)]
pub(super) struct BudgetCommand {
    cards: Cards,
    people: AccessCard,
    agents: ChatAgents,
    tasks: TaskStore,
    ledger: Arc<Ledger>,
    /// Budgets that were just removed by a button and can be restored.
    removed: RecentlyRemoved<String, Budget>,
}

#[async_trait]
impl Command for BudgetCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("budget", Texts::command_budget)
            .group(Group::Settings)
            .families(&[BudgetButton::NAME])
            .arguments(&[
                ("@ANN 20k a day", "limit a person to so many tokens; as a reply, the name can be left out"),
                ("@ANN $5 a month", "limit a person to so much money"),
                ("here 100k a day", "limit this chat"),
                (
                    "members 20k a day",
                    "limit each member who has no limit of their own; so for guests and admins",
                ),
                ("task TITLE $1 a month", "limit a task of this chat; so for agent NAME and key NAME"),
                ("$10 a month", "limit the whole bot, beside the limits in its settings"),
                ("@ANN off", "remove the limits of a person; so for all the others"),
            ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let (asker, argument) = (request.asker, request.argument().trim());
        let texts = self.cards.texts(asker);
        if argument.is_empty() {
            let card = if asker.is_owner_alone() { self.list(asker, 0).await } else { self.own(asker) };
            return Ok(card.into());
        }
        if asker.standing != Standing::Owner {
            return Ok(Card::text(texts.owner_only()).into());
        }
        let Some((party, change)) = read(argument, texts, &self.cards.languages.locales) else {
            return Ok(Card::text(texts.budget_usage()).into());
        };
        let axis = match self.axis(party, request).await? {
            Ok(axis) => axis,
            Err(complaint) => return Ok(Card::text(complaint).into()),
        };
        let before = self.caps(&axis);
        let caps = change.apply(before);
        self.ledger.set_budget(Budget { axis: axis.clone(), caps }).await?;
        let name = self.name_of(texts, &axis).await;
        let words = match change {
            LimitChange::Off if !before.is_set() => texts.budget_nothing(),
            LimitChange::Off => texts.budget_removed(),
            LimitChange::Set(..) => texts.budget_set(),
        };
        let mut told = fill(words, &[("name", &name), ("limits", &limits_words(texts, caps))]);
        if let Some(warning) = self.unpriced(texts, caps) {
            told.push_str(&format!("\n\n⚠️ {warning}"));
        }
        Ok(Card::text(told).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let (asker, button) = (press.asker, press.data.parse()?);
        if !asker.is_owner_alone() {
            return Ok(Pressed::toast(self.cards.texts(asker).owner_only()));
        }
        Ok(match button {
            BudgetButton::List(page) => Pressed::card(self.list(asker, page).await),
            BudgetButton::Open(of, page) => self.change(asker, &of, page, |caps| caps).await?,
            BudgetButton::Less(of, page) => self.change(asker, &of, page, |cap| cap.div_ceil(2)).await?,
            BudgetButton::More(of, page) => {
                self.change(asker, &of, page, |cap| cap.saturating_mul(2)).await?
            }
            BudgetButton::Remove(of, page) => self.remove(asker, &of, page).await?,
            BudgetButton::Undo(of, page) => self.undo(asker, &of, page).await?,
        })
    }
}

impl BudgetCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            people: AccessCard::new(handles),
            agents: ChatAgents::new(handles),
            tasks: handles.store.tasks(),
            ledger: handles.ledger.clone(),
            removed: RecentlyRemoved::after(handles.eraser.erasures.clone()),
        }
    }

    /// Returns the warning that no model answers within limits of money alone, if its price is unknown.
    fn unpriced(&self, texts: &Texts, caps: PeriodCaps) -> Option<String> {
        let model = self.ledger.models.default_model();
        let is_unpriced = !caps.day.and(caps.month).takes_unpriced() && self.ledger.price(model).is_none();
        is_unpriced.then(|| fill(texts.error_unpriced(), &[("model", &model.to_string())]))
    }

    /// Returns the card of a person who is no owner, or of a group: the limits that hold for them there.
    fn own(&self, asker: &Asker) -> Card {
        let texts = self.cards.texts(asker);
        let payer = Payer::new(asker.place.chat, asker.speaker.user.clone());
        let is_theirs = |axis: &BudgetAxis| matches!(axis, BudgetAxis::Person(_) | BudgetAxis::Chat(_));
        let limits = self.ledger.limits(&payer);
        let lines: Vec<String> = limits
            .iter()
            .filter(|limit| is_theirs(&limit.axis))
            .map(|limit| {
                let whose = match limit.axis {
                    BudgetAxis::Chat(_) => texts.budget_of_chat(),
                    _ => texts.budget_of_you(),
                };
                format!("{whose}: {}", limit_line(texts, limit))
            })
            .collect();
        let body = if lines.is_empty() { texts.budget_none_here().to_owned() } else { lines.join("\n") };
        Card::titled(texts.budget_title(), body)
    }

    /// Returns a page of the budgets, under the limits of the whole bot.
    async fn list(&self, asker: &Asker, page: Page) -> Card {
        let texts = self.cards.texts(asker);
        let of_bot = self.ledger.limits_of(BudgetAxis::Bot, asker.place.chat);
        let mut lines: Vec<String> = of_bot.iter().map(|limit| limit_line(texts, limit)).collect();
        if lines.is_empty() {
            lines.push(texts.budget_none().to_owned());
        }
        lines.push(format!("\n{}", texts.budget_usage()));
        let page = ListPage::of(self.ledger.budgets(), page);
        let row = async |budget: &Budget| {
            let name = one_line(&self.name_of(texts, &budget.axis).await, NAME_CHARS);
            let label = format!("{name} · {}", limits_words(texts, budget.caps));
            vec![Button::new(label, BudgetButton::Open(key_of(&budget.axis), page.number()))]
        };
        let rows = join_all(page.items.iter().map(row)).await;
        Card::titled(texts.budget_title(), lines.join("\n")).rows(rows).pages(
            texts,
            &page,
            BudgetButton::List,
        )
    }

    /// Returns the card of a budget: how much of it is used, and what can be done with it.
    async fn one(&self, asker: &Asker, budget: &Budget, page: Page) -> Card {
        let texts = self.cards.texts(asker);
        let key = || key_of(&budget.axis);
        let limits = self.ledger.limits_of(budget.axis.clone(), asker.place.chat);
        let lines: Vec<String> = limits.iter().map(|limit| limit_line(texts, limit)).collect();
        let lines = match budget.axis {
            // Nobody spends as a role: each of its people has these limits.
            BudgetAxis::Role(_) => vec![limits_words(texts, budget.caps), texts.budget_each().to_owned()],
            _ => lines,
        };
        Card::titled(&self.name_of(texts, &budget.axis).await, lines.join("\n"))
            .row(vec![
                Button::new(texts.button_half(), BudgetButton::Less(key(), page)),
                Button::new(texts.button_double(), BudgetButton::More(key(), page)),
            ])
            .row(vec![Button::new(texts.button_remove(), BudgetButton::Remove(key(), page))])
            .row(vec![Button::new(texts.button_back(), BudgetButton::List(page))])
    }

    fn find(&self, of: &BudgetKey) -> Option<Budget> {
        self.ledger.budgets().into_iter().find(|budget| key_of(&budget.axis) == *of)
    }

    fn caps(&self, axis: &BudgetAxis) -> PeriodCaps {
        let budgets = self.ledger.budgets();
        budgets.iter().find(|budget| budget.axis == *axis).map(|budget| budget.caps).unwrap_or_default()
    }

    /// Tells that a budget no longer exists, and shows the list.
    async fn gone(&self, asker: &Asker, page: Page) -> Pressed {
        Pressed::both(self.cards.texts(asker).gone(), self.list(asker, page).await)
    }

    /// Changes each limit of a budget, and shows its card.
    async fn change(
        &self,
        asker: &Asker,
        of: &BudgetKey,
        page: Page,
        change: impl Fn(u64) -> u64 + Send + Sync,
    ) -> Result<Pressed, StoreError> {
        let Some(mut budget) = self.find(of) else { return Ok(self.gone(asker, page).await) };
        let before = budget.caps;
        for period in Period::ALL {
            let Caps { tokens, nano_usd } = budget.caps.of(period);
            *budget.caps.of_mut(period) =
                Caps { tokens: tokens.map(&change), nano_usd: nano_usd.map(&change) };
        }
        if budget.caps != before {
            self.ledger.set_budget(budget.clone()).await?;
        }
        Ok(Pressed::card(self.one(asker, &budget, page).await))
    }

    async fn remove(&self, asker: &Asker, of: &BudgetKey, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(budget) = self.find(of) else { return Ok(self.gone(asker, page).await) };
        let axis = budget.axis.clone();
        self.ledger.set_budget(Budget { axis: axis.clone(), caps: PeriodCaps::default() }).await?;
        self.removed.keep(of.to_string(), budget, asker.place.chat, self.cards.now());
        let toast = fill(texts.budget_removed(), &[("name", &self.name_of(texts, &axis).await)]);
        let undo = vec![Button::new(texts.button_undo(), BudgetButton::Undo(of.clone(), page))];
        Ok(Pressed::both(toast, self.list(asker, page).await.row(undo)))
    }

    async fn undo(&self, asker: &Asker, of: &BudgetKey, page: Page) -> Result<Pressed, StoreError> {
        let texts = self.cards.texts(asker);
        let Some(budget) = self.removed.take(&of.to_string(), asker.place.chat, self.cards.now()) else {
            return Ok(Pressed::toast(texts.gone()));
        };
        self.ledger.set_budget(budget.clone()).await?;
        Ok(Pressed::card(self.one(asker, &budget, page).await))
    }

    /// Finds the party that an owner named.
    ///
    /// # Errors
    /// The inner error is for the owner: there is no such party.
    async fn axis(
        &self,
        party: NamedParty,
        request: &CommandRequest<'_>,
    ) -> Result<Result<BudgetAxis, String>, StoreError> {
        let (asker, texts) = (request.asker, self.cards.texts(request.asker));
        let unknown =
            |name: &str| Err(fill(texts.budget_unknown(), &[("name", &one_line(name, NAME_CHARS))]));
        Ok(match party {
            NamedParty::Unnamed => Ok(match request.replied.filter(|one| one.user.telegram_id() > Some(0)) {
                Some(person) => BudgetAxis::Person(person.user.clone()),
                None => BudgetAxis::Bot,
            }),
            NamedParty::Bot => Ok(BudgetAxis::Bot),
            NamedParty::Here => Ok(BudgetAxis::Chat(asker.place.chat)),
            NamedParty::Role(role) => Ok(BudgetAxis::Role(role)),
            NamedParty::Person(name) => match self.person(&name, asker).await? {
                Some(axis) => Ok(axis),
                None => unknown(&name),
            },
            NamedParty::Task(title) => {
                let tasks = self.tasks.of_chat(asker.place.chat)?;
                let live = tasks.iter().filter(|task| task.is_live()).map(|task| (task.title(), task.id));
                match titled(live.collect(), &title).as_slice() {
                    [] => unknown(&title),
                    [(_, task)] => Ok(BudgetAxis::Task(*task)),
                    several => {
                        let titles = several.iter().map(|(title, _)| one_line(title, NAME_CHARS));
                        let titles = titles.collect::<Vec<_>>().join(", ");
                        Err(fill(texts.model_several(), &[("models", &titles)]))
                    }
                }
            }
            NamedParty::Agent(name) => self.agents.named(asker, &name).map(BudgetAxis::Agent),
            NamedParty::Key(name) if self.ledger.knows_key(&name) => Ok(BudgetAxis::Key(name)),
            NamedParty::Key(name) => unknown(&name),
        })
    }

    /// Finds a person by number or username, or a group by its number.
    async fn person(&self, name: &str, asker: &Asker) -> Result<Option<BudgetAxis>, StoreError> {
        if let Some(username) = name.strip_prefix('@') {
            let person = self.people.person_named(username, asker.place.chat).await?;
            return Ok(person.map(BudgetAxis::Person));
        }
        Ok(name.parse().ok().map(|id: i64| match id < 0 {
            true => BudgetAxis::Chat(ChatId(id)),
            false => BudgetAxis::Person(UserId::telegram(id)),
        }))
    }

    async fn name_of(&self, texts: &Texts, axis: &BudgetAxis) -> String {
        match axis {
            BudgetAxis::Bot => texts.budget_of_bot().to_owned(),
            BudgetAxis::Role(role) => texts.role(*role).to_owned(),
            BudgetAxis::Person(user) => match user.telegram_id() {
                Some(id) => self.people.name_of(ChatId(id)).await,
                None => user.to_string(),
            },
            BudgetAxis::Chat(chat) => self.people.name_of(*chat).await,
            BudgetAxis::Task(id) => match self.tasks.find(*id) {
                Ok(Some(task)) => task.title(),
                _ => id.to_string(),
            },
            BudgetAxis::Agent(name) => fill(texts.budget_of_agent(), &[("name", name)]),
            BudgetAxis::Key(name) => fill(texts.budget_of_key(), &[("name", name)]),
        }
    }
}

/// Returns what has this title or, if there is none, all whose title begins with it. Letter case does not matter.
fn titled<T>(all: Vec<(String, T)>, title: &str) -> Vec<(String, T)> {
    let wanted = title.to_lowercase();
    let (exact, mut others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(title, _)| title.to_lowercase() == wanted);
    others.retain(|(title, _)| title.to_lowercase().starts_with(&wanted));
    if exact.is_empty() { others } else { exact }
}

/// Formats limits in one line, such as `20 k tokens a day, $5 a month`.
fn limits_words(texts: &Texts, caps: PeriodCaps) -> String {
    let mut words = Vec::new();
    for period in Period::ALL {
        let frame = match period {
            Period::Day => texts.budget_a_day(),
            Period::Month => texts.budget_a_month(),
        };
        let Caps { tokens, nano_usd } = caps.of(period);
        let amounts = nano_usd.map(dollars).into_iter().chain(tokens.map(|tokens| texts.tokens(tokens)));
        words.extend(amounts.map(|amount| fill(frame, &[("amount", &amount)])));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_title_goes_before_titles_that_begin_with_it() {
        let all = || ["Water", "Water the plants", "Weather"].map(|title| (title.to_owned(), ())).to_vec();
        let found =
            |title: &str| titled(all(), title).into_iter().map(|(title, ())| title).collect::<Vec<_>>();
        assert_eq!(found("water"), ["Water"]);
        assert_eq!(found("water t"), ["Water the plants"]);
        assert_eq!(found("W"), ["Water", "Water the plants", "Weather"]);
        assert_eq!(found("plants"), Vec::<String>::new());
    }
}
