//! What every backend of the store does, whatever it is made of. A behaviour is one function over a [`Backend`]; the list
//! at the end runs them all for each backend there is. What is particular to one backend stands in files of its own.

#![cfg(test)]
#![expect(clippy::cognitive_complexity, reason = "every assertion counts as a branch")]

mod audit;
mod damage;
mod disk;
mod erasure;
mod external;
mod facts;
mod inbox;
mod kill;
mod loss;
mod migration;
mod outbox;
mod people;
mod personas;
mod pins;
mod postgres;
mod profiles;
mod receptions;
mod redb;
mod sessions;
mod settings;
mod sled;
mod summaries;
mod tasks;
mod turns;
mod undos;
mod usage;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{BotId, ChatId, MessageId, NoteId, RunId, SessionId, TopicId, UpdateId, UserId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::delivery::{Action, PendingDelivery};
use figaro_domain::message::{Attachment, AttachmentKind, Inbound, Quoted, Speaker};
use figaro_domain::model::ModelName;
use figaro_domain::note::Note;
use figaro_domain::origin::Origin;
use figaro_domain::tool::{Call, ToolCall, ToolStatus};
use figaro_domain::turn::{ActiveTurn, Step};
use figaro_store::{ConversationStore, RawUpdate, Repetition, Store};
use serde_json::json;

/// Something that keeps a store between one opening and the next.
#[async_trait]
trait Backend: Sync {
    /// Opens the store for a bot; it was empty when the backend was made.
    async fn open_for(&self, bot: BotId) -> Store;

    /// Opens it for the usual bot.
    async fn open(&self) -> Store {
        self.open_for(BOT).await
    }

    /// Closes it and opens it again.
    async fn reopen(&self, store: Store) -> Store {
        drop(store);
        self.open().await
    }
}

const BOT: BotId = BotId(77);
const CHAT: ChatId = ChatId(-1_001_234);
const HERE: ConversationId = ConversationId { chat: CHAT, topic: None };
const TOPIC: ConversationId = ConversationId { chat: CHAT, topic: Some(TopicId(5)) };

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_780_000_000 + seconds)
}

fn raw(id: i64) -> RawUpdate {
    RawUpdate {
        id: UpdateId(id), body: json!({ "update_id": id, "message": { "text": format!("№ {id}") } })
    }
}

/// A retry of the last question.
fn again(origin: Origin, model: Option<ModelName>) -> Repetition {
    Repetition { origin, model, edited: None }
}

/// The origin of a message that an update of this number brings.
fn from(id: i64) -> Origin {
    Origin::telegram(UpdateId(id), MessageId(id + 1000))
}

fn inbound(id: i64, text: &str) -> Inbound {
    Inbound {
        task: None,
        program: None,
        about: None,
        borrowed: false,
        learns: true,
        foreign: Vec::new(),
        origin: from(id),
        place: Place { chat: CHAT, kind: ChatKind::Group, title: Some("Home".into()), topic: None },
        speaker: Speaker { user: UserId::telegram(4), name: "Ann".into(), username: None },
        language: Some("de".into()),
        client: None,
        sent_at: at(id),
        text: text.into(),
        attachments: vec![Attachment {
            kind: AttachmentKind::Sticker,
            unique_id: None,
            file_id: None,
            label: Some("🙂".into()),
            mime_type: None,
            still: None,
            seconds: None,
            heard: None,
            named: None,
        }],
        quotes: Some(Box::new(Quoted {
            message: None,
            author: None,
            text: "q".into(),
            excerpt: None,
            attachments: vec![],
            from_person: true,
            writer: None,
            task: None,
        })),
        mentioned: true,
        reply_to_bot: false,
        joins: None,
        forwarded_from: None,
        from_person: false,
    }
}

fn words(session: SessionId, text: &str) -> Message {
    Message::new(session, MessageRole::Assistant, text.into(), at(0))
}

