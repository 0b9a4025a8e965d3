//! Every button that can be made is read back as it was made and fits, and those of older versions are still read.

use std::fmt::Debug;

use chrono_tz::TZ_VARIANTS;
use proptest::prelude::*;

use super::*;
use figaro_base::ids::{
    ChatId, MemoryId, MessageId, NoteId, PersonaId, PinId, RecordId, RunId, SessionId, TaskId,
};
use figaro_domain::approval::Ruled;
use figaro_domain::conversation::EntryKey;
use figaro_domain::erasure::SaidAt;
use figaro_domain::role::AccessRole;
use figaro_domain::task::IfMissed;

fn returns<F: Family + Clone + PartialEq + Debug>(value: &F) -> Result<(), TestCaseError> {
    let data = Data::from(value.clone());
    prop_assert_eq!(data.as_str(), value.to_string(), "it fits");
    prop_assert_eq!(family(data.as_str()), F::NAME);
    prop_assert_eq!(data.as_str().parse::<F>(), Ok(value.clone()), "{}", data.as_str());
    Ok(())
}

fn field() -> impl Strategy<Value = Field> {
    prop::sample::select(Field::ALL.to_vec())
}

fn zone() -> impl Strategy<Value = chrono_tz::Tz> {
    prop::sample::select(TZ_VARIANTS.to_vec())
}

fn model() -> impl Strategy<Value = ModelName> {
    ("[a-z]{1,10}", "\\PC{1,90}").prop_map(|(provider, model)| ModelName { provider, model })
}

fn verb() -> impl Strategy<Value = TaskVerb> {
    use TaskVerb as V;
    let plain = [
        V::Open,
        V::Edit,
        V::Run,
        V::Skip,
        V::Pause,
        V::Resume,
        V::Cancel,
        V::Undo,
        V::Label,
        V::Done,
        V::Tomorrow,
    ];
    prop_oneof![
        prop::sample::select(plain.to_vec()),
        any::<Page>().prop_map(V::History),
        any::<Page>().prop_map(V::Agents),
        "[a-z0-9_-]{1,40}".prop_map(|name| V::Agent(AgentKey::of(&name))),
        any::<i32>().prop_map(V::Shift),
        any::<i32>().prop_map(V::Later),
        prop::sample::select(IfMissed::ALL.to_vec()).prop_map(V::Missed),
    ]
}

