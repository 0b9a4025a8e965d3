//! Who has which bots, as the database says.

use std::collections::{BTreeMap, HashMap};

use tokio_postgres::types::{ToSql, Type};

use super::super::port::Result;
use super::client::DatabaseClient;
use super::owner;

/// A process that has a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotOwner {
    /// Process id and machine, for people.
    pub host: String,
    /// Address of its HTTP gateway; empty for none.
    pub address: String,
    /// `true` for this process.
    pub is_own: bool,
}

/// Processes that share a database, and which of them has which bots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ownership<K> {
    /// Number of processes that take bots, with this one if it does.
    pub processes: usize,
    /// Owners by bot; bots that nobody has are missing.
    pub owners: BTreeMap<K, BotOwner>,
}

/// Reads who has the bots with these beginnings of keys. `own` is the name of this process. Blocking.
///
/// # Errors
/// Of the database.
pub(super) fn read(
    client: &DatabaseClient,
    own: Option<String>,
    bots: Vec<Vec<u8>>,
) -> Result<Ownership<Vec<u8>>> {
    let witness = client.witness.clone();
    client.call(move |database| {
        let (own, bots, witness) = (own.clone().unwrap_or_default(), bots.clone(), witness.clone());
        async move {
            // The rows of processes that died on this machine are still there for some seconds.
            let takers = "SELECT name FROM figaro.processes WHERE until >= now() AND takes";
            let takers = database.query_typed(takers, &[]).await?;
            // Asking the system about a process takes some reads, and a process may have many bots.
            let mut ended: HashMap<String, bool> = HashMap::new();
            let mut has_ended =
                |name: &str| *ended.entry(name.to_owned()).or_insert_with(|| owner::has_ended(name));
            let mut processes = 0;
            for row in &takers {
                let name: String = row.try_get(0)?;
                processes += usize::from(!has_ended(&name));
            }
            let sql = "SELECT bot, host, address, name, extract(epoch FROM until - now())::float8 FROM figaro.leases JOIN figaro.processes ON name = owner \
                       WHERE until >= now() AND bot = ANY($1)";
            let wanted: [(&(dyn ToSql + Sync), Type); 1] = [(&bots, Type::BYTEA_ARRAY)];
            let mut owners = BTreeMap::new();
            for row in database.query_typed(sql, &wanted).await? {
                let name: String = row.try_get(3)?;
                witness.holds_for(&name, row.try_get(4)?);
                if has_ended(&name) {
                    continue;
                }
                let owner =
                    BotOwner { host: row.try_get(1)?, address: row.try_get(2)?, is_own: name == own };
                owners.insert(row.try_get(0)?, owner);
            }
            Ok(Ownership { processes, owners })
        }
    })
}
