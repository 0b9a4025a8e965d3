//! Every button that can be made is read back as it was made and fits, and those of older versions are still read.

use std::fmt::Debug;

use proptest::prelude::*;

use super::*;
use figaro_base::ids::{
    ChatId, DocumentId, MemoryId, MessageId, NoteId, PersonaId, PinId, RecordId, RunId, SessionId, TaskId,
};
use figaro_domain::approval::Ruled;
use figaro_domain::conversation::EntryKey;
use figaro_domain::erasure::SaidAt;
use figaro_domain::role::AccessRole;
use figaro_domain::task::IfMissed;

fn returns<F: ButtonFamily + Clone + PartialEq + Debug>(value: &F) -> Result<(), TestCaseError> {
    let data = Data::from(value.clone());
    prop_assert_eq!(data.as_str(), value.to_string(), "it fits");
    prop_assert_eq!(family(data.as_str()), F::NAME);
    prop_assert_eq!(data.as_str().parse::<F>(), Ok(value.clone()), "{}", data.as_str());
    Ok(())
}

fn field() -> impl Strategy<Value = SettingField> {
    prop::sample::select(SettingField::ALL.to_vec())
}

fn zone() -> impl Strategy<Value = figaro_base::tz::Tz> {
    prop::sample::select(figaro_base::tz::Tz::all().collect::<Vec<_>>())
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
        returns(&AdmitGroupButton { decision: GroupDecision::ALL[at], chat: ChatId(chat) })?;
        returns(&GiveRoleButton { role: AccessRole::ALL[at], person, chat: is_here.then_some(ChatId(chat)) })?;
        returns(&MakeCodeButton)?;
    }

    #[test]
    fn people_return(person: i64, chat in 1_i64.., page in any::<Page>(), at in 0_usize..3) {
        use PeopleButton as P;
        let all = [
            P::List(page), P::Open(person, page), P::Allow(person, page), P::Deny(person, page),
            P::Role(AccessRole::ALL[at], person, page), P::Lift(person, Some(ChatId(-chat)), page), P::Lift(person, None, page),
        ];
        all.iter().try_for_each(returns)?;
    }

    #[test]
    fn memories_return(page in any::<Page>(), kind in 0_usize..10) {
        let memory = MemoryId::new();
        use MemoryButton as M;
        let all = [
            M::List(page), M::Open(memory), M::Source(memory), M::Edit(memory), M::Remove(memory), M::Undo(memory), M::On,
            M::Off, M::Ask, M::Erase,
        ];
        returns(&all[kind])?;
    }

    #[test]
    fn agents_return(name in "[a-z0-9_-]{1,40}", page in any::<Page>()) {
        let agent = || Short::new(&name).unwrap();
        use AgentsButton as A;
        [A::List(page), A::Set(agent(), page), A::Clear(page), A::Here(page), A::SetHere(agent(), page), A::ClearHere(page)]
            .iter()
            .try_for_each(returns)?;
    }

    #[test]
    fn the_audit_log_returns(page in any::<Page>()) {
        let server = || Short::new("a-server_of-thirty-two-character").unwrap();
        [ServersButton::List(page), ServersButton::Open(server(), page), ServersButton::Restart(server())].iter().try_for_each(returns)?;
        [AuditButton::All(page), AuditButton::Refused(page), AuditButton::Export].iter().try_for_each(returns)?;
    }

    #[test]
    fn notes_return(page in any::<Page>(), kind in 0..7) {
        let note = NoteId::new();
        let all = [NotesButton::Lists(page), NotesButton::Open(note, page), NotesButton::Drop(note), NotesButton::DropAll(RunId::new()), NotesButton::Done(note), NotesButton::Remove(note), NotesButton::Undo(note)];
        returns(&all[usize::try_from(kind).unwrap()])?;
    }

    #[test]
    fn records_return(page in any::<Page>(), at: u8, name in "[a-z0-9_-]{1,40}", kind in "[a-z_]{1,24}") {
        let (record, kind) = (RecordId::new(), KindKey::of(&name, &kind));
        use RecordsButton as R;
        let all = [
            R::Kinds, R::Packs(page), R::Take(Short::new(&name).unwrap(), page), R::Leave(Short::new(&name).unwrap(), page), R::Kind(kind, page), R::Open(record),
            R::Remind(record), R::Chart(record, at), R::Ask(record), R::Remove(record), R::Undo(record),
        ];
        all.iter().try_for_each(returns)?;
    }

    #[test]
    fn what_is_forgotten_returns(index: u32, message: i64, search in any::<u32>().prop_map(SearchNumber), page in any::<Page>()) {
        let session = SessionId::new();
        let stored = SaidKey(SaidAt::Session(EntryKey { session, index }));
        let beside = SaidKey(SaidAt::Background(MessageId(message)));
        let all = [
            ForgetButton::Menu,
            ForgetButton::Keep,
            ForgetButton::AskSession,
            ForgetButton::Session(session),
            ForgetButton::AskAll,
            ForgetButton::All(message),
            ForgetButton::AskSaid(stored, Some(search)),
            ForgetButton::Said(stored),
            ForgetButton::AskSaid(beside, None),
            ForgetButton::Said(beside),
            ForgetButton::Found(search, page),
            ForgetButton::AskFound(search),
            ForgetButton::AllFound(search),
        ];
        all.iter().try_for_each(returns)?;
        [ExportButton::Menu, ExportButton::Session, ExportButton::All].iter().try_for_each(returns)?;
    }

    #[test]
    fn documents_return(page in any::<Page>()) {
        let id = DocumentId::new();
        let all = [DocsButton::List(page), DocsButton::Open(id, page), DocsButton::Send(id), DocsButton::Remove(id, page), DocsButton::Undo(id, page)];
        all.iter().try_for_each(returns)?;
    }

    #[test]
    fn pins_return(page in any::<Page>(), message in any::<i64>()) {
        let pin = PinId::new();
        let shown = [PinsButton::List(page), PinsButton::Open(pin, page), PinsButton::More(pin, page), PinsButton::Less(pin, page)];
        for press in shown.into_iter().chain([PinsButton::Remove(pin, page), PinsButton::Undo(pin, page), PinsButton::Source(pin)]) {
            returns(&press)?;
        }
        for press in [KeepAnswerButton::Ask, KeepAnswerButton::Yes(MessageId(message)), KeepAnswerButton::No, KeepAnswerButton::Undo(pin)] {
            returns(&press)?;
        }
    }

    #[test]
    fn settings_return(field in field(), value in "\\PC{1,60}") {
        for press in [ConfigButton::Show, ConfigButton::Ask(field), ConfigButton::Clear(field)] {
            returns(&press)?;
        }
        let room = MAX_BYTES - format!("config:set:{}:", field.name()).len();
        let choice = SettingChoice::new(field, &value);
        prop_assert_eq!(choice.is_some(), value.len() <= room);
        if let Some(choice) = choice {
            returns(&ConfigButton::Set(choice))?;
        }
        returns(&UndoButton(RunId::new()))?;
    }

    #[test]
    fn zones_return(zone in zone()) {
        for press in [ZoneButton::Show, ZoneButton::Set(zone), ZoneButton::Move(zone), ZoneButton::Clear] {
            returns(&press)?;
        }
    }

    #[test]
    fn models_return(model in model(), provider in "[a-z]{1,40}", page in any::<Page>(), attempt in any::<u8>()) {
        let served = ModelButton::Served(Short::new(&provider).unwrap(), page);
        for press in [ModelButton::Show, served, ModelButton::Set(ModelKey::of(&model)), ModelButton::Clear, ModelButton::Writing, ModelButton::Plain] {
            returns(&press)?;
        }
        let turn = TurnTag::of(RunId::new());
        let with = RetryButton::With(turn.clone(), ModelKey::of(&model));
        returns(&VersionButton::Show(turn.clone(), attempt))?;
        returns(&WhyButton(MessageId(i64::from(page))))?;
        for press in [RetryButton::GoOn(turn.clone()), RetryButton::Again(turn.clone()), RetryButton::Choose(turn), with] {
            returns(&press)?;
        }
    }

    #[test]
    fn sessions_return(page in any::<Page>(), model in model()) {
        let id = SessionId::new();
        for press in [
            SessionsButton::List(page),
            SessionsButton::Open(id),
            SessionsButton::Switch(id),
            SessionsButton::Rename(id),
            SessionsButton::Export(id),
            SessionsButton::Ask(id),
            SessionsButton::Delete(id),
            SessionsButton::Models(id),
            SessionsButton::Set(id, ModelKey::of(&model)),
            SessionsButton::Clear(id),
        ] {
            returns(&press)?;
        }
    }

    #[test]
    fn personas_return(name in "[a-z0-9_-]{1,40}", page in any::<Page>()) {
        let (own, file) = (PersonaId::new(), PersonaButton::File(Short::new(&name).unwrap(), page));
        let shown = [PersonaButton::List(page), file, PersonaButton::Own(own, page), PersonaButton::Clear(page), PersonaButton::Open(own, page)];
        let changing = [PersonaButton::New, PersonaButton::Edit(own), PersonaButton::Writing(own), PersonaButton::Drop(own, page), PersonaButton::Delete(own, page)];
        for press in shown.into_iter().chain(changing) {
            returns(&press)?;
        }
    }

    #[test]
    fn tasks_return(verb in verb(), page in prop::option::of(any::<Page>()), list in any::<Page>(), again in any::<bool>()) {
        let one = TaskPress { verb, task: TaskId::new(), page };
        for press in [TasksButton::One(one), TasksButton::List(list), TasksButton::Back(again)] {
            returns(&press)?;
        }
    }

    #[test]
    fn what_no_button_says_is_gone(data in "(start|help|admit|approve|back|notes|records|pins|pin|persona|sessions|config|undo|zone|model|retry|tasks|usage|status|dashboard)?:?\\PC{0,64}") {
        // It is read without a panic; what is read is what is written.
        for written in [
            data.parse::<StartButton>().map(|press| press.to_string()),
            data.parse::<AdmitButton>().map(|press| press.to_string()),
            data.parse::<ApproveButton>().map(|press| press.to_string()),
            data.parse::<BackButton>().map(|press| press.to_string()),
            data.parse::<SignOutButton>().map(|press| press.to_string()),
            data.parse::<HelpButton>().map(|press| press.to_string()),
            data.parse::<NotesButton>().map(|press| press.to_string()),
            data.parse::<RecordsButton>().map(|press| press.to_string()),
            data.parse::<PinsButton>().map(|press| press.to_string()),
            data.parse::<KeepAnswerButton>().map(|press| press.to_string()),
            data.parse::<PersonaButton>().map(|press| press.to_string()),
            data.parse::<ConfigButton>().map(|press| press.to_string()),
            data.parse::<ZoneButton>().map(|press| press.to_string()),
            data.parse::<ModelButton>().map(|press| press.to_string()),
            data.parse::<SessionsButton>().map(|press| press.to_string()),
            data.parse::<TasksButton>().map(|press| press.to_string()),
            data.parse::<RetryButton>().map(|press| press.to_string()),
            data.parse::<VersionButton>().map(|press| press.to_string()),
            data.parse::<WhyButton>().map(|press| press.to_string()),
        ].into_iter().flatten() {
            prop_assert_eq!(family(&written), family(&data));
        }
    }
}

