//! Every fault that is survived, in one table: what breaks, and what comes of it. A row is a test of its own by the same
//! name. A driver of that name breaks something and ends the bot; then each column is looked for here. Where nothing else
//! is said, Bob asks, and Ann owns the bot.

mod clock;
mod demo;
mod disk;
mod drafts;
mod fetching;
mod left;
mod models;
mod places;
mod process;
mod sending;
mod unreadable;
mod updates;

use figaro_offline::telegram::PlannedFailure;

use left::{Left, is_like};

/// What comes of a fault. In each text `[…]` stands for any words.
struct Row {
    /// All that whoever asked sees of the bot, in this order.
    person: &'static [&'static str],
    /// All that the owner sees of it, in this order.
    owner: &'static [&'static str],
    /// What the log says. Errors that are not named here fail the row.
    log: &'static [&'static str],
    /// The code with which the last process ends.
    exit: i32,
}

/// A test for each row, which has the name of its driver.
macro_rules! faults {
    ($part:ident: $($fault:ident { person: $person:tt, owner: $owner:tt, log: $log:tt, exit: $exit:literal })+) => { $(
        #[tokio::test]
        async fn $fault() {
            let row = Row { person: &$person, owner: &$owner, log: &$log, exit: $exit };
            row.check(&$part::$fault().await);
        }
    )+ };
}

// Telegram does not take what is sent.
faults! { sending:
    telegram_asks_to_wait {
        person: ["Worth the wait."], owner: ["Figaro […]\nMessages waiting: 1[…]", "At once."],
        log: ["a message could not be sent; trying again[…]Telegram asks to wait 3 s"], exit: 0
    }
    the_connection_of_a_send_breaks {
        person: ["Second time lucky."], owner: [], log: ["a message could not be sent; trying again"], exit: 0
    }
    the_connections_of_all_sends_of_an_answer_break {
        person: ["Here.", "Still here."], owner: [], log: ["an answer may not have arrived; giving it up"],
        exit: 0
    }
    the_connections_of_all_chats_break_for_a_while {
        person: ["answer 0", "answer 1", "answer 2", "answer 3"], owner: [],
        log: ["a message could not be sent; trying again"], exit: 0
    }
    the_confirmation_of_a_send_is_lost {
        person: ["Did you get it?", "Did you get it?", "Good.", "All."], owner: [],
        log: ["a message could not be sent; trying again"], exit: 0
    }
    the_server_fails_at_sends {
        person: ["Back again.", "And again."], owner: [],
        log: ["trying again[…]Internal Server Error: restart", "trying again[…]Service Unavailable"], exit: 0
    }
    telegram_refuses_a_part {
        person: ["A bold word.", "A bold end."], owner: [],
        log: ["Telegram refused a message; simplified", "Telegram will not take an answer; giving it up"],
        exit: 0
    }
    the_person_has_blocked_the_bot {
        person: [], owner: ["Hello Ann.", "Bye Ann.", "Good morning."],
        log: ["Telegram will not take an answer; giving it up"], exit: 0
    }
}

// Telegram cannot show that an answer is being written.
faults! { drafts:
    drafts_fail {
        person: ["Answer 0 comes.", "Answer 1 comes.", "Answer 2 comes.", "Answer 3 comes.", "Answer 4 comes.",
                 "Answer 5 comes.", "Answer 6 comes."],
        owner: [], log: [], exit: 0
    }
    typing_may_not_be_shown {
        person: ["Soup.", "At noon."], owner: [], log: [], exit: 0
    }
}

// Telegram does not give updates as it should.
faults! { fetching:
    the_server_fails_at_the_start {
        person: ["Back again."], owner: [], log: ["Telegram does not answer yet[…]Bad Gateway"],
        exit: 0
    }
    the_server_fails_at_fetching {
        person: ["Back again."], owner: [],
        log: ["updates could not be fetched; trying again[…]Internal Server Error"], exit: 0
    }
    a_web_page_stands_in_for_updates {
        person: ["Back again."], owner: [],
        log: ["updates could not be fetched; trying again[…]none of Telegram's"], exit: 0
    }
    fetching_fails_in_every_way {
        person: ["Back again.", "Two."], owner: [],
        log: ["another process is getting this bot's updates"], exit: 0
    }
    answers_are_no_lists_of_updates {
        person: ["Back again."], owner: [], log: ["updates could not be fetched"], exit: 0
    }
    an_update_comes_again {
        person: ["One.", "Two.", "Three."], owner: [], log: [], exit: 0
    }
}

// Telegram sends what is no JSON.
faults! { unreadable:
    updates_cannot_be_read {
        person: ["Yes?"], owner: ["Figaro […]cannot be read: 9[…]"],
        log: ["an update cannot be read and is not answered", "kept for KEEP_DAYS"], exit: 0
    }
    updates_have_no_id {
        person: ["Yes?", "Yes?"], owner: [], log: ["Telegram sent an update without an id"], exit: 0
    }
}

