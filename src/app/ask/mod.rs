//! `figaro ask`: answers one question in the terminal with the turns of the bot. `docs/ask.md` explains the output.

mod ended;
mod options;
mod outside;
mod print;
mod question;
mod ready;
mod remedy;

use std::collections::HashMap;
use std::io;

use futures::Stream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use self::ended::{FinishedTurn, STOPPED, finish, stopped, unprinted};
pub use self::options::AskOptions;
use self::print::Printer;
use self::ready::{PreparedQuestion, of_terminal, ready};
use self::remedy::ModelEndpoint;
use super::additions::Additions;
use super::failure::{AppFailure, StartupError};
use super::groups::{AT_ONCE, Groups, LAST_CALL};
use super::parts::asking::AskService;
use super::providers::{settings_without_bot, table};
use super::start_log;
use super::stop::StopRequests;
use figaro_agent::delivery::OutsideEvent;
use figaro_agent::turn::control::Control;
use figaro_agent::turn::queue::{Job, Runner};
use figaro_agent::turn::unfinished::end_unfinished;
use figaro_config::Settings;
use figaro_domain::budget::{BudgetAxis, Period};

/// Reason to stop printing a turn.
enum PrintStop {
    /// A stop signal arrived.
    Stopped,
    /// Standard output cannot be written or is closed.
    Unprinted(io::Error),
}

/// Asks a question and prints the answer as it streams. The first of `stops` ends the call at once.
///
/// # Errors
/// When the settings, the options or the store are invalid; when there is no answer.
pub async fn ask(
    values: &HashMap<String, String>,
    options: AskOptions,
    stops: impl Stream<Item = ()> + Unpin,
) -> Result<(), AppFailure> {
    let mut values = values.clone();
    // Log lines would mix with the answer.
    values.entry("RUST_LOG".to_owned()).or_insert_with(|| "off".to_owned());
    let settings = settings_without_bot(&values, &Additions::default())?;
    let log = start_log(&settings, settings.redactor())?;
    let answered = Box::pin(answer(of_terminal(settings), options, stops)).await;
    log.end().await;
    answered
}

async fn answer(
    settings: Settings,
    options: AskOptions,
    stops: impl Stream<Item = ()> + Unpin,
) -> Result<(), AppFailure> {
    let (groups, mut stop) = (Groups::default(), StopRequests::new(stops, false));
    let ready = tokio::select! {
        ready = ready(&settings, &groups, &options) => ready?,
        () = stop.requested() => {
            groups.end_helpers(AT_ONCE).await;
            return Err(AppFailure::Unanswered(STOPPED.to_owned()));
        }
    };
    let PreparedQuestion {
        asking: AskService { turns, store, ledger, locales, clock, .. },
        question,
        place,
        told,
    } = ready;
    let before = ledger.spent(&BudgetAxis::Bot, Period::Day);
    let (control, mut printer) = (Control::default(), Printer::new(options.json, locales));
    let turn_control = control.clone();
    groups.front.spawn("turn", async move {
        // The result of an answered turn is not needed.
        drop(turns.run(Job::Ask(question), turn_control).await);
    });
    let cut = follow(told, &mut printer, &control, &mut stop).await.err();
    let within = if cut.is_some() { AT_ONCE } else { LAST_CALL };
    groups.front.stop();
    groups.front.finish(within).await;
    let (redactor, AskOptions { agent, model, session, .. }) = (settings.redactor(), options);
    let asked = ModelEndpoint::of(&settings, &table(&Additions::default())?, model.as_ref());
    let ended =
        FinishedTurn { printer, store: &store, ledger: &ledger, redactor, agent, model, asked, before };
    let done = match cut {
        None => finish(ended).await,
        Some(PrintStop::Stopped) => Err(stopped(ended).await),
        Some(PrintStop::Unprinted(error)) => unprinted(&error),
    };
    groups.end_helpers(within).await;
    if session.is_some() {
        let kept = async {
            end_unfinished(&store, |there| there.chat == place.chat, &clock).await?;
            store.flush().await
        };
        kept.await.map_err(|error| StartupError(error.to_string()))?;
    }
    done
}

/// Prints the events of a turn until the turn ends.
async fn follow(
    mut told: UnboundedReceiver<OutsideEvent>,
    printer: &mut Printer,
    control: &Control,
    stop: &mut StopRequests<impl Stream<Item = ()> + Unpin>,
) -> Result<(), PrintStop> {
    let cut = loop {
        let next = tokio::select! {
            biased;
            () = stop.requested() => break PrintStop::Stopped,
            next = told.recv() => next,
        };
        let Some(next) = next else { return Ok(()) };
        // A slow reader does not delay a stop.
        let printed = tokio::select! {
            biased;
            () = stop.requested() => break PrintStop::Stopped,
            printed = printer.tell(next) => printed,
        };
        if let Err(error) = printed {
            break PrintStop::Unprinted(error);
        }
    };
    control.stop();
    let rest = async { while told.recv().await.is_some() {} };
    // A turn that does not end in time is aborted with the process.
    drop(timeout(AT_ONCE, rest).await);
    Err(cut)
}
