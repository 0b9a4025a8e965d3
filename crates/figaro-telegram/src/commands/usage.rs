//! `/usage`: shows the usage and costs of the last days. Members and groups see their own chat; an owner in private
//! sees the whole bot, by day, chat, person or model.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::asker::Asker;
use super::card::{Card, explain_unknown};
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use super::list_page::ROWS;
use crate::callback::{ButtonFamily, UsageButton};
use crate::send::Button;
use async_trait::async_trait;
use chrono::{Datelike, Months, NaiveDate};
use figaro_base::ids::{ChatId, RunId, TaskId, UserId};
use figaro_base::text::one_line;
use figaro_domain::budget::{BudgetAxis, Period};
use figaro_domain::child::{ChildEnd, ChildRun};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::usage::{Ratings, Spending, Spent, UNKNOWN_MONEY, dollars};
use figaro_ledger::{Ledger, LimitUse, in_background};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ChildStore, ConversationStore, StoreError, TaskStore};

/// Number of days that are shown.
const DAYS: u64 = 7;
/// Number of months before the current one that are shown, and the most days of all of them.
const MONTHS_BEFORE: u32 = 5;
const DAYS_OF_MONTHS: u64 = 184;
/// Number of buttons in a row.
const PER_ROW: usize = 3;
/// Number of blocks in a full bar.
const BAR: u128 = 10;
/// Number of newest messages that are searched for the last answer.
const RECENT: usize = 20;
/// Maximum length of a name before its bar, in characters.
const NAME_CHARS: usize = 24;

/// Shows the usage and costs of the last days.
#[derive(Debug)]
pub(super) struct UsageCommand {
    cards: Cards,
    conversations: ConversationStore,
    children: ChildStore,
    tasks: TaskStore,
    ledger: Arc<Ledger>,
}

#[async_trait]
impl Command for UsageCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("usage", Texts::command_usage).group(Group::Settings).families(&[UsageButton::NAME])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        // In a group everybody would read the figures for owners.
        let card = match request.asker.is_owner_alone() {
            true => self.of_bot(request.asker, UsageButton::Days).await?,
            false => self.of_chat(request.asker)?,
        };
        Ok(card.into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let view = press.data.parse()?;
        if !press.asker.is_owner_alone() {
            return Ok(Pressed::toast(self.cards.texts(press.asker).owner_only()));
        }
        Ok(Pressed::card(self.of_bot(press.asker, view).await?))
    }
}

impl UsageCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        let (cards, ledger) = (handles.cards.clone(), handles.ledger.clone());
        Self {
            cards,
            conversations: handles.store.conversations(),
            children: handles.store.children(),
            tasks: handles.store.tasks(),
            ledger,
        }
    }

    fn of_chat(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let (days, mut spent) = self.ledger.last_days(DAYS)?;
        spent.retain(|spending| spending.chat == asker.place.chat);
        let mut lines = day_lines(texts, &days, &spent);
        lines.extend(background_line(texts, &spent));
        lines.extend(self.last_answer(asker, texts)?);
        explain_unknown(&mut lines, texts);
        Ok(Card::titled(texts.usage_title_chat(), lines.join("\n")))
    }

    async fn of_bot(&self, asker: &Asker, view: UsageButton) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let of_months = view == UsageButton::Month;
        let (days, mut spent) = self.ledger.last_days(if of_months { DAYS_OF_MONTHS } else { DAYS })?;
        if of_months {
            let first = first_month(*days.end());
            spent.retain(|spending| first <= spending.day);
        }
        let mut lines = match view {
            UsageButton::Month => month_lines(texts, &spent),
            UsageButton::Days => day_lines(texts, &days, &spent),
            UsageButton::Chats => {
                let rows = ranked(&spent, |spending| vec![spending.chat]);
                self.named(texts, rows, |chat| Some(chat.0)).await
            }
            UsageButton::People => {
                let rows = ranked(&spent, |spending| vec![spending.user.clone()]);
                self.named(texts, rows, UserId::telegram_id).await
            }
            UsageButton::Models => bars(texts, ranked(&spent, |spending| vec![spending.model.to_string()])),
            UsageButton::Agents => bars(texts, ranked(&spent, |spending| spending.agents.clone())),
            UsageButton::Tasks => {
                bars(texts, self.titled(ranked(&spent, |spending| spending.task.into_iter().collect())))
            }
            UsageButton::Keys => {
                bars(texts, ranked(&spent, |spending| spending.key.clone().into_iter().collect()))
            }
        };
        lines.extend(background_line(texts, &spent));
        lines.extend(cap_lines(&self.ledger, texts));
        lines.extend(self.last_answer(asker, texts)?);
        explain_unknown(&mut lines, texts);
        let is_offered = |other: &UsageButton| *other != view && is_used(*other, &spent);
        let buttons = UsageButton::ALL.into_iter().filter(is_offered);
        let row = buttons.map(|other| Button::new(label(other, texts), other));
        let title = if view == UsageButton::Month { texts.usage_title_months() } else { texts.usage_title() };
        let buttons: Vec<Button> = row.collect();
        Ok(Card::titled(title, lines.join("\n")).rows(buttons.chunks(PER_ROW).map(<[Button]>::to_vec)))
    }

    /// Returns the usage of the last answer of a chat, with a line for each agent that helped with it.
    fn last_answer(&self, asker: &Asker, texts: &Texts) -> Result<Vec<String>, StoreError> {
        let here: ConversationId = asker.place.conversation();
        let session = self.conversations.session(here, self.cards.now())?;
        let recent = self.conversations.recent(session.id, RECENT)?;
        let is_answer =
            |message: &&Arc<Message>| message.role == MessageRole::Assistant && message.token_usage.is_some();
        let Some(at) = recent.iter().rposition(|message| is_answer(&message)) else { return Ok(Vec::new()) };
        let last = &recent[at];
        let count = texts.tokens(last.token_usage.unwrap_or_default().total());
        let money = last.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
        let model = last.model_id.as_deref().unwrap_or("?");
        let values = [("tokens", count.as_str()), ("money", &money), ("model", model)];
        let mut lines = vec![fill(texts.usage_last(), &values)];
        let turn = recent[..at].iter().rev().find_map(|message| message.turn);
        let children = match turn {
            Some(turn) => self.children.of_run(turn)?,
            None => Vec::new(),
        };
        lines.extend(tree(texts, &children));
        Ok(lines)
    }

    /// Returns rows labelled with the titles of tasks.
    fn titled(&self, rows: Vec<(TaskId, UsageRow)>) -> Vec<(String, UsageRow)> {
        let title = |id: TaskId| match self.tasks.find(id) {
            Ok(Some(task)) => one_line(&task.title(), NAME_CHARS),
            _ => "?".to_owned(),
        };
        rows.into_iter().map(|(id, row)| (title(id), row)).collect()
    }

    /// Returns rows labelled with the Telegram names of chats and people.
    async fn named<T>(
        &self,
        texts: &Texts,
        rows: Vec<(T, UsageRow)>,
        id: impl Fn(&T) -> Option<i64>,
    ) -> Vec<String> {
        let mut named = Vec::new();
        for (of, spent) in rows {
            let name = match id(&of) {
                Some(id) => one_line(&self.cards.names_of(ChatId(id)).await.0, NAME_CHARS),
                None => "?".to_owned(),
            };
            named.push((name, spent));
        }
        bars(texts, named)
    }
}

