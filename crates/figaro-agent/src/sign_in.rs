//! Tickets to sign in to the dashboard: links that a person asks for in the chat or on the machine, and opens in a browser.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use figaro_base::clock::Clock;
use figaro_base::ids::UserId;
use figaro_base::secret::{ExposeSecret, random_hex};
use figaro_domain::code::CodeHash;

/// End of the address of the dashboard as a Mini App.
pub const MINI_APP_PATH: &str = "/dashboard/app";
/// Time in which a ticket can be used.
pub const TICKET_MINUTES: i64 = 5;
/// Size of a ticket, in random bytes.
const TICKET_BYTES: usize = 32;
/// Maximum number of open tickets of a person. A further one voids their oldest.
const MAX_TICKETS: usize = 3;

/// The dashboard of a bot, as the chat offers it.
#[derive(Debug, Clone)]
pub struct OfferedDashboard {
    /// Makes the links that sign browsers in.
    pub sign_in: SignIn,
    /// `true` if everybody who may talk to the bot has a dashboard; `false` if only owners have one.
    pub for_everybody: bool,
    /// Address of the Mini App; `None` if Telegram's clients cannot open it.
    pub mini_app: Option<Arc<str>>,
}

/// Open tickets of a bot, in memory only: a restart voids them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Base URL of the dashboard, without a trailing slash.
    url: Arc<str>,
    tickets: Arc<Mutex<Tickets>>,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Tickets {
    open: Vec<OpenTicket>,
    /// Number of times that people have signed out everywhere.
    sign_outs: HashMap<UserId, u64>,
}

#[derive(Debug)]
struct OpenTicket {
    hash: CodeHash,
    user: UserId,
    until: DateTime<Utc>,
}

/// Right of a browser to be signed in for a person. It ends when the person signs out everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInGrant {
    /// Person that the browser is signed in for.
    pub user: UserId,
    /// Number of times that the person had signed out everywhere before.
    sign_outs: u64,
}

impl Tickets {
    fn grant(&self, user: UserId) -> SignInGrant {
        let sign_outs = self.sign_outs.get(&user).copied().unwrap_or_default();
        SignInGrant { user, sign_outs }
    }
}

impl SignIn {
    /// Makes the tickets of a dashboard at this URL, such as `http://127.0.0.1:8080/dashboard`.
    #[must_use]
    pub fn new(url: &str, clock: Clock) -> Self {
        Self { url: url.into(), tickets: Arc::default(), clock }
    }

    /// Returns the base URL of the dashboard.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes a link that signs a person in, once, within [`TICKET_MINUTES`]. `None` if the system has no random numbers.
    #[must_use]
    pub fn link(&self, user: &UserId) -> Option<String> {
        let ticket = random_hex(TICKET_BYTES).ok()?;
        let ticket = ticket.expose_secret();
        let now = self.clock.now();
        let open = &mut self.tickets.lock().open;
        open.retain(|one| now < one.until);
        if open.iter().filter(|one| one.user == *user).count() >= MAX_TICKETS {
            let oldest = open.iter().position(|one| one.user == *user);
            oldest.map(|at| open.remove(at));
        }
        let until = now + TimeDelta::minutes(TICKET_MINUTES);
        open.push(OpenTicket { hash: CodeHash::of(ticket), user: user.clone(), until });
        Some(format!("{}/enter/{ticket}", self.url))
    }

    /// Returns the person that a ticket signs in, and leaves it open.
    #[must_use]
    pub fn holder(&self, ticket: &str) -> Option<UserId> {
        let (now, hash) = (self.clock.now(), CodeHash::of(ticket));
        let tickets = self.tickets.lock();
        tickets.open.iter().find(|one| one.hash == hash && now < one.until).map(|one| one.user.clone())
    }

    /// Uses a ticket up, and returns the right to be signed in for its person.
    #[must_use]
    pub fn redeem(&self, ticket: &str) -> Option<SignInGrant> {
        let (now, hash) = (self.clock.now(), CodeHash::of(ticket));
        let mut tickets = self.tickets.lock();
        let at = tickets.open.iter().position(|one| one.hash == hash)?;
        let used = tickets.open.remove(at);
        (now < used.until).then(|| tickets.grant(used.user))
    }

