//! Model calls. The maximum cost of a call is reserved before it is made.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::allowance::AnswerAllowance;
use super::bill::{Bill, MeteredStream};
use super::{CallRuling, DrawnBy, Granted, Ledger, LedgerError, Tree, takes_unpriced};
use figaro_domain::model::ModelName;
use figaro_domain::usage::{Payer, Purpose};
use figaro_policy::budget::{CallEstimate, MAX_ASKED_OUTPUT};
use figaro_provider::fold::Pass;
use figaro_provider::{ProviderError, Request};

/// Interval at which a waiting call checks for room even without a notification.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Maximum attempts of a background call, as questions may displace it; each attempt costs its input tokens.
const MAX_BEGUN: usize = 4;

/// A tree and who draws on it.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The tree that calls draw on.
    pub tree: &'a Arc<Tree>,
    /// Turn or child; a child leaves a part of the tree to the turn.
    pub by: DrawnBy,
}

/// Budget from which a call is reserved.
#[derive(Clone, Copy)]
pub(super) enum BudgetSource<'a> {
    /// The limits of the payer.
    Alone(Purpose),
    /// The shared reservation of a turn and its children.
    Within(Drawing<'a>),
}

impl BudgetSource<'_> {
    pub(super) const fn purpose(self) -> Purpose {
        match self {
            Self::Alone(purpose) => purpose,
            Self::Within(..) => Purpose::Turn,
        }
    }

    /// Background work has no use for a shortened answer.
    const fn is_whole(self) -> bool {
        matches!(self, Self::Alone(Purpose::Background))
    }
}

impl Ledger {
    /// Calls the first of these models that answers. Waits while running calls may still leave room for this one.
    ///
    /// # Errors
    /// When the call may not be made.
    pub async fn call(
        self: &Arc<Self>,
        order: &[ModelName],
        request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        self.call_for(BudgetSource::Alone(Purpose::Turn), order, request, payer).await
    }

    /// Like [`Self::call`], within the shared reservation of a turn and its children. Waits while their running calls may
    /// still leave room for this one.
    ///
    /// # Errors
    /// As for [`Self::call`]; [`LedgerError::OverBudget`] also if the tree has no room left.
    pub async fn call_within(
        self: &Arc<Self>,
        drawing: Drawing<'_>,
        order: &[ModelName],
        request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        self.call_for(BudgetSource::Within(drawing), order, request, payer).await
    }