/// Returns the lines that show how much of the bot's limits is used.
pub(super) fn cap_lines(ledger: &Ledger, texts: &Texts) -> Vec<String> {
    let limits = ledger.limits_of(BudgetAxis::Bot, ChatId(0));
    limits.iter().map(|limit| limit_line(texts, limit)).collect()
}

/// Returns the lines that show how much of a limit is used: of its money and of its tokens.
pub(super) fn limit_line(texts: &Texts, limit: &LimitUse) -> String {
    texts.used_of(limit.period, limit.bound.caps, limit.bound.usage.spent).join("\n")
}

/// Returns the line for background usage, which nobody waited for.
fn background_line(texts: &Texts, spent: &[Spending]) -> Option<String> {
    let spent = in_background(spent);
    let (count, money) = (texts.tokens(spent.tokens), spent.money());
    let values = [("tokens", count.as_str()), ("money", &money)];
    (spent.tokens > 0).then(|| fill(texts.usage_background(), &values))
}

/// Returns a line for each child agent, below its parent.
fn tree(texts: &Texts, children: &[ChildRun]) -> Vec<String> {
    let ids: Vec<RunId> = children.iter().map(|child| child.id).collect();
    let tops = children.iter().filter(|child| !ids.contains(&child.parent));
    let mut lines = Vec::new();
    tops.for_each(|child| branch(texts, children, child, &mut lines));
    lines
}

fn branch(texts: &Texts, children: &[ChildRun], child: &ChildRun, lines: &mut Vec<String>) {
    let count = texts.tokens(child.usage.total());
    let money = child.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
    let values = [("agent", child.agent.as_str()), ("tokens", count.as_str()), ("money", &money)];
    let depth = usize::try_from(child.depth).unwrap_or_default();
    let mut line = format!("{}↳ {}", "  ".repeat(depth), fill(texts.usage_child(), &values));
    if let Some(end) = child.outcome.as_ref().and_then(|outcome| end_words(texts, outcome.end)) {
        line.push_str(&format!(" ({end})"));
    }
    lines.push(line);
    let own = children.iter().filter(|other| other.parent == child.id);
    own.for_each(|other| branch(texts, children, other, lines));
}

/// Returns the text for the end of a child that did not finish its work; `None` if it did.
fn end_words(texts: &Texts, end: ChildEnd) -> Option<&str> {
    match end {
        ChildEnd::Done => None,
        ChildEnd::Failed => Some(texts.usage_child_failed()),
        ChildEnd::Timeout => Some(texts.usage_child_timeout()),
        ChildEnd::Cancelled => Some(texts.usage_child_cancelled()),
        ChildEnd::OverBudget => Some(texts.usage_child_over_budget()),
    }
}

