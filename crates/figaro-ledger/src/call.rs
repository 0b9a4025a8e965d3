//! Calls of models: what one may come to is set aside before it is made.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::bill::{Bill, MeteredStream, Room};
use super::{DrawnBy, Ledger, LedgerError, Tree};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Purpose, Usage};
use figaro_policy::budget::{MAX_ASKED_OUTPUT, Ruling, Wanted};
use figaro_provider::fold::Pass;
use figaro_provider::{ProviderError, Request};

/// So often a call that waits looks whether there is room, should nothing tell it.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// A call that nobody waits for is begun so often, as questions take its place; each time costs what was sent.
const MAX_BEGUN: usize = 4;

/// A tree, and who draws on it.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The tree.
    pub tree: &'a Arc<Tree>,
    /// Who draws on it.
    pub by: DrawnBy,
}

/// What a call is set aside from.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// From the caps of the day.
    Alone(Purpose),
    /// From what a turn and its children may take together.
    Within(Drawing<'a>),
}

impl Way<'_> {
    const fn purpose(self) -> Purpose {
        match self {
            Self::Alone(purpose) => purpose,
            Self::Within(..) => Purpose::Turn,
        }
    }
}

/// What a call may take.
pub(super) struct Granted {
    /// The most tokens of its answer.
    output: u64,
    /// Whether its provider may search.
    search: bool,
}

/// What a call in the background has written.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// Its text; `None` where the provider withheld it, or it ended in the middle.
    pub text: Option<String>,
    /// The tokens that it took, as far as the provider says.
    pub usage: Usage,
}

impl Ledger {
    /// Calls the first of these models that answers. Waits while calls under way may still leave room for this one.
    ///
    /// # Errors
    /// When the call may not be made.
    pub async fn call(
        self: &Arc<Self>,
        order: &[ModelName],
        request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        self.call_for(Way::Alone(Purpose::Turn), order, request, payer).await
    }

    /// As [`Self::call`], within what a turn and the agents that it asks may take together. Waits while calls of theirs under
    /// way may still leave room for this one.
    ///
    /// # Errors
    /// As for [`Self::call`]; [`LedgerError::OverBudget`] also where the tree has no room left.
    pub async fn call_within(
        self: &Arc<Self>,
        drawing: Drawing<'_>,
        order: &[ModelName],
        request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        self.call_for(Way::Within(drawing), order, request, payer).await
    }

    /// Calls a model, or those that stand in for it, for work that nobody waits for, such as names of sessions, summaries and
    /// memories, and reads its answer to the end. All such calls together have a share of the caps of their own and leave the
    /// last tenth of the caps to people's questions. The answer is as long as `max_tokens` says, or the call is refused; the
    /// provider does not search the web. Where its server takes few requests at a time ([`super::Slots`]), it waits for a
    /// place, and begins anew when a question needs that.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] where today leaves no room for it: [`Ledger::resets_at`] says when there will be;
    /// [`LedgerError::Slow`] if the call takes longer than `limit`; [`LedgerError::Busy`] if no place comes free for as long,
    /// or questions have taken it too often. Others as for [`Self::call`]; also when the call breaks off.
    pub async fn background_text(
        self: &Arc<Self>,
        model: &ModelName,
        request: Request,
        payer: Payer,
        limit: Duration,
    ) -> Result<Written, LedgerError> {
        for _ in 0..MAX_BEGUN {
            let place = tokio::time::timeout(limit, self.slots.background(&model.provider)).await;
            let slot = place.map_err(|_elapsed| LedgerError::Busy)?;
            let made = async { written(self.background(model, request.clone(), payer.clone()).await?).await };
            let wanted = async {
                match &slot {
                    Some(slot) => slot.wanted().await,
                    None => std::future::pending().await,
                }
            };
            // Dropping a call under way ends it at the server, too.
            tokio::select! {
                biased;
                made = tokio::time::timeout(limit, made) => return made.unwrap_or(Err(LedgerError::Slow)),
                () = wanted => {}
            }
        }
        Err(LedgerError::Busy)
    }

    /// Begins a call that nobody waits for.
    pub(super) async fn background(
        self: &Arc<Self>,
        model: &ModelName,
        request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        let request = Request { web_search: false, ..request };
        let order = self.models.order(model);
        self.call_for(Way::Alone(Purpose::Background), &order, request, payer).await
    }