    /// Returns the right to be signed in for a person whom Telegram vouches for.
    #[must_use]
    pub fn grant(&self, user: UserId) -> SignInGrant {
        self.tickets.lock().grant(user)
    }

    /// Returns `true` if the person has not signed out everywhere since.
    #[must_use]
    pub fn holds(&self, grant: &SignInGrant) -> bool {
        self.tickets.lock().grant(grant.user.clone()) == *grant
    }

    /// Signs a person out in all browsers, and voids their open tickets.
    pub fn sign_out_everywhere(&self, user: &UserId) {
        let mut tickets = self.tickets.lock();
        tickets.open.retain(|one| one.user != *user);
        *tickets.sign_outs.entry(user.clone()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// A clock that shows this second.
    fn clock(second: &Arc<AtomicI64>) -> Clock {
        let second = second.clone();
        Clock::told_by(move || {
            DateTime::from_timestamp(second.load(Ordering::Relaxed), 0).unwrap_or_default()
        })
    }

    fn ticket(link: &str) -> &str {
        link.rsplit('/').next().unwrap()
    }

    #[test]
    fn a_ticket_signs_in_once_and_for_five_minutes() {
        let second = Arc::default();
        let sign_in = SignIn::new("http://127.0.0.1:8080/dashboard", clock(&second));
        let ann = UserId::telegram(7);
        let link = sign_in.link(&ann).unwrap();
        assert!(link.starts_with("http://127.0.0.1:8080/dashboard/enter/") && ticket(&link).len() == 64);
        assert_eq!(sign_in.holder(ticket(&link)), Some(ann.clone()));
        assert_eq!(sign_in.redeem(ticket(&link)), Some(sign_in.grant(ann.clone())));
        assert_eq!((sign_in.holder(ticket(&link)), sign_in.redeem(ticket(&link))), (None, None));
        let late = sign_in.link(&ann).unwrap();
        second.store(TICKET_MINUTES * 60, Ordering::Relaxed);
        assert_eq!((sign_in.holder(ticket(&late)), sign_in.redeem(ticket(&late))), (None, None));
        assert_eq!(sign_in.redeem(""), None);
    }

    #[test]
    fn a_flood_of_tickets_voids_those_of_its_person_alone() {
        let sign_in = SignIn::new("http://x/dashboard", clock(&Arc::default()));
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        let of_bob = sign_in.link(&bob).unwrap();
        let links: Vec<String> = (0..10).map(|_| sign_in.link(&ann).unwrap()).collect();
        let hold = links.iter().filter(|link| sign_in.redeem(ticket(link)).is_some()).count();
        let of_bob = sign_in.redeem(ticket(&of_bob)).map(|grant| grant.user);
        assert_eq!((hold, of_bob), (MAX_TICKETS, Some(bob)));
        assert_eq!(sign_in.redeem(ticket(&links[0])), None);
    }

    #[test]
    fn signing_out_everywhere_ends_what_the_person_had_and_nothing_else() {
        let sign_in = SignIn::new("http://x/dashboard", clock(&Arc::default()));
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        let [of_ann, of_bob] = [&ann, &bob].map(|user| sign_in.link(user).unwrap());
        let [before, other] = [&ann, &bob].map(|user| sign_in.grant(user.clone()));
        sign_in.sign_out_everywhere(&ann);
        assert!(!sign_in.holds(&before) && sign_in.holds(&other));
        assert_eq!((sign_in.holder(ticket(&of_ann)), sign_in.redeem(ticket(&of_ann))), (None, None));
        assert_eq!(sign_in.redeem(ticket(&of_bob)), Some(other));
        let after = sign_in.redeem(ticket(&sign_in.link(&ann).unwrap())).unwrap();
        assert!(sign_in.holds(&after));
        sign_in.sign_out_everywhere(&ann);
        assert!(!sign_in.holds(&before) && !sign_in.holds(&after));
    }
}
