//! Tickets to sign in to the dashboard: links that a person asks for in the chat or on the machine, and opens in a browser.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use super::sign_outs::{SignInGrant, SignOuts};
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

/// Sign-ins to the dashboard of a bot, in memory only: a restart voids its tickets. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Base URL of the dashboard, without a trailing slash.
    url: Arc<str>,
    open: Arc<Mutex<Vec<OpenTicket>>>,
    sign_outs: SignOuts,
    clock: Clock,
}

#[derive(Debug)]
struct OpenTicket {
    hash: CodeHash,
    grant: SignInGrant,
    until: DateTime<Utc>,
}

impl SignIn {
    /// Makes the tickets of a dashboard at this URL, such as `http://127.0.0.1:8080/dashboard`.
    #[must_use]
    pub fn new(url: &str, sign_outs: SignOuts, clock: Clock) -> Self {
        Self { url: url.into(), open: Arc::default(), sign_outs, clock }
    }

    /// Returns the base URL of the dashboard.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes a link that signs a person in, once, within [`TICKET_MINUTES`]. `None` if the system has no random numbers.
    #[must_use]
    pub fn link(&self, user: &UserId) -> Option<String> {
        self.link_of(self.sign_outs.grant(user.clone()))
    }

    /// Makes a link as [`Self::link`] does, with a right that a person already has: it is void once that has ended.
    #[must_use]
    pub fn link_of(&self, grant: SignInGrant) -> Option<String> {
        let ticket = random_hex(TICKET_BYTES).ok()?;
        let ticket = ticket.expose_secret();
        let now = self.clock.now();
        let mut open = self.open.lock();
        open.retain(|one| now < one.until && self.sign_outs.holds(&one.grant));
        if open.iter().filter(|one| one.grant.user == grant.user).count() >= MAX_TICKETS {
            let oldest = open.iter().position(|one| one.grant.user == grant.user);
            oldest.map(|at| open.remove(at));
        }
        let until = now + TimeDelta::minutes(TICKET_MINUTES);
        open.push(OpenTicket { hash: CodeHash::of(ticket), grant, until });
        Some(format!("{}/enter/{ticket}", self.url))
    }

    /// Returns the person that a ticket signs in, and leaves it open.
    #[must_use]
    pub fn holder(&self, ticket: &str) -> Option<UserId> {
        let (now, hash) = (self.clock.now(), CodeHash::of(ticket));
        let open = self.open.lock();
        let found = open.iter().find(|one| one.hash == hash && now < one.until)?;
        self.sign_outs.holds(&found.grant).then(|| found.grant.user.clone())
    }

    /// Uses a ticket up, and returns the right to be signed in for its person.
    #[must_use]
    pub fn redeem(&self, ticket: &str) -> Option<SignInGrant> {
        let (now, hash) = (self.clock.now(), CodeHash::of(ticket));
        let mut open = self.open.lock();
        let at = open.iter().position(|one| one.hash == hash)?;
        let used = open.remove(at);
        (now < used.until && self.sign_outs.holds(&used.grant)).then_some(used.grant)
    }

    /// Returns the right to be signed in for a person whom Telegram named at this time; `None` if they have signed out
    /// everywhere since. Telegram tells whole seconds, so one of the same second counts as before.
    #[must_use]
    pub fn grant_of(&self, user: UserId, at: DateTime<Utc>) -> Option<SignInGrant> {
        self.sign_outs.grant_of(user, at)
    }

    /// Returns `true` if the person has not signed out everywhere since.
    #[must_use]
    pub fn holds(&self, grant: &SignInGrant) -> bool {
        self.sign_outs.holds(grant)
    }

    /// Signs a person out of the dashboards of all bots of the process, in all browsers, and voids their tickets.
    pub fn sign_out_everywhere(&self, user: &UserId) {
        self.sign_outs.add(user, self.clock.now());
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
        let sign_in = SignIn::new("http://127.0.0.1:8080/dashboard", SignOuts::default(), clock(&second));
        let ann = UserId::telegram(7);
        let link = sign_in.link(&ann).unwrap();
        assert!(link.starts_with("http://127.0.0.1:8080/dashboard/enter/") && ticket(&link).len() == 64);
        assert_eq!(sign_in.holder(ticket(&link)), Some(ann.clone()));
        assert_eq!(sign_in.redeem(ticket(&link)).map(|grant| grant.user), Some(ann.clone()));
        assert_eq!((sign_in.holder(ticket(&link)), sign_in.redeem(ticket(&link))), (None, None));
        let late = sign_in.link(&ann).unwrap();
        second.store(TICKET_MINUTES * 60, Ordering::Relaxed);
        assert_eq!((sign_in.holder(ticket(&late)), sign_in.redeem(ticket(&late))), (None, None));
        assert_eq!(sign_in.redeem(""), None);
    }

    #[test]
    fn a_flood_of_tickets_voids_those_of_its_person_alone() {
        let sign_in = SignIn::new("http://x/dashboard", SignOuts::default(), clock(&Arc::default()));
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        let of_bob = sign_in.link(&bob).unwrap();
        let links: Vec<String> = (0..10).map(|_| sign_in.link(&ann).unwrap()).collect();
        let hold = links.iter().filter(|link| sign_in.redeem(ticket(link)).is_some()).count();
        let of_bob = sign_in.redeem(ticket(&of_bob)).map(|grant| grant.user);
        assert_eq!((hold, of_bob), (MAX_TICKETS, Some(bob)));
        assert_eq!(sign_in.redeem(ticket(&links[0])), None);
    }

    #[test]
    fn signing_out_everywhere_ends_what_the_person_had_at_all_bots() {
        let (second, sign_outs) = (Arc::default(), SignOuts::default());
        let [sales, family] = ["http://x/bots/sales/dashboard", "http://x/bots/family/dashboard"]
            .map(|url| SignIn::new(url, sign_outs.clone(), clock(&second)));
        let (ann, bob) = (UserId::telegram(1), UserId::telegram(2));
        let links = [sales.link(&ann), family.link(&ann)].map(Option::unwrap);
        let of_bob = family.link(&bob).unwrap();
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        let before = sales.grant_of(ann.clone(), at(0)).unwrap();
        let redeemed = sales.redeem(ticket(&sales.link(&ann).unwrap())).unwrap();
        second.store(7, Ordering::Relaxed);
        family.sign_out_everywhere(&ann);
        assert!(!sales.holds(&before) && !family.holds(&redeemed));
        for (sign_in, link) in [&sales, &family].into_iter().zip(&links) {
            assert_eq!((sign_in.holder(ticket(link)), sign_in.redeem(ticket(link))), (None, None));
        }
        assert_eq!(family.redeem(ticket(&of_bob)).map(|grant| grant.user), Some(bob.clone()));
        // A request that was under way gets a link that is void.
        let late = sales.link_of(before).unwrap();
        assert_eq!(sales.redeem(ticket(&late)), None);
        // Telegram named them before, or in the same second.
        assert_eq!([6, 7].map(|second| sales.grant_of(ann.clone(), at(second))), [None, None]);
        assert!(sales.grant_of(bob, at(6)).is_some());
        let after = [sales.grant_of(ann.clone(), at(8)), sales.redeem(ticket(&sales.link(&ann).unwrap()))];
        assert!(after.iter().flatten().filter(|grant| sales.holds(grant)).count() == 2, "{after:?}");
    }
}