proptest! {
    #[test]
    fn what_owners_decide_returns(person: i64, chat: i64, at in 0_usize..3, is_here: bool) {
        returns(&AdmitGroup { decision: GroupDecision::ALL[at], chat: ChatId(chat) })?;
        returns(&GiveRole { role: AccessRole::ALL[at], person, chat: is_here.then_some(ChatId(chat)) })?;
        returns(&MakeCode)?;
    }

    #[test]
    fn people_return(person: i64, chat in 1_i64.., page in any::<Page>(), at in 0_usize..3) {
        use People as P;
        let all = [
            P::List(page), P::Open(person, page), P::Allow(person, page), P::Deny(person, page),
            P::Role(AccessRole::ALL[at], person, page), P::Lift(person, Some(ChatId(-chat)), page), P::Lift(person, None, page),
        ];
        all.iter().try_for_each(returns)?;
    }

    #[test]
    fn memories_return(page in any::<Page>(), kind in 0_usize..10) {
        let memory = MemoryId::new();
        use Memory as M;
        let all = [
            M::List(page), M::Open(memory), M::Source(memory), M::Edit(memory), M::Remove(memory), M::Undo(memory), M::On,
            M::Off, M::Ask, M::Erase,
        ];
        returns(&all[kind])?;
    }

    #[test]
    fn agents_return(name in "[a-z0-9_-]{1,40}", page in any::<Page>()) {
        let agent = || Short::new(&name).unwrap();
        use Agents as A;
        [A::List(page), A::Set(agent(), page), A::Clear(page), A::Here(page), A::SetHere(agent(), page), A::ClearHere(page)]
            .iter()
            .try_for_each(returns)?;
    }

    #[test]
    fn the_audit_log_returns(page in any::<Page>()) {
        let server = || Short::new("a-server_of-thirty-two-character").unwrap();
        [Servers::List(page), Servers::Open(server(), page), Servers::Restart(server())].iter().try_for_each(returns)?;
        [Audit::All(page), Audit::Refused(page), Audit::Export].iter().try_for_each(returns)?;
    }

    #[test]
    fn notes_return(page in any::<Page>(), kind in 0..7) {
        let note = NoteId::new();
        let all = [Notes::Lists(page), Notes::Open(note, page), Notes::Drop(note), Notes::DropAll(RunId::new()), Notes::Done(note), Notes::Remove(note), Notes::Undo(note)];
        returns(&all[usize::try_from(kind).unwrap()])?;
    }

    #[test]
    fn records_return(page in any::<Page>(), at: u8, name in "[a-z0-9_-]{1,40}", kind in "[a-z_]{1,24}") {
        let (record, kind) = (RecordId::new(), KindKey::of(&name, &kind));
        use Records as R;
        let all = [
            R::Kinds, R::Packs(page), R::Take(Short::new(&name).unwrap(), page), R::Leave(Short::new(&name).unwrap(), page), R::Kind(kind, page), R::Open(record),
            R::Remind(record), R::Chart(record, at), R::Ask(record), R::Remove(record), R::Undo(record),
        ];
        all.iter().try_for_each(returns)?;
    }

    #[test]
    fn what_is_forgotten_returns(index: u32, message: i64, search in any::<u32>().prop_map(Search), page in any::<Page>()) {
        let session = SessionId::new();
        let stored = SaidKey(SaidAt::Session(EntryKey { session, index }));
        let beside = SaidKey(SaidAt::Background(MessageId(message)));
        let all = [
            Forget::Menu,
            Forget::Keep,
            Forget::AskSession,
            Forget::Session(session),
            Forget::AskAll,
            Forget::All(message),
            Forget::AskSaid(stored, Some(search)),
            Forget::Said(stored),
            Forget::AskSaid(beside, None),
            Forget::Said(beside),
            Forget::Found(search, page),
            Forget::AskFound(search),
            Forget::AllFound(search),
        ];
        all.iter().try_for_each(returns)?;
        [Export::Menu, Export::Session, Export::All].iter().try_for_each(returns)?;
    }

    #[test]
    fn pins_return(page in any::<Page>(), message in any::<i64>()) {
        let pin = PinId::new();
        let shown = [Pins::List(page), Pins::Open(pin, page), Pins::More(pin, page), Pins::Less(pin, page)];
        for press in shown.into_iter().chain([Pins::Remove(pin, page), Pins::Undo(pin, page), Pins::Source(pin)]) {
            returns(&press)?;
        }
        for press in [KeepAnswer::Ask, KeepAnswer::Yes(MessageId(message)), KeepAnswer::No, KeepAnswer::Undo(pin)] {
            returns(&press)?;
        }
    }

    #[test]
    fn settings_return(field in field(), value in "\\PC{1,60}") {
        for press in [Config::Show, Config::Ask(field), Config::Clear(field)] {
            returns(&press)?;
        }
        let room = MAX_BYTES - format!("config:set:{}:", field.name()).len();
        let choice = Choice::new(field, &value);
        prop_assert_eq!(choice.is_some(), value.len() <= room);
        if let Some(choice) = choice {
            returns(&Config::Set(choice))?;
        }
        returns(&Undo(RunId::new()))?;
    }

    #[test]
    fn zones_return(zone in zone()) {
        for press in [Zone::Show, Zone::Set(zone), Zone::Move(zone), Zone::Clear] {
            returns(&press)?;
        }
    }

    #[test]
    fn models_return(model in model(), provider in "[a-z]{1,40}", page in any::<Page>()) {
        let served = Model::Served(Short::new(&provider).unwrap(), page);
        for press in [Model::Show, served, Model::Set(ModelKey::of(&model)), Model::Clear, Model::Writing, Model::Plain] {
            returns(&press)?;
        }
        let turn = TurnTag::of(RunId::new());
        let with = Retry::With(turn.clone(), ModelKey::of(&model));
        for press in [Retry::GoOn(turn.clone()), Retry::Again(turn.clone()), Retry::Choose(turn), with] {
            returns(&press)?;
        }
    }

    #[test]
    fn sessions_return(page in any::<Page>(), model in model()) {
        let id = SessionId::new();
        for press in [
            Sessions::List(page),
            Sessions::Open(id),
            Sessions::Switch(id),
            Sessions::Rename(id),
            Sessions::Export(id),
            Sessions::Ask(id),
            Sessions::Delete(id),
            Sessions::Models(id),
            Sessions::Set(id, ModelKey::of(&model)),
            Sessions::Clear(id),
        ] {
            returns(&press)?;
        }
    }

    #[test]
    fn personas_return(name in "[a-z0-9_-]{1,40}", page in any::<Page>()) {
        let (own, file) = (PersonaId::new(), Persona::File(Short::new(&name).unwrap(), page));
        let shown = [Persona::List(page), file, Persona::Own(own, page), Persona::Clear(page), Persona::Open(own, page)];
        let changing = [Persona::New, Persona::Edit(own), Persona::Writing(own), Persona::Drop(own, page), Persona::Delete(own, page)];
        for press in shown.into_iter().chain(changing) {
            returns(&press)?;
        }
    }

    #[test]
    fn tasks_return(verb in verb(), page in prop::option::of(any::<Page>()), list in any::<Page>(), again in any::<bool>()) {
        let one = TaskPress { verb, task: TaskId::new(), page };
        for press in [Tasks::One(one), Tasks::List(list), Tasks::Back(again)] {
            returns(&press)?;
        }
    }

    #[test]
    fn what_no_button_says_is_gone(data in "(start|help|admit|approve|back|notes|records|pins|pin|persona|sessions|config|undo|zone|model|retry|tasks|usage|status)?:?\\PC{0,64}") {
        // It is read without a panic; what is read is what is written.
        for written in [
            data.parse::<Start>().map(|press| press.to_string()),
            data.parse::<Admit>().map(|press| press.to_string()),
            data.parse::<Approve>().map(|press| press.to_string()),
            data.parse::<Back>().map(|press| press.to_string()),
            data.parse::<Help>().map(|press| press.to_string()),
            data.parse::<Notes>().map(|press| press.to_string()),
            data.parse::<Records>().map(|press| press.to_string()),
            data.parse::<Pins>().map(|press| press.to_string()),
            data.parse::<KeepAnswer>().map(|press| press.to_string()),
            data.parse::<Persona>().map(|press| press.to_string()),
            data.parse::<Config>().map(|press| press.to_string()),
            data.parse::<Zone>().map(|press| press.to_string()),
            data.parse::<Model>().map(|press| press.to_string()),
            data.parse::<Sessions>().map(|press| press.to_string()),
            data.parse::<Tasks>().map(|press| press.to_string()),
            data.parse::<Retry>().map(|press| press.to_string()),
        ].into_iter().flatten() {
            prop_assert_eq!(family(&written), family(&data));
        }
    }
}

