//! `/usage`: shows the usage and costs of the last days. Members and groups see their own chat; an owner in private
//! sees the whole bot, by day, chat, person or model.

use std::collections::BTreeMap;
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
use chrono::{Datelike, NaiveDate};
use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_base::text::one_line;
use figaro_domain::child::{ChildEnd, ChildRun};
use figaro_domain::conversation::{Conversation, Message, MessageRole};
use figaro_domain::usage::{Spending, Spent, UNKNOWN_MONEY, dollars, tokens};
use figaro_ledger::{Ledger, in_background, sum};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{ChildStore, ConversationStore, StoreError};

/// Number of days that are shown.
const DAYS: u64 = 7;
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
            false => self.of_chat(request.asker).await?,
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
            ledger,
        }
    }

    async fn of_chat(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let (days, mut spent) = self.ledger.last_days(DAYS).await?;
        spent.retain(|spending| spending.chat == asker.place.chat);
        let mut lines = day_lines(texts, &days, &spent);
        lines.extend(background_line(texts, &spent));
        lines.extend(self.last_answer(asker, texts).await?);
        explain_unknown(&mut lines, texts);
        Ok(Card::titled(texts.usage_title_chat(), lines.join("\n")))
    }

    async fn of_bot(&self, asker: &Asker, view: UsageButton) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let (days, spent) = self.ledger.last_days(DAYS).await?;
        let mut lines = match view {
            UsageButton::Days => day_lines(texts, &days, &spent),
            UsageButton::Chats => {
                let rows = ranked(&spent, |spending| spending.chat);
                self.named(rows, |chat| Some(chat.0)).await
            }
            UsageButton::People => {
                let rows = ranked(&spent, |spending| spending.user.clone());
                self.named(rows, UserId::telegram_id).await
            }
            UsageButton::Models => {
                let rows = ranked(&spent, |spending| spending.model.to_string());
                bars(rows)
            }
        };
        lines.extend(background_line(texts, &spent));
        lines.extend(cap_lines(&self.ledger, texts));
        lines.extend(self.last_answer(asker, texts).await?);
        explain_unknown(&mut lines, texts);
        let buttons = UsageButton::ALL.into_iter().filter(|other| *other != view);
        let row = buttons.map(|other| Button::new(label(other, texts), other));
        Ok(Card::titled(texts.usage_title(), lines.join("\n")).row(row.collect()))
    }

    /// Returns the usage of the last answer of a chat, with a line for each agent that helped with it.
    async fn last_answer(&self, asker: &Asker, texts: &Texts) -> Result<Vec<String>, StoreError> {
        let here: Conversation = asker.place.conversation();
        let session = self.conversations.session(here, self.cards.now()).await?;
        let recent = self.conversations.recent(session.id, RECENT).await?;
        let is_answer =
            |message: &&Arc<Message>| message.role == MessageRole::Assistant && message.token_usage.is_some();
        let Some(at) = recent.iter().rposition(|message| is_answer(&message)) else { return Ok(Vec::new()) };
        let last = &recent[at];
        let count = tokens(last.token_usage.unwrap_or_default().total());
        let money = last.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
        let model = last.model_id.as_deref().unwrap_or("?");
        let values = [("tokens", count.as_str()), ("money", &money), ("model", model)];
        let mut lines = vec![fill(texts.usage_last(), &values)];
        let turn = recent[..at].iter().rev().find_map(|message| message.turn);
        let children = match turn {
            Some(turn) => self.children.of_run(turn).await?,
            None => Vec::new(),
        };
        lines.extend(tree(texts, &children));
        Ok(lines)
    }

    /// Returns rows labelled with the Telegram names of chats and people.
    async fn named<T>(&self, rows: Vec<(T, Spent)>, id: impl Fn(&T) -> Option<i64>) -> Vec<String> {
        let mut named = Vec::new();
        for (of, spent) in rows {
            let name = match id(&of) {
                Some(id) => one_line(&self.cards.names_of(ChatId(id)).await.0, NAME_CHARS),
                None => "?".to_owned(),
            };
            named.push((name, spent));
        }
        bars(named)
    }
}

/// Returns the lines that show how much of today's caps is used.
pub(super) fn cap_lines(ledger: &Ledger, texts: &Texts) -> Vec<String> {
    let (caps, spent) = (ledger.caps(), ledger.spent_today());
    let line = |gone: String, cap: String, percent: String| {
        let values = [("gone", gone.as_str()), ("cap", &cap), ("percent", &percent)];
        fill(texts.usage_cap(), &values)
    };
    let percent = |gone: u64, cap: u64| (u128::from(gone) * 100 / u128::from(cap.max(1))).to_string();
    let by_tokens = caps.tokens.map(|cap| {
        let gone = tokens(spent.tokens);
        let number = gone.strip_suffix(" tokens").unwrap_or(&gone);
        line(number.to_owned(), tokens(cap), percent(spent.tokens, cap))
    });
    let by_money = caps.nano_usd.map(|cap| {
        let known = percent(spent.nano_usd, cap);
        line(spent.money(), dollars(cap), if spent.unpriced == 0 { known } else { "?".to_owned() })
    });
    by_tokens.into_iter().chain(by_money).collect()
}

/// Returns the line for background usage, which nobody waited for.
fn background_line(texts: &Texts, spent: &[Spending]) -> Option<String> {
    let spent = in_background(spent);
    let (count, money) = (tokens(spent.tokens), spent.money());
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
    let count = tokens(child.usage.total());
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
    }
}

/// Returns a line for each day, oldest first.
fn day_lines(texts: &Texts, days: &RangeInclusive<NaiveDate>, spent: &[Spending]) -> Vec<String> {
    let names: Vec<&str> = texts.weekdays().split_whitespace().collect();
    let row = |day: NaiveDate| {
        let name = usize::try_from(day.weekday().num_days_from_monday()).ok().and_then(|at| names.get(at));
        let of_day = sum(spent.iter().filter(|spending| spending.day == day));
        (name.map_or_else(|| day.to_string(), |name| (*name).to_owned()), of_day)
    };
    bars(days.start().iter_days().take_while(|day| day <= days.end()).map(row).collect())
}

/// Groups spending by `of` and returns the top rows, most tokens first.
fn ranked<T: Ord>(spent: &[Spending], of: impl Fn(&Spending) -> T) -> Vec<(T, Spent)> {
    let mut sums: BTreeMap<T, Spent> = BTreeMap::new();
    for spending in spent {
        *sums.entry(of(spending)).or_default() += spending.spent;
    }
    let mut rows: Vec<(T, Spent)> = sums.into_iter().collect();
    rows.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.tokens));
    rows.truncate(ROWS);
    rows
}

/// Formats rows as bars, such as `Fri ███████░░░ 71 k · $0.09`; the row with the most tokens has a full bar.
fn bars(rows: Vec<(String, Spent)>) -> Vec<String> {
    let most = rows.iter().map(|(_, spent)| spent.tokens).max().unwrap_or_default().max(1);
    let line = |(name, spent): (String, Spent)| {
        let full = (u128::from(spent.tokens) * BAR).div_ceil(u128::from(most));
        let bar: String = (0..BAR).map(|at| if at < full { '█' } else { '░' }).collect();
        match spent.tokens {
            0 => format!("{name} {bar} 0"),
            count => format!("{name} {bar} {} · {}", tokens(count), spent.money()),
        }
    };
    rows.into_iter().map(line).collect()
}