#[test]
fn the_few_return() {
    for press in [StartButton::Example, StartButton::Access, StartButton::Back] {
        returns(&press).unwrap();
    }
    for press in UsageButton::ALL {
        returns(&press).unwrap();
    }
    returns(&StatusButton).unwrap();
    returns(&SignOutButton).unwrap();
    returns(&HelpButton(u8::MAX)).unwrap();
    let run = RunId::new();
    for ruled in [Ruled::Once, Ruled::Hour, Ruled::Denied] {
        for page in [None, Some(Page::MAX)] {
            returns(&ApproveButton::Rule(run, ruled, page)).unwrap();
            returns(&ApproveButton::End(run, page)).unwrap();
        }
    }
    returns(&BackButton(run)).unwrap();
    returns(&ApproveButton::List(1)).unwrap();
    returns(&ApproveButton::Open(run, Page::MAX)).unwrap();
    for decision in AccessDecision::ALL {
        for language in [None, Short::new("pt-br"), Short::new(&"x".repeat(12))] {
            returns(&AdmitButton { decision, person: i64::MAX, language }).unwrap();
        }
    }
}

/// Data as earlier versions wrote it, which is what buttons in chats say; it is written the same, with a page where that may
/// be left out.
fn read<F: ButtonFamily + PartialEq + Debug>(cases: &[(&str, F)]) {
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
    read(&[
        ("start:example", StartButton::Example),
        ("start:access", StartButton::Access),
        ("start:back", StartButton::Back),
    ]);
    read(&[
        ("notes:list:2", NotesButton::Lists(2)),
        (&format!("notes:open:{ID}:1"), NotesButton::Open(note, 1)),
        (&format!("notes:open:{ID}"), NotesButton::Open(note, 0)),
        (&format!("notes:done:{ID}"), NotesButton::Done(note)),
        (&format!("notes:drop:{ID}"), NotesButton::Remove(note)),
        (&format!("notes:undo:{ID}"), NotesButton::Undo(note)),
    ]);
    let record: RecordId = ID.parse().unwrap();
    read(&[
        ("records:use:shop:1", RecordsButton::Take(Short::new("shop").unwrap(), 1)),
        (&format!("records:remind:{ID}"), RecordsButton::Remind(record)),
        (&format!("records:chart:{ID}:2"), RecordsButton::Chart(record, 2)),
    ]);
    let document: DocumentId = ID.parse().unwrap();
    read(&[
        ("docs:list:2", DocsButton::List(2)),
        (&format!("docs:open:{ID}"), DocsButton::Open(document, 0)),
        (&format!("docs:send:{ID}"), DocsButton::Send(document)),
    ]);
    let pin: PinId = ID.parse().unwrap();
    read(&[
        ("pins:list:2", PinsButton::List(2)),
        (&format!("pins:open:{ID}"), PinsButton::Open(pin, 0)),
        (&format!("pins:more:{ID}:1"), PinsButton::More(pin, 1)),
        (&format!("pins:source:{ID}"), PinsButton::Source(pin)),
    ]);
    read(&[
        ("pin:ask", KeepAnswerButton::Ask),
        ("pin:yes:7", KeepAnswerButton::Yes(MessageId(7))),
        ("pin:no", KeepAnswerButton::No),
    ]);
    read(&[
        ("config:show", ConfigButton::Show),
        ("config:ask:tone", ConfigButton::Ask(SettingField::Tone)),
        (
            "config:set:language:Português",
            ConfigButton::Set(SettingChoice::new(SettingField::Language, "Português").unwrap()),
        ),
        (
            "config:set:tone:dry: very",
            ConfigButton::Set(SettingChoice::new(SettingField::Tone, "dry: very").unwrap()),
        ),
        ("config:clear:answers", ConfigButton::Clear(SettingField::Answers)),
    ]);
    read(&[(&format!("undo:{ID}"), UndoButton(turn))]);
    read(&[
        ("zone:show", ZoneButton::Show),
        ("zone:set:Europe/Riga", ZoneButton::Set("Europe/Riga".parse().unwrap())),
        ("zone:move:Europe/Riga", ZoneButton::Move("Europe/Riga".parse().unwrap())),
        ("zone:clear", ZoneButton::Clear),
    ]);
    read(&[("usage:days", UsageButton::Days), ("usage:people", UsageButton::People)]);
    read(&[("status:", StatusButton)]);
}

