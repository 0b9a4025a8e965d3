//! Names of conversations outside Telegram. The store gives each name a number of its own, by which everything else knows the
//! conversation. The HTTP gateway and the terminal make the names.

use std::fmt;

use figaro_base::ids::RequestId;

/// The name of a conversation outside Telegram.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExternalName {
    owner: String,
    session: Option<String>,
}

impl ExternalName {
    /// All that belongs to a person: their sessions are parts of it. No tenant has a `/` in its name.
    #[must_use]
    pub fn person(tenant: &str, user: &str) -> Self {
        Self { owner: format!("user {tenant}/{user}"), session: None }
    }

    /// A session of callers who are unknown but for their key. No key has a `/` in its name.
    #[must_use]
    pub fn anonymous(tenant: &str, key: &str, session: &str) -> Self {
        Self { owner: format!("anonymous {tenant}/{key}/{session}"), session: None }
    }

    /// A session of the terminal.
    #[must_use]
    pub fn terminal(session: &str) -> Self {
        Self { owner: format!("session {session}"), session: None }
    }

    /// A call in the terminal that no later one goes on with.
    #[must_use]
    pub fn call(request: RequestId) -> Self {
        Self { owner: format!("call {request}"), session: None }
    }

    /// A session of this owner: it shares notes and pins with their other sessions, and its messages are its own.
    #[must_use]
    pub fn session(self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self }
    }

    /// The name of the whole that a session is a part of; `None` for a whole.
    #[must_use]
    pub fn whole(&self) -> Option<Self> {
        self.session.as_ref().map(|_| Self { owner: self.owner.clone(), session: None })
    }
}

/// As it is stored. No name has the zero character, so two names are never written alike.
impl fmt::Display for ExternalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.owner)?;
        self.session.as_ref().map_or(Ok(()), |session| write!(f, "\0{session}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_that_look_alike_are_stored_apart() {
        let ann = || ExternalName::person("acme", "ann");
        let names = [
            ann(),
            ann().session("trip"),
            ExternalName::person("acme", "ann session trip"),
            ExternalName::anonymous("acme", "ann", "trip"),
            ExternalName::anonymous("acme", "ann", "trip/home"),
            ExternalName::terminal("trip"),
        ];
        let stored: HashSet<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(stored.len(), names.len());
        assert_eq!((ann().session("trip").whole(), ann().whole()), (Some(ann()), None));
    }
}
