//! Connections of the bots of a process to a database, and the place of the process among others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::super::port::Result;
use super::client::{DatabaseClient, PATIENCE, SHORT_PATIENCE};
use super::membership::Membership;
use super::ownership::{self, Ownership};
use super::schema::{self, SchemaState};
use crate::meters::StoreMeters;
use figaro_config::DatabaseUrl;

/// Connections of the bots of a process to a database, and the place of the process among others.
#[derive(Debug, Default)]
pub(in crate::engine) struct DatabaseConnections {
    /// Address at which other processes reach this one; empty for none.
    address: String,
    meters: StoreMeters,
    /// `true` once this process takes no more bots.
    is_leaving: AtomicBool,
    open: Mutex<Option<(DatabaseClient, Option<Arc<Membership>>)>>,
}

impl DatabaseConnections {
    pub(in crate::engine) fn new(address: String, meters: StoreMeters) -> Self {
        Self { address, meters, ..Self::default() }
    }

    /// Reads who has the bots with these beginnings of keys. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(in crate::engine) fn ownership(
        &self,
        url: &DatabaseUrl,
        bots: Vec<Vec<u8>>,
    ) -> Result<Ownership<Vec<u8>>> {
        let open = self.open.lock().clone();
        let (client, member) = match open {
            Some((client, member)) => (client, member),
            None => (DatabaseClient::new(url, SHORT_PATIENCE)?, None),
        };
        if member.is_none() && schema::look(&client)? == SchemaState::Missing {
            return Ok(Ownership { processes: 0, owners: BTreeMap::new() });
        }
        ownership::read(&client, member.map(|member| member.name().to_owned()), bots)
    }

    /// Tells the others that this process takes no more bots. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(in crate::engine) fn takes_no_more(&self) -> Result<()> {
        self.is_leaving.store(true, Ordering::Release);
        let open = self.open.lock().clone();
        let member = open.and_then(|(_, member)| member);
        member.map_or(Ok(()), |member| member.set_takes(false))
    }

    /// Counts this process among those that take bots. Blocking.
    ///
    /// # Errors
    /// Of the database.
    pub(in crate::engine) fn join(&self, url: &DatabaseUrl) -> Result<()> {
        let member = self.joined(url)?.1;
        member.set_takes(!self.is_leaving.load(Ordering::Acquire))
    }

    /// Returns the connections, and this process among the others. Makes the tables if they are missing. Blocking.
    pub(super) fn joined(&self, url: &DatabaseUrl) -> Result<(DatabaseClient, Arc<Membership>)> {
        let mut open = self.open.lock();
        let client = match &*open {
            Some((client, Some(member))) if member.tenure().holds() => {
                return Ok((client.clone(), Arc::clone(member)));
            }
            Some((client, _)) => client.clone(),
            None => DatabaseClient::new(url, PATIENCE)?.counted(&self.meters),
        };
        if schema::look(&client)? == SchemaState::Missing {
            schema::make(&client)?;
        }
        let member = Membership::join(&client, &self.address)?;
        *open = Some((client.clone(), Some(Arc::clone(&member))));
        Ok((client, member))
    }
}