    async fn call_for(
        self: &Arc<Self>,
        way: Way<'_>,
        order: &[ModelName],
        mut request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        let order = self.affordable(order)?;
        let Some(first) = order.first().cloned() else {
            return Err(ProviderError::UnknownModel("there is no model to ask".into()).into());
        };
        // Where money is the only bound, nothing of unknown price is done.
        let is_known = |model: &ModelName| self.prices.of(model).is_some_and(|price| price.search.is_some());
        request.web_search &= self.caps.takes_unpriced() || order.iter().all(is_known);
        // What is longer is cut before it is sent.
        let most = self.models.most_input(&order).unwrap_or(usize::MAX);
        let input = u64::try_from(request.estimate_tokens().min(most)).unwrap_or(u64::MAX);
        let slots = match way.purpose() {
            // Also where only what stands in is asked: that may be soon.
            Purpose::Turn => {
                let servers: BTreeSet<&str> = order.iter().map(|model| model.provider.as_str()).collect();
                servers.into_iter().filter_map(|server| self.slots.question(server)).collect()
            }
            // Its caller holds a place.
            Purpose::Background => Vec::new(),
        };
        let mut bill = Bill::new(Arc::clone(self), payer, way.purpose(), first, input);
        if self.caps.is_set() || matches!(way, Way::Within(..)) {
            bill = self.reserve(bill, &order, &mut request, way).await?;
        }
        let may_search = self.models.may_search(&order, &request);
        let room = Room::new(request.settings.max_tokens);
        Ok(MeteredStream::new(self.models.stream(&order, &request), bill, may_search, room, slots))
    }

    /// Sets aside what a call may come to, and bounds it by that.
    async fn reserve(
        self: &Arc<Self>,
        mut bill: Bill,
        order: &[ModelName],
        request: &mut Request,
        way: Way<'_>,
    ) -> Result<Bill, LedgerError> {
        let wanted = Wanted {
            input: bill.input,
            output: request
                .settings
                .max_tokens
                .map_or_else(|| self.longest_answer(order), |tokens| u64::from(tokens).min(MAX_ASKED_OUTPUT)),
            search: self.models.may_search(order, request),
            price: self.highest_price(order),
        };
        let granted = match way {
            Way::Within(drawing) => self.draw(drawing, wanted, &mut bill).await?,
            Way::Alone(_) => self.set_aside(wanted, &mut bill).await?,
        };
        request.settings.max_tokens = Some(u32::try_from(granted.output).unwrap_or(u32::MAX));
        request.web_search = granted.search;
        // Without a cap nothing is lost if a crash forgets it.
        if self.caps.is_set() { self.keep(bill).await } else { Ok(bill) }
    }

    /// Waits until a tree has room for a call, and notes on its bill what it draws.
    async fn draw(
        &self,
        Drawing { tree, by }: Drawing<'_>,
        wanted: Wanted,
        bill: &mut Bill,
    ) -> Result<Granted, LedgerError> {
        loop {
            // Before the look, so that no settlement in between is missed.
            let booked = self.booked.notified();
            match tree.draw(wanted, by) {
                (Ruling::Grant { output, search, most }, drawn) => {
                    bill.reserve(tree.date(), most, output);
                    bill.draw(drawn);
                    return Ok(Granted { output, search });
                }
                (Ruling::Wait, _) => drop(tokio::time::timeout(LOOK_AGAIN, booked).await),
                (Ruling::Over, _) => return Err(LedgerError::OverBudget),
            }
        }
    }

    /// Waits until there is room for a call, and notes on its bill what is set aside; that is still to be kept.
    pub(super) async fn set_aside(&self, wanted: Wanted, bill: &mut Bill) -> Result<Granted, LedgerError> {
        loop {
            // Before the look, so that no settlement in between is missed.
            let booked = self.booked.notified();
            let (date, ruling) = self.grant(wanted, bill.purpose());
            match ruling {
                Ruling::Grant { output, search, most } => {
                    bill.reserve(date, most, output);
                    return Ok(Granted { output, search });
                }
                // The day may end meanwhile, which nobody tells.
                Ruling::Wait => drop(tokio::time::timeout(LOOK_AGAIN, booked).await),
                Ruling::Over => return Err(LedgerError::OverBudget),
            }
        }
    }

    /// Stores what is set aside for a call. A task does it, so that a caller who gives up in the middle leaves it either
    /// whole or taken back: a bill that nobody receives is settled.
    pub(super) async fn keep(self: &Arc<Self>, bill: Bill) -> Result<Bill, LedgerError> {
        let (done, kept) = oneshot::channel();
        let store = self.store.clone();
        self.background.spawn("reserve", async move {
            let stored = match bill.reservation() {
                Some(reservation) => store.reserve(&reservation).await,
                None => Ok(()),
            };
            drop(done.send(stored.map(|()| bill)));
        });
        match kept.await {
            Ok(Ok(bill)) => Ok(bill),
            Ok(Err(error)) => {
                tracing::error!(%error, label = error.label(), "nothing can be set aside for a model call");
                Err(LedgerError::Store)
            }
            Err(_closed) => Err(LedgerError::Store),
        }
    }
}

async fn written(mut call: MeteredStream) -> Result<Written, LedgerError> {
    let mut pass = Pass::default();
    while let Some(event) = call.next().await {
        pass.absorb(event?);
    }
    let text = (pass.filtered.is_none() && !pass.cut_short).then_some(pass.text);
    Ok(Written { text, usage: pass.usage.unwrap_or_default() })
}