// Telegram sends what nobody knows.
faults! { updates:
    updates_are_not_what_they_were {
        person: ["I heard you.", "I heard you."],
        owner: ["⚠️ Telegram sent me something that I do not support (callback_query[…]",
                "⚠️ Telegram sent me something that I do not support (edited_message[…]",
                "⚠️ Telegram sent me something that I do not support (message[…]",
                "⚠️ Telegram sent me something that I do not support (my_chat_member[…]"],
        log: ["an update cannot be dealt with; it is kept as text"], exit: 0
    }
    a_message_has_parts_from_the_future {
        person: ["Shiny."], owner: [], log: [], exit: 0
    }
}

// Telegram: a chat changes.
faults! { places:
    a_group_becomes_a_supergroup_while_it_is_answered {
        person: ["Soup.", "At noon."], owner: [], log: [], exit: 0
    }
    a_group_that_was_allowed_becomes_a_supergroup {
        person: ["Soup."], owner: [], log: [], exit: 0
    }
    a_topic_is_deleted_while_it_is_answered {
        person: ["Paint it blue."], owner: [],
        log: ["Telegram refused a message; simplified[…]message thread not found"], exit: 0
    }
}

// The disk.
faults! { disk:
    the_disk_is_full_for_a_while {
        person: ["answer before", "answer one", "answer two", "answer three", "answer after"],
        owner: ["⚠️ I cannot write to my disk […]", "✅ I can write to my disk again. […]"], log: [], exit: 0
    }
    the_bot_is_stopped_while_the_disk_is_full {
        person: ["forty-two"], owner: ["⚠️ I cannot write to my disk […]"], log: [], exit: 0
    }
    the_bot_is_stopped_while_the_owner_is_being_told_of_a_full_disk {
        person: ["forty-two"], owner: [], log: ["ending at once"], exit: 0
    }
    the_store_is_damaged_while_the_disk_is_full {
        person: [], owner: ["⚠️ I cannot write to my disk […]"],
        log: ["the store had failed, and a new start did too"], exit: 1
    }
}

// The clock; see also the tests elsewhere.
faults! { clock:
    a_wrong_clock_has_put_a_task_off {
        person: [], owner: ["🕰 1 task was put off too far[…]"],
        log: ["the clock of the machine was set"], exit: 0
    }
}

// A process dies, or is told to end.
faults! { process:
    the_server_of_tools_is_killed {
        person: [],
        owner: ["", "There it is.", "Figaro […]restarted: 1[…]",
                "", "There it is.", "Figaro […]restarted: 2[…]"],
        log: ["the Telegram MCP server ended […]restarts=1", "the Telegram MCP server ended […]restarts=2"], exit: 0
    }
    ctrl_c_is_pressed_twice_during_an_answer {
        person: ["Here I am."], owner: [],
        log: ["waiting up to 8 s for 1 running turn to end; a second signal ends at once", "ending at once"],
        exit: 0
    }
    two_stops_are_asked_for_during_an_answer {
        person: ["Here I am."], owner: [],
        log: ["waiting up to 8 s for 1 running turn to end; a second signal ends at once", "ending at once"],
        exit: 0
    }
    ctrl_c_is_pressed_when_nothing_runs {
        person: [], owner: [], log: ["stopping: no more updates are taken in"], exit: 0
    }
    ctrl_c_is_pressed_twice_during_an_answer_of_a_demo {
        person: ["Here I am."], owner: [],
        log: ["Stopping: waiting up to 8 s for 1 running turn to end. Ctrl-C again ends at once."], exit: 0
    }
}

// The demo's process, its files and its settings.
faults! { demo:
    a_kept_demo_is_stopped_and_killed {
        person: ["[…]knows only a few phrases[…]"], owner: [], log: ["kept/demo/world.json"], exit: 0
    }
    the_world_of_a_kept_demo_cannot_be_read {
        person: ["[…]knows only a few phrases[…]"], owner: [],
        log: ["it is damaged", "it is of version 99", "another demo is using[…]--store"], exit: 0
    }
    keys_and_caps_are_set_for_a_demo {
        person: ["A small offline model answers; nothing leaves this machine.",
                 "A small offline model answers; nothing leaves this machine.",
                 "The model gemini:gemini-3.5-flash answers. Your messages go to gemini at \
                  generativelanguage.googleapis.com.",
                 "The model openai:offline answers. Your messages go to openai at HOST (on this machine)."],
        owner: [], log: ["GEMINI_API_KEY is set and not used: LLM_PROVIDER=gemini chooses it."], exit: 0
    }
}