/// Returns the label of a view's button.
fn label(view: UsageButton, texts: &Texts) -> &str {
    match view {
        UsageButton::Days => texts.usage_days(),
        UsageButton::Chats => texts.usage_chats(),
        UsageButton::People => texts.usage_people(),
        UsageButton::Models => texts.usage_models(),
        UsageButton::Agents => texts.usage_agents(),
        UsageButton::Tasks => texts.usage_tasks(),
        UsageButton::Keys => texts.usage_keys(),
        UsageButton::Month => texts.usage_month(),
    }
}

/// Returns `true` if a view has something to show: not each bot has agents, tasks and keys that spend.
fn is_used(view: UsageButton, spent: &[Spending]) -> bool {
    match view {
        UsageButton::Agents => spent.iter().any(|spending| !spending.agents.is_empty()),
        UsageButton::Tasks => spent.iter().any(|spending| spending.task.is_some()),
        UsageButton::Keys => spent.iter().any(|spending| spending.key.is_some()),
        _ => true,
    }
}

/// Spending and reactions of a row.
#[derive(Debug, Clone, Copy, Default)]
struct UsageRow {
    spent: Spent,
    ratings: Ratings,
}

impl UsageRow {
    fn add(&mut self, spending: &Spending) {
        self.spent += spending.spent;
        self.ratings += spending.ratings;
    }
}

/// Returns a line for each day, oldest first.
fn day_lines(texts: &Texts, days: &RangeInclusive<NaiveDate>, spent: &[Spending]) -> Vec<String> {
    let names: Vec<&str> = texts.weekdays().split_whitespace().collect();
    let row = |day: NaiveDate| {
        let name = usize::try_from(day.weekday().num_days_from_monday()).ok().and_then(|at| names.get(at));
        let mut of_day = UsageRow::default();
        spent.iter().filter(|spending| spending.day == day).for_each(|spending| of_day.add(spending));
        (name.map_or_else(|| day.to_string(), |name| (*name).to_owned()), of_day)
    };
    bars(texts, days.start().iter_days().take_while(|day| day <= days.end()).map(row).collect())
}

/// Returns the first day of the first month that is shown.
fn first_month(today: NaiveDate) -> NaiveDate {
    let first = Period::Month.start(today);
    first.checked_sub_months(Months::new(MONTHS_BEFORE)).unwrap_or(first)
}

/// Returns a line for each month with spending, oldest first.
fn month_lines(texts: &Texts, spent: &[Spending]) -> Vec<String> {
    let mut sums: BTreeMap<String, UsageRow> = BTreeMap::new();
    for spending in spent {
        sums.entry(spending.day.format("%Y-%m").to_string()).or_default().add(spending);
    }
    bars(texts, sums.into_iter().collect())
}

/// Adds spending up by each of the parties that `of` names, and returns the top rows, most tokens first.
fn ranked<T: Ord>(spent: &[Spending], of: impl Fn(&Spending) -> Vec<T>) -> Vec<(T, UsageRow)> {
    let mut sums: BTreeMap<T, UsageRow> = BTreeMap::new();
    for spending in spent {
        // An agent may be asked by way of others.
        for one in BTreeSet::from_iter(of(spending)) {
            sums.entry(one).or_default().add(spending);
        }
    }
    let mut rows: Vec<(T, UsageRow)> = sums.into_iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.spent.tokens));
    rows.truncate(ROWS);
    rows
}

/// Formats rows as bars, such as `Fri ███████░░░ 71 k tokens · $0.09 · 👍 3 👎 1`; the row with the most tokens has a full
/// bar.
fn bars(texts: &Texts, rows: Vec<(String, UsageRow)>) -> Vec<String> {
    let most = rows.iter().map(|(_, row)| row.spent.tokens).max().unwrap_or_default().max(1);
    let line = |(name, UsageRow { spent, ratings }): (String, UsageRow)| {
        let full = (u128::from(spent.tokens) * BAR).div_ceil(u128::from(most));
        let bar: String = (0..BAR).map(|at| if at < full { '█' } else { '░' }).collect();
        let line = match spent.tokens {
            0 => format!("{name} {bar} 0"),
            count => format!("{name} {bar} {} · {}", texts.tokens(count), spent.money()),
        };
        // A reaction can be taken back on a later day.
        let marks = [("👍", ratings.good), ("👎", ratings.bad)].into_iter().filter(|(_, count)| *count > 0);
        let marks: Vec<String> = marks.map(|(mark, count)| format!("{mark} {count}")).collect();
        if marks.is_empty() { line } else { format!("{line} · {}", marks.join(" ")) }
    };
    rows.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use chrono::Days;

    use super::*;

    #[test]
    fn months_are_shown_whole() {
        let mut today = NaiveDate::from_ymd_opt(2027, 1, 1).unwrap();
        for _ in 0..1_500 {
            let first = first_month(today);
            assert_eq!(first.day(), 1);
            assert!(first >= today - Days::new(DAYS_OF_MONTHS - 1), "{today}");
            today = today + Days::new(1);
        }
        assert_eq!(
            first_month(NaiveDate::from_ymd_opt(2027, 3, 1).unwrap()),
            NaiveDate::from_ymd_opt(2026, 10, 1).unwrap()
        );
    }
}
