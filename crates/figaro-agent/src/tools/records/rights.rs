//! Rights to remove records: their authors, and people who may change settings of the chat. Guests may not.

use figaro_base::ids::UserId;
use figaro_domain::chat::Place;
use figaro_domain::record::Record;
use figaro_policy::access::{Admins, Standing, may_change};

/// A person who wants to remove records.
#[derive(Debug, Clone, Copy)]
pub struct Remover<'a> {
    /// Chat and topic of the request.
    pub place: &'a Place,
    /// Id of the person.
    pub user: &'a UserId,
    /// Rights of the person there.
    pub standing: Standing,
}

impl Remover<'_> {
    /// Returns `true` if the person may remove all of these records.
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