fn tool_call(run: RunId, id: &str, status: ToolStatus) -> ToolCall {
    let call = Call { id: id.into(), name: "clock".into(), arguments: r#"{"zone": "UTC"}"#.into() };
    ToolCall {
        call,
        run,
        status,
        result: None,
        started_at: at(1),
        duration_ms: None,
        approved_on: None,
        hosted: false,
    }
}

/// Records that calls of a turn start.
async fn started(store: &ConversationStore, turn: &ActiveTurn, calls: &[ToolCall]) {
    store.record_step(turn, Step { calls: calls.to_vec(), ..Step::default() }).await.unwrap();
}

fn reply(run: &ActiveTurn, answer: &Message) -> PendingDelivery {
    PendingDelivery {
        entry: Some(answer.id),
        reply_to: Some(MessageId(1001)),
        language: Some("pt".into()),
        actions: vec![Action::GoOn, Action::Retry],
        ..PendingDelivery::new(run.id, inbound(1, "").place, answer.text.clone(), answer.created_at)
    }
}

fn note(chat: ChatId, key: &str, content: &str, written: i64) -> Note {
    let (key, content) = (key.into(), content.into());
    Note {
        id: NoteId::new(),
        chat,
        key,
        content,
        author: Some(UserId::telegram(4)),
        turn: None,
        created_at: at(written),
    }
}

fn ids(updates: &[RawUpdate]) -> Vec<i64> {
    updates.iter().map(|update| update.id.0).collect()
}

async fn accept(store: &Store, updates: &[i64], now: i64) -> Vec<i64> {
    ids(&store.inbox().accept(updates.iter().map(|id| raw(*id)).collect(), at(now)).unwrap())
}

async fn texts(store: &Store, session: SessionId) -> Vec<String> {
    let messages = store.conversations().recent(session, 1000).unwrap();
    assert!(messages.iter().zip(0..).all(|(message, index)| message.index == index), "indexes have gaps");
    messages.iter().map(|message| message.text.clone()).collect()
}

macro_rules! conformance {
    ($($concern:ident { $($behaviour:ident)+ })+) => {
        conformance! { @ on_redb Redb $($concern { $($behaviour)+ })+ }
        conformance! { @ on_sled Sled $($concern { $($behaviour)+ })+ }

        mod on_postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $behaviour() {
                    let Some(database) = super::postgres::Database::new() else { return };
                    super::$concern::$behaviour(&database).await;
                }
            )+)+
        }
    };
    (@ $backend:ident $kind:ident $($concern:ident { $($behaviour:ident)+ })+) => {
        mod $backend {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $behaviour() {
                    let disk = super::disk::Disk::new(figaro_config::EngineKind::$kind);
                    super::$concern::$behaviour(&disk).await;
                }
            )+)+
        }
    };
}

