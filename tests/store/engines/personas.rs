//! Personas that chats write for themselves.

use std::slice::from_ref;

use figaro_base::ids::{ChatId, MessageId, PersonaId, UserId};
use figaro_domain::chat::ConfigPatch;
use figaro_domain::generation::Generation;
use figaro_domain::persona::{MAX_OWN_PERSONAS, OwnPersona, PersonaQuestion};
use figaro_store::{PersonaSaved, PersonaToSave};

use super::{Backend, CHAT, at};

const ELSEWHERE: ChatId = ChatId(4);

fn persona(chat: ChatId, name: &str, prompt: &str, written: i64) -> OwnPersona {
    let (name, prompt, author) = (name.to_owned(), prompt.to_owned(), UserId::telegram(4));
    OwnPersona {
        id: PersonaId::new(),
        chat,
        name,
        prompt,
        language: None,
        settings: Generation { temperature: Some(0.5), ..Generation::default() },
        author,
        created_at: at(written),
    }
}

fn new(persona: &OwnPersona) -> PersonaToSave {
    PersonaToSave { persona: persona.clone(), question: None, changes: false }
}

fn change(persona: &OwnPersona, name: &str, prompt: &str) -> PersonaToSave {
    let persona = OwnPersona {
        name: name.to_owned(),
        prompt: prompt.to_owned(),
        author: UserId::telegram(5),
        created_at: at(99),
        ..persona.clone()
    };
    PersonaToSave { persona, question: None, changes: true }
}

pub(super) async fn a_chat_has_personas_of_its_own(backend: &dyn Backend) {
    let store = backend.open().await;
    let [pirate, poet, other] = [
        persona(CHAT, "Pirate", "Arr.", 2),
        persona(CHAT, "Poet", "Rhyme.", 1),
        persona(ELSEWHERE, "Pirate", "Ahoy.", 0),
    ];
    for one in [&pirate, &poet, &other] {
        assert_eq!(store.personas().save(new(one)).await.unwrap(), PersonaSaved::New(one.clone()));
    }
    let store = backend.reopen(store).await;
    assert_eq!(store.personas().of_chat(CHAT).unwrap(), [poet.clone(), pirate.clone()]);
    assert_eq!(store.personas().of_chat(ELSEWHERE).unwrap(), [other]);
    let chosen = store.settings().chat_config(CHAT).unwrap().persona;
    assert_eq!(chosen, Some(poet.choice()), "what was written last is chosen");
    // The same again is the same, whatever its id; the name alone is taken.
    let again = persona(CHAT, "PIRATE ", "Arr.", 7);
    assert_eq!(store.personas().save(new(&again)).await.unwrap(), PersonaSaved::New(pirate.clone()));
    let same_name = persona(CHAT, "pirate", "Other.", 7);
    assert_eq!(store.personas().save(new(&same_name)).await.unwrap(), PersonaSaved::NameTaken);
    assert_eq!(
        store.personas().save(change(&poet, "pirate", "Arr.")).await.unwrap(),
        PersonaSaved::NameTaken
    );
    // A change keeps who wrote it first; what is chosen follows the new name.
    let renamed = OwnPersona { name: "Corsair".into(), prompt: "Arr!".into(), ..pirate.clone() };
    let saved = store.personas().save(change(&pirate, "Corsair", "Arr!")).await.unwrap();
    assert_eq!(saved, PersonaSaved::Changed(renamed.clone()));
    let store = backend.reopen(store).await;
    let chosen = store.settings().chat_config(CHAT).unwrap().persona;
    assert_eq!(chosen, Some(renamed.choice()));
    // What is not chosen is not chosen by a change or a removal of another.
    store.personas().save(change(&poet, "Poet", "Rhyme well.")).await.unwrap();
    assert_eq!(store.personas().remove(ELSEWHERE, poet.id).await.unwrap(), None);
    assert_eq!(store.personas().remove(CHAT, poet.id).await.unwrap().unwrap().prompt, "Rhyme well.");
    assert_eq!(store.settings().chat_config(CHAT).unwrap().persona, chosen);
    assert_eq!(store.personas().remove(CHAT, renamed.id).await.unwrap(), Some(renamed.clone()));
    assert_eq!(store.settings().chat_config(CHAT).unwrap().persona, None);
    let store = backend.reopen(store).await;
    assert_eq!(store.personas().of_chat(CHAT).unwrap(), []);
    assert_eq!(store.personas().save(change(&renamed, "Corsair", "Arr!")).await.unwrap(), PersonaSaved::Gone);
    for number in 0..MAX_OWN_PERSONAS {
        let one = persona(CHAT, &number.to_string(), "One.", 0);
        assert_eq!(store.personas().save(new(&one)).await.unwrap(), PersonaSaved::New(one));
    }
    let more = persona(CHAT, "more", "One.", 0);
    assert_eq!(store.personas().save(new(&more)).await.unwrap(), PersonaSaved::Full);
    assert_eq!(store.personas().of_chat(CHAT).unwrap().len(), MAX_OWN_PERSONAS);
}

