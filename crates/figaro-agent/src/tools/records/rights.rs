//! Who may remove records: whoever stated them, and whoever may change what holds for the chat. Guests may not.

use figaro_base::ids::UserId;
use figaro_domain::chat::Place;
use figaro_domain::record::Record;
use figaro_policy::access::{Admins, Standing, may_change};

/// Somebody in a chat.
#[derive(Debug, Clone, Copy)]
pub struct Remover<'a> {
    /// The chat and topic.
    pub place: &'a Place,
    /// Whoever wants to remove something.
    pub user: &'a UserId,
    /// What they may do there.
    pub standing: Standing,
}

impl Remover<'_> {
    /// Whether they may remove all of these records.
    pub async fn may_remove<'r>(
        self,
        admins: &dyn Admins,
        mut records: impl Iterator<Item = &'r Record>,
    ) -> bool {
        match self.standing {
            Standing::Guest | Standing::Borrowed => false,
            Standing::Owner | Standing::Admin | Standing::Member => {
                records.all(|record| record.is_stated_by(self.user))
                    || may_change(admins, self.standing, self.place, self.user).await
            }
        }
    }
}