    /// Calls a model, or its fallbacks, for background work such as session names, summaries and memories, and reads the
    /// answer to its end. Background calls share a part of the limits and leave the last tenth of each to people's
    /// questions. The answer may take the full `max_tokens`, or the call is refused; the provider does not search the
    /// web. If the server limits parallel requests ([`super::Slots`]), the call waits for a slot and starts again when a
    /// question takes its slot. Returns `None` if the provider withheld the answer or it was cut off.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] if a limit leaves no room.
    /// [`LedgerError::Slow`] if the call takes longer than `limit`. [`LedgerError::Busy`] if no slot comes free within
    /// `limit`, or questions displaced the call too often. Others as for [`Self::call`]; also when the stream breaks off.
    pub async fn background_text(
        self: &Arc<Self>,
        model: &ModelName,
        request: Request,
        payer: Payer,
        limit: Duration,
    ) -> Result<Option<String>, LedgerError> {
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
            // Dropping the running call also ends it at the server.
            tokio::select! {
                biased;
                made = tokio::time::timeout(limit, made) => return made.unwrap_or(Err(LedgerError::Slow)),
                () = wanted => {}
            }
        }
        Err(LedgerError::Busy)
    }

    pub(super) async fn background(
        self: &Arc<Self>,
        model: &ModelName,
        request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        let request = Request { web_search: false, ..request };
        let order = self.models.order(&self.model_for(&payer, model.clone()));
        self.call_for(BudgetSource::Alone(Purpose::Background), &order, request, payer).await
    }

    async fn call_for(
        self: &Arc<Self>,
        way: BudgetSource<'_>,
        order: &[ModelName],
        mut request: Request,
        payer: Payer,
    ) -> Result<MeteredStream, LedgerError> {
        let limits = self.accounts().limits(&payer, way.purpose(), &[]);
        let order = self.affordable(order, &limits)?;
        let Some(first) = order.first().cloned() else {
            return Err(ProviderError::UnknownModel("there is no model to ask".into()).into());
        };
        // If money is the only limit, calls of unknown price are refused.
        let is_known = |model: &ModelName| self.prices.of(model).is_some_and(|price| price.search.is_some());
        request.web_search &= takes_unpriced(&limits) || order.iter().all(is_known);
        // A longer request is cut before it is sent.
        let most = self.models.most_input(&order).unwrap_or(usize::MAX);
        let input = u64::try_from(request.estimate_tokens().min(most)).unwrap_or(u64::MAX);
        let slots = match way.purpose() {
            // Takes slots for fallback models too: they may be asked soon.
            Purpose::Turn => {
                let servers: BTreeSet<&str> = order.iter().map(|model| model.provider.as_str()).collect();
                servers.into_iter().filter_map(|server| self.slots.question(server)).collect()
            }
            // The caller holds a slot.
            Purpose::Background => Vec::new(),
        };
        let mut bill = Bill::new(Arc::clone(self), payer, way.purpose(), first, input);
        let is_limited = !limits.is_empty();
        if is_limited || matches!(way, BudgetSource::Within(..)) {
            bill = self.reserve(bill, &order, &mut request, way).await?;
        }
        // Without a limit, a reservation lost in a crash does no harm.
        if is_limited {
            bill = self.keep(bill).await?;
        }
        let may_search = self.models.may_search(&order, &request);
        let room = AnswerAllowance::new(request.settings.max_tokens);
        Ok(MeteredStream::new(self.models.stream(&order, &request), bill, may_search, room, slots))
    }

    /// Reserves the maximum cost of a call and limits the call to it.
    async fn reserve(
        self: &Arc<Self>,
        mut bill: Bill,
        order: &[ModelName],
        request: &mut Request,
        way: BudgetSource<'_>,
    ) -> Result<Bill, LedgerError> {
        let wanted = CallEstimate {
            input: bill.input,
            output: request
                .settings
                .max_tokens
                .map_or_else(|| self.longest_answer(order), |tokens| u64::from(tokens).min(MAX_ASKED_OUTPUT)),
            is_whole: way.is_whole(),
            search: self.models.may_search(order, request),
            price: self.highest_price(order),
        };
        let granted = match way {
            BudgetSource::Within(drawing) => self.draw(drawing, wanted, &mut bill).await?,
            BudgetSource::Alone(_) => self.set_aside(wanted, &mut bill).await?,
        };
        request.settings.max_tokens = Some(u32::try_from(granted.output).unwrap_or(u32::MAX));
        request.web_search = granted.search;
        Ok(bill)
    }

    /// Waits until the tree has room for a call, and records the reservation on the bill.
    pub(super) async fn draw(
        &self,
        Drawing { tree, by }: Drawing<'_>,
        wanted: CallEstimate,
        bill: &mut Bill,
    ) -> Result<Granted, LedgerError> {
        loop {
            // Subscribe before the check, so that no settlement in between is missed.
            let booked = self.booked.notified();
            match self.draw_once(tree, by, wanted, bill.payer()) {
                (CallRuling::Grant(granted), drawn) => {
                    bill.reserve(tree.date(), granted.most, granted.output);
                    bill.draw(drawn);
                    return Ok(granted);
                }
                (CallRuling::Wait, _) => drop(tokio::time::timeout(LOOK_AGAIN, booked).await),
                (CallRuling::Over(error), _) => return Err(error),
            }
        }
    }

    /// Waits until there is room for a call, and records the reservation on its bill; the caller still has to store it.
    pub(super) async fn set_aside(
        &self,
        wanted: CallEstimate,
        bill: &mut Bill,
    ) -> Result<Granted, LedgerError> {
        loop {
            // Subscribe before the check, so that no settlement in between is missed.
            let booked = self.booked.notified();
            let (date, ruling) = self.grant(wanted, bill.payer(), bill.purpose());
            match ruling {
                CallRuling::Grant(granted) => {
                    bill.reserve(date, granted.most, granted.output);
                    return Ok(granted);
                }
                // The period may end meanwhile, without a notification.
                CallRuling::Wait => drop(tokio::time::timeout(LOOK_AGAIN, booked).await),
                CallRuling::Over(error) => return Err(error),
            }
        }
    }

    /// Stores the reservation of a call. Runs in its own task, so that a caller who gives up leaves it either stored or
    /// taken back: a bill that nobody receives is settled.
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

async fn written(mut call: MeteredStream) -> Result<Option<String>, LedgerError> {
    let mut pass = Pass::default();
    while let Some(event) = call.next().await {
        pass.absorb(event?);
    }
    Ok((pass.filtered.is_none() && !pass.cut_short).then_some(pass.text))
}