pub(super) async fn a_question_is_about_the_persona_that_its_answer_made(backend: &dyn Backend) {
    let store = backend.open().await;
    let asked = PersonaQuestion { about: None, asked_at: at(5) };
    store.personas().ask(CHAT, MessageId(7), &asked, at(0)).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.personas().question(CHAT, MessageId(7)).unwrap(), Some(asked.clone()));
    assert_eq!(store.personas().question(CHAT, MessageId(8)).unwrap(), None);
    assert_eq!(store.personas().question(ELSEWHERE, MessageId(7)).unwrap(), None);
    let pirate = persona(CHAT, "Pirate", "Arr.", 2);
    store.personas().save(PersonaToSave { question: Some(MessageId(7)), ..new(&pirate) }).await.unwrap();
    let about = PersonaQuestion { about: Some(pirate.id), ..asked.clone() };
    assert_eq!(store.personas().question(CHAT, MessageId(7)).unwrap(), Some(about));
    // Old ones are forgotten with the next.
    store.personas().ask(CHAT, MessageId(9), &asked, at(6)).await.unwrap();
    assert_eq!(store.personas().question(CHAT, MessageId(7)).unwrap(), None);
    assert_eq!(store.personas().question(CHAT, MessageId(9)).unwrap(), Some(asked));
}

pub(super) async fn personas_move_with_their_group(backend: &dyn Backend) {
    let store = backend.open().await;
    let (old, to) = (ChatId(-5), CHAT);
    let [pirate, other, kept] = [
        persona(old, "Pirate", "Arr.", 1),
        persona(ChatId(-4), "Poet", "Rhyme.", 0),
        persona(to, "Cook", "Cook.", 0),
    ];
    for one in [&pirate, &other, &kept] {
        store.personas().save(new(one)).await.unwrap();
    }
    let none = ConfigPatch { persona: Some(None), ..ConfigPatch::default() };
    store.settings().change_chat_config(to, none).await.unwrap();
    let asked = PersonaQuestion { about: None, asked_at: at(5) };
    store.personas().ask(old, MessageId(7), &asked, at(0)).await.unwrap();
    for _ in 0..2 {
        store.settings().migrate_chat(old, to).await.unwrap();
        let moved = OwnPersona { chat: to, ..pirate.clone() };
        assert_eq!(store.personas().of_chat(to).unwrap(), [kept.clone(), moved]);
        assert_eq!(store.personas().of_chat(old).unwrap(), []);
        assert_eq!(store.personas().of_chat(ChatId(-4)).unwrap(), from_ref(&other));
        assert_eq!(store.personas().question(old, MessageId(7)).unwrap(), None);
        assert_eq!(store.settings().chat_config(to).unwrap().persona, None, "the new id's own settings stay");
    }
}