// The model.
faults! { models:
    a_web_page_stands_in_for_each_provider {
        person: ["⚠️ The address of openai:gpt-4.1-mini answers, but not with a model. Whoever runs me[…]",
                 "All is well.",
                 "⚠️ The address of compatible:offline-text answers, but not with a model. Whoever runs me[…]",
                 "All is well.",
                 "⚠️ The address of ollama:llama3.2 answers, but not with a model. Whoever runs me[…]",
                 "All is well.",
                 "⚠️ The address of gemini:gemini-2.5-flash answers, but not with a model. Whoever runs me[…]",
                 "All is well."],
        owner: [], log: ["a turn failed"], exit: 0
    }
    a_model_is_gone_with_all_others {
        person: ["⚠️ The provider does not offer my model, gemini:gemini-3.5-flash.[…]"],
        owner: [], log: ["a turn failed"], exit: 0
    }
    a_model_calls_tools_without_end {
        person: ["That is all I found.", "⚠️ The model had nothing to say.[…]"], owner: [],
        log: ["a turn failed"], exit: 0
    }
    a_key_is_refused {
        person: ["⚠️ O provedor do modelo recusou minha chave de API. Só o dono pode resolver isso. Sua mensagem está guardada."],
        owner: ["⚠️ The model's provider rejected my API key. Only the owner can fix that. Your message is kept. \
                 /why says more.", "About the message of […]: “mine”[…]In the log: turn […]"],
        log: ["a turn failed"], exit: 0
    }
    a_model_fails_in_a_group {
        person: ["Well again."], owner: [], log: ["a turn failed"], exit: 0
    }
}

/// How else a model fails a question, and what the person sees. All of these share one bot; the owner hears nothing.
const MODEL: &[(&str, &str)] = &[
    ("its key is refused", "⚠️ The model's provider rejected my API key.[…]"),
    (
        "it is gone",
        "⚠️ openai:offline is no longer available. Its provider has: openai:offline-text. The owner[…]",
    ),
    ("the prompt is too long", "⚠️ This conversation has become too long[…]"),
    ("the request is bad", "⚠️ The model refused this request.[…]"),
    ("it is busy for a second", "Now I can."),
    ("it is busy for an hour", "⚠️ My model takes no more requests until […]"),
    ("its server fails once", "Back again."),
    ("its server fails always", "⚠️ My model cannot be reached right now.[…]"),
    ("it fails within the stream", "⚠️ My model cannot be reached right now.[…]"),
    (
        "it breaks off in the middle",
        "I had begun to say somet[…]\n\n⚠️ The answer broke off in the middle. I can go on, or try again.",
    ),
    ("it breaks off at once", "Said at last."),
    ("a web page stands in for it", "⚠️ The address of openai:offline answers, but not with a model.[…]"),
    ("it says nothing", "⚠️ The model had nothing to say.[…]"),
    ("it refuses in words", "I will not."),
    ("a filter stops it", "⚠️ The model refused this request.[…]"),
    ("its answer is too long", "As far as I got …"),
    ("it falls silent", "⚠️ The model did not answer in time.[…]"),
    ("it does not even begin", "⚠️ The model did not answer in time.[…]"),
];

#[tokio::test]
async fn a_model_fails_in_every_way() {
    models::fail_in_every_way(MODEL).await;
}

/// Faults that nothing outside the process can bring about, and those whose test is about more: where the test is, its
/// name, and what comes of the fault.
const ELSEWHERE: &[[&str; 3]] = &[
    [
        "crates/figaro-agent/src/scheduler/tests.rs",
        "a_clock_that_is_wrong_for_a_minute_silences_nothing",
        "every task runs at its next time by the right clock; the owner is told when it was set and set back",
    ],
    [
        "crates/figaro-agent/src/scheduler/tests.rs",
        "restarts_fail_no_run_that_never_began",
        "the task runs after ten restarts and is delivered; nobody is told anything",
    ],
    [
        "crates/figaro-telegram/src/router/odd.rs",
        "an_update_that_breaks_the_code_is_tried_once_more",
        "the next start tries it again; then it is kept as text, and the owner is told its kind",
    ],
    [
        "tests/it/models.rs",
        "a_model_that_is_gone_is_told_on_the_card_and_when_it_is_needed",
        "the person is told which others its provider has, and chooses one",
    ],
    [
        "tests/it/access.rs",
        "the_first_to_open_the_link_owns_the_bot_and_nobody_after",
        "`/start` with words of another link says nothing of a link",
    ],
];

#[test]
fn tests_elsewhere_are_where_the_table_says() {
    for [file, name, _] in ELSEWHERE {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains(&format!("fn {name}()")), "{name} is not in {file}");
    }
}

fn status(status: u16, description: &str) -> PlannedFailure {
    PlannedFailure::Status { status, description: description.to_owned() }
}