#[test]
fn buttons_of_older_versions_that_name_models_are_read() {
    let qwen = ModelName { provider: "ollama".into(), model: "qwen3:8b".into() };
    let long = ModelName { provider: "openai".into(), model: "x".repeat(60) };
    read(&[
        ("model:show", ModelButton::Show),
        ("model:served:ollama:0", ModelButton::Served(Short::new("ollama").unwrap(), 0)),
        ("model:set:ollama:qwen3:8b", ModelButton::Set(ModelKey::of(&qwen))),
        (&format!("model:set:{}", mark(&long)), ModelButton::Set(ModelKey::of(&long))),
        ("model:clear", ModelButton::Clear),
    ]);
    let tag = || TurnTag::of(ID.parse().unwrap());
    read(&[
        (&format!("retry:go_on:{TAG}"), RetryButton::GoOn(tag())),
        (&format!("retry:again:{TAG}"), RetryButton::Again(tag())),
        (&format!("retry:choose:{TAG}"), RetryButton::Choose(tag())),
        (&format!("retry:with:{TAG}:ollama:qwen3:8b"), RetryButton::With(tag(), ModelKey::of(&qwen))),
    ]);
}

#[test]
fn buttons_of_older_versions_about_tasks_are_read() {
    let task: TaskId = ID.parse().unwrap();
    let one = |verb, page| TasksButton::One(TaskPress { verb, task, page });
    read(&[
        ("tasks:list:3", TasksButton::List(3)),
        ("tasks:back:yes", TasksButton::Back(true)),
        ("tasks:back:no", TasksButton::Back(false)),
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
    impl ButtonFamily for Long {
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
