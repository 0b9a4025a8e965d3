//! Panics of engines: some answer damage with one. Used where a store is opened and where all of it is read.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::error::EngineError;

thread_local! {
    /// Whether a panic of this thread is caught and told in words of our own.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What a panic says.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
    words.unwrap_or("the storage engine stopped").to_owned()
}

/// Does work of an engine on this thread.
///
/// # Errors
/// [`EngineError::Unreadable`] where the engine panics. Nothing is printed then: nobody but us can read what would be.
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
    // What the work leaves behind is not used again: a store that cannot be read is given up.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(false);
    done.unwrap_or_else(|panic| {
        Err(EngineError::unreadable("what is in its files makes no sense", &words_of(&*panic)))
    })
}
