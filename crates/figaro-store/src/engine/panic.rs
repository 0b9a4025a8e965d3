//! Panics of engines, some of which answer damage with one. Used when opening a store and when reading all of it.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::error::EngineError;
use figaro_base::system::panic_words;

thread_local! {
    /// `true` while a panic of this thread is caught and reported in our own words.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns the message of a panic.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    panic_words(panic).unwrap_or("the storage engine stopped").to_owned()
}

/// Runs engine work on this thread.
///
/// # Errors
/// [`EngineError::Unreadable`] if the engine panics. The panic message is not printed: it would not help the user.
pub(crate) fn catching<T>(work: impl FnOnce() -> Result<T, EngineError>) -> Result<T, EngineError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                print(panic);
            }
        }));
    });
    IS_CAUGHT.set(true);
    // The state left behind is not used again: an unreadable store is given up.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(false);
    done.unwrap_or_else(|panic| {
        Err(EngineError::unreadable("what is in its files makes no sense", &words_of(&*panic)))
    })
}