#[test]
fn the_few_return() {
    for press in [Start::Example, Start::Access, Start::Back] {
        returns(&press).unwrap();
    }
    for press in Usage::ALL {
        returns(&press).unwrap();
    }
    returns(&Status).unwrap();
    returns(&Help(u8::MAX)).unwrap();
    let run = RunId::new();
    for ruled in [Ruled::Once, Ruled::Hour, Ruled::Denied] {
        for page in [None, Some(Page::MAX)] {
            returns(&Approve::Rule(run, ruled, page)).unwrap();
            returns(&Approve::End(run, page)).unwrap();
        }
    }
    returns(&Back(run)).unwrap();
    returns(&Approve::List(1)).unwrap();
    returns(&Approve::Open(run, Page::MAX)).unwrap();
    for decision in Decision::ALL {
        for language in [None, Short::new("pt-br"), Short::new(&"x".repeat(12))] {
            returns(&Admit { decision, person: i64::MAX, language }).unwrap();
        }
    }
}

/// Data as earlier versions wrote it, which is what buttons in chats say; it is written the same, with a page where that may
/// be left out.
fn read<F: Family + PartialEq + Debug>(cases: &[(&str, F)]) {
    for (data, press) in cases {
        assert_eq!(data.parse::<F>().as_ref(), Ok(press), "{data}");
        let written = press.to_string();
        assert!(written == *data || written == format!("{data}:0"), "{data} is written {written}");
    }
}

const ID: &str = "01K9ZW5T3V8Q2N4M6P7R8S9TAB";
const TAG: &str = "6P7R8S9TAB";

