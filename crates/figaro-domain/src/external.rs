//! Names of conversations outside Telegram. The store assigns each name a number, which the rest of the code uses. The HTTP
//! gateway and the terminal create the names.

use std::fmt;

use figaro_base::ids::RequestId;

/// Name of a conversation outside Telegram.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExternalName {
    owner: String,
    session: Option<String>,
}

impl ExternalName {
    /// Names the conversation of a person, which contains their sessions. Tenant names contain no `/`.
    #[must_use]
    pub fn person(tenant: &str, user: &str) -> Self {
        Self { owner: format!("user {tenant}/{user}"), session: None }
    }

    /// Names a session of callers known only by their key. Keys contain no `/`.
    #[must_use]
    pub fn anonymous(tenant: &str, key: &str, session: &str) -> Self {
        Self { owner: format!("anonymous {tenant}/{key}/{session}"), session: None }
    }

    /// Names a session of the terminal.
    #[must_use]
    pub fn terminal(session: &str) -> Self {
        Self { owner: format!("session {session}"), session: None }
    }

    /// Names a single call in the terminal, which no later call continues.
    #[must_use]
    pub fn call(request: RequestId) -> Self {
        Self { owner: format!("call {request}"), session: None }
    }

    /// Names a session of this owner. It has its own messages, but shares notes and pins with the owner's other sessions.
    #[must_use]
    pub fn session(self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self }
    }

    /// Returns the owner's name for a session; `None` if it is no session.
    #[must_use]
    pub fn whole(&self) -> Option<Self> {
        self.session.as_ref().map(|_| Self { owner: self.owner.clone(), session: None })
    }
}

/// Writes the stored form. Names contain no NUL character, so two names never have the same form.
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