conformance! {
    inbox {
        accepts_an_update_once
        ids_may_start_over
        one_of_many_gets_an_update
        settled_updates_stay_known
        forgets_old_settled_ids
        forgets_the_oldest_ids_a_few_at_a_time
        every_bot_has_a_space_of_its_own
        what_cannot_be_read_is_set_aside_once
        few_unreadable_updates_are_kept
        unreadable_updates_are_forgotten
    }
    sessions {
        a_conversation_has_a_current_session
        a_session_knows_when_it_was_written_to
        indexes_have_no_gaps
        messages_are_kept_whole
        sessions_are_listed_newest_first
        a_session_is_named_once_and_by_a_person_for_good
        a_deleted_session_leaves_nothing
        vectors_are_kept_with_their_messages_and_go_with_them
        background_is_bounded
    }
    facts {
        what_a_person_says_is_read_once
        what_is_taken_back_leaves_no_memory
        memories_are_used_changed_and_erased
        a_refusal_leaves_nothing_to_read
    }
    profiles {
        a_profile_is_kept
        what_a_person_asked_for_is_kept_by_chat
    }
    turns {
        a_turn_begins_with_its_question
        a_conversation_has_one_turn
        a_turn_that_acted_is_not_begun_again
        a_turn_ends_once_and_at_once
        a_turn_may_end_without_words
        a_turn_can_be_taken_back
        a_question_is_tried_again
        a_task_in_between_is_not_tried_again
        what_was_never_asked_is_not_tried_again
        a_further_try_goes_on_after_a_restart
        a_turn_needs_no_question
        a_step_is_recorded_whole tool_calls_are_recorded_as_they_go
    }
    outbox {
        deliveries_go_on_where_they_stopped
        an_answer_stored_early_gets_its_ids_too
        words_outside_the_conversation_are_delivered
        own_messages_are_known_for_two_days
        a_turn_has_live_messages_until_its_delivery_ends
    }
    external {
        no_two_conversations_outside_telegram_have_one_number
        a_name_goes_with_its_conversation_and_its_number_is_never_given_again
    }
    people {
        who_writes_is_known_by_their_last_names_and_messages
        of_many_the_last_to_write_are_kept
        they_move_with_their_group_and_are_forgotten
    }
    receptions {
        the_newest_of_each_chat_are_kept_and_go_by_age
        what_is_told_later_is_added
    }
    audit {
        many_who_write_at_once_make_one_chain
        equal_arguments_have_one_hash_and_words_are_not_kept
        what_goes_by_age_leaves_a_whole_chain
        only_what_changes_access_is_noted
    }
    personas {
        a_chat_has_personas_of_its_own
        a_question_is_about_the_persona_that_its_answer_made
        personas_move_with_their_group
    }
    pins {
        pins_are_added_once_changed_removed_and_put_back
        what_is_vital_is_pinned_with_its_question_and_taken_back_with_it
        figaro_keeps_one_pin_of_each_kind
        pins_move_with_their_group
    }
    settings {
        notes_come_back_oldest_first
        chats_have_settings
        access_loses_no_change
        strangers_are_greeted_once_until_they_are_forgotten
        settings_lose_no_change
        what_a_turn_changes_can_be_undone
        a_note_is_added_once_and_within_the_limit
        the_same_note_is_one_of_the_same_list_and_chat
        a_sound_store_says_so
    }
    summaries {
        summaries_tile_a_session_whoever_makes_them
        words_that_were_erased_while_they_were_summarised_do_not_come_back
        what_a_turn_may_take_back_is_not_summarised
        an_edit_changes_what_is_stored_and_what_was_made_of_it
        what_is_to_be_done_is_known_until_it_is_done
    }
    undos {
        what_was_done_is_taken_back_once_and_noted
        what_can_be_undone_goes_with_its_time_its_person_and_its_chat
    }
    usage {
        what_is_booked_adds_up
        what_a_stop_left_open_counts_as_spent
        owners_are_told_once_a_day
        limits_are_kept_and_follow_their_chat
        spending_is_kept_apart_by_task_agents_and_key
    }
    tasks {
        tasks_are_kept_once_and_within_limits
        of_many_that_are_added_at_once_only_so_many_are
        a_change_is_made_if_it_fits_and_takes_its_words_along
        tasks_are_found_by_when_they_wake
        the_last_runs_are_kept_and_all_is_forgotten_together
        the_turn_of_a_task_begins_once
        an_answered_run_is_not_begun_again_and_a_failed_one_leaves_no_words
        a_run_that_gives_way_is_not_made_again_if_it_had_acted
        a_group_that_moves_takes_its_tasks_along
    }
    migration {
        what_was_spent_moves_with_its_chat
        a_group_that_moves_takes_everything_along
        what_the_new_id_has_stays
        a_chat_that_stays_loses_nothing
        a_turn_in_progress_goes_on_where_it_began
        a_turn_taken_back_takes_nothing_of_the_next
    }
}