#[test]
fn buttons_of_older_versions_are_read() {
    let (note, turn): (NoteId, RunId) = (ID.parse().unwrap(), ID.parse().unwrap());
    read(&[("start:example", Start::Example), ("start:access", Start::Access), ("start:back", Start::Back)]);
    read(&[
        ("notes:list:2", Notes::Lists(2)),
        (&format!("notes:open:{ID}:1"), Notes::Open(note, 1)),
        (&format!("notes:open:{ID}"), Notes::Open(note, 0)),
        (&format!("notes:done:{ID}"), Notes::Done(note)),
        (&format!("notes:drop:{ID}"), Notes::Remove(note)),
        (&format!("notes:undo:{ID}"), Notes::Undo(note)),
    ]);
    let record: RecordId = ID.parse().unwrap();
    read(&[
        ("records:use:shop:1", Records::Take(Short::new("shop").unwrap(), 1)),
        (&format!("records:remind:{ID}"), Records::Remind(record)),
        (&format!("records:chart:{ID}:2"), Records::Chart(record, 2)),
    ]);
    let pin: PinId = ID.parse().unwrap();
    read(&[
        ("pins:list:2", Pins::List(2)),
        (&format!("pins:open:{ID}"), Pins::Open(pin, 0)),
        (&format!("pins:more:{ID}:1"), Pins::More(pin, 1)),
        (&format!("pins:source:{ID}"), Pins::Source(pin)),
    ]);
    read(&[
        ("pin:ask", KeepAnswer::Ask),
        ("pin:yes:7", KeepAnswer::Yes(MessageId(7))),
        ("pin:no", KeepAnswer::No),
    ]);
    read(&[
        ("config:show", Config::Show),
        ("config:ask:tone", Config::Ask(Field::Tone)),
        ("config:set:language:Português", Config::Set(Choice::new(Field::Language, "Português").unwrap())),
        ("config:set:tone:dry: very", Config::Set(Choice::new(Field::Tone, "dry: very").unwrap())),
        ("config:clear:answers", Config::Clear(Field::Answers)),
    ]);
    read(&[(&format!("undo:{ID}"), Undo(turn))]);
    read(&[
        ("zone:show", Zone::Show),
        ("zone:set:Europe/Riga", Zone::Set(chrono_tz::Tz::Europe__Riga)),
        ("zone:move:Europe/Riga", Zone::Move(chrono_tz::Tz::Europe__Riga)),
        ("zone:clear", Zone::Clear),
    ]);
    read(&[("usage:days", Usage::Days), ("usage:people", Usage::People)]);
    read(&[("status:", Status)]);
}

#[test]
fn buttons_of_older_versions_that_name_models_are_read() {
    let qwen = ModelName { provider: "ollama".into(), model: "qwen3:8b".into() };
    let long = ModelName { provider: "openai".into(), model: "x".repeat(60) };
    read(&[
        ("model:show", Model::Show),
        ("model:served:ollama:0", Model::Served(Short::new("ollama").unwrap(), 0)),
        ("model:set:ollama:qwen3:8b", Model::Set(ModelKey::of(&qwen))),
        (&format!("model:set:{}", mark(&long)), Model::Set(ModelKey::of(&long))),
        ("model:clear", Model::Clear),
    ]);
    let tag = || TurnTag::of(ID.parse().unwrap());
    read(&[
        (&format!("retry:go_on:{TAG}"), Retry::GoOn(tag())),
        (&format!("retry:again:{TAG}"), Retry::Again(tag())),
        (&format!("retry:choose:{TAG}"), Retry::Choose(tag())),
        (&format!("retry:with:{TAG}:ollama:qwen3:8b"), Retry::With(tag(), ModelKey::of(&qwen))),
    ]);
}

#[test]
fn buttons_of_older_versions_about_tasks_are_read() {
    let task: TaskId = ID.parse().unwrap();
    let one = |verb, page| Tasks::One(TaskPress { verb, task, page });
    read(&[
        ("tasks:list:3", Tasks::List(3)),
        ("tasks:back:yes", Tasks::Back(true)),
        ("tasks:back:no", Tasks::Back(false)),
        (&format!("tasks:open:{ID}~2"), one(TaskVerb::Open, Some(2))),
        (&format!("tasks:history:{ID}~2"), one(TaskVerb::History(0), Some(2))),
        (&format!("tasks:history:{ID}:1"), one(TaskVerb::History(1), None)),
        (&format!("tasks:run:{ID}"), one(TaskVerb::Run, None)),
        (&format!("tasks:shift:{ID}:-60"), one(TaskVerb::Shift(-60), None)),
        (&format!("tasks:missed:{ID}~0:run_once"), one(TaskVerb::Missed(IfMissed::RunOnce), Some(0))),
    ]);
}

#[test]
fn what_is_too_long_becomes_a_button_that_is_gone() {
    #[derive(Clone)]
    struct Long;
    impl Family for Long {
        const NAME: &'static str = "long";
    }
    impl Display for Long {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}:{}", Self::NAME, "x".repeat(MAX_BYTES))
        }
    }
    impl FromStr for Long {
        type Err = Gone;
        fn from_str(data: &str) -> Result<Self, Gone> {
            Fields::of::<Self>(data)?.rest().map(|_| Self)
        }
    }
    let data = Data::from(Long);
    assert_eq!(data.as_str(), "long");
    assert!(data.as_str().parse::<Long>().is_err());
}
