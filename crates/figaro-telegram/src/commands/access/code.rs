//! `/allow code`: creates a code that an owner gives to a person to let them in.

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::handles::Handles;
use figaro_base::secret::random_letters;
use figaro_config::{AccessMode, AccessSettings};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::code::{CodeKey, PairingCode};
use figaro_prompts::texts::fill;
use figaro_store::{SettingsStore, StoreError};

/// Arguments of `/allow` that ask for a code.
const WORDS: [&str; 3] = ["code", "codigo", "código"];

/// Creates codes that let people in.
#[derive(Debug)]
pub(super) struct Codes {
    cards: Cards,
    settings: SettingsStore,
    access: AccessSettings,
    key: CodeKey,
    /// Username of the bot, for links to it.
    username: String,
}

impl Codes {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            access: handles.access.clone(),
            key: handles.code_key.clone(),
            username: handles.me.username.clone(),
        }
    }

    /// Returns `true` if the argument asks for a code.
    pub(super) fn are_meant(argument: &str) -> bool {
        WORDS.contains(&argument.trim().to_lowercase().as_str())
    }

    /// Creates a code and shows it, only where nobody but the asking owner can read it.
    pub(super) async fn make(&self, asker: &Asker) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        if self.access.mode != AccessMode::Pairing {
            return Ok(Card::text(texts.code_off()));
        }
        if !asker.is_owner_alone() {
            return Ok(Card::text(texts.code_in_private()));
        }
        let code = match random_letters(PairingCode::LETTERS, PairingCode::LENGTH) {
            Ok(code) => code,
            Err(error) => {
                tracing::error!(%error, "the system has no source of randomness: no code can be made");
                return Ok(Card::text(texts.error_internal()));
            }
        };
        let now = self.cards.now();
        let change = AccessChange::Code { code: PairingCode::new(self.key.hash(&code), now), at: now };
        self.settings.change_access(change, AuditActor::Person(asker.speaker.user.clone())).await?;
        let link = format!("https://t.me/{}?start={code}", self.username);
        let (shown, hours) = (PairingCode::shown(&code), PairingCode::HOURS.to_string());
        let values = [("code", shown.as_str()), ("hours", &hours), ("link", &link)];
        Ok(Card::text(fill(texts.code_made(), &values)))
    }
}
