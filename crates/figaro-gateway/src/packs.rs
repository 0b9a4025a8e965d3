//! Context packs whose records a caller keeps, chosen by the header `X-Pack`. They belong to the chat that all
//! sessions of a person are part of.

use super::caller::CallerPlace;
use super::error::GatewayError;
use super::gateway::Gateway;
use figaro_domain::chat::{ConfigPatch, MAX_PACKS, PackChange};

/// Refuses packs that cannot be chosen.
///
/// # Errors
/// If there are too many, or one does not exist.
pub(super) fn check(gateway: &Gateway, packs: &[String]) -> Result<(), GatewayError> {
    let known = gateway.prompts.packs();
    if let Some(unknown) = packs.iter().find(|name| known.get(name).is_none()) {
        let names: Vec<&str> = known.all().map(|pack| pack.name.as_str()).collect();
        let words = format!("X-Pack: there is no context pack `{unknown}`. There are: {}", names.join(", "));
        return Err(GatewayError::invalid(words));
    }
    match packs.len() > MAX_PACKS {
        true => Err(GatewayError::invalid(format!("X-Pack: there are more than {MAX_PACKS} context packs"))),
        false => Ok(()),
    }
}

/// Sets the packs of a chat to exactly these.
///
/// # Errors
/// If the store fails.
pub(super) async fn choose(
    gateway: &Gateway,
    spot: &CallerPlace,
    packs: &[String],
) -> Result<(), GatewayError> {
    let chat = spot.place.chat;
    let chosen = gateway.store.settings().chat_config(chat)?.packs;
    let left = chosen.iter().filter(|name| !packs.contains(name)).map(|name| (name, false));
    let taken = packs.iter().filter(|name| !chosen.contains(name)).map(|name| (name, true));
    for (name, is_chosen) in left.chain(taken) {
        let pack = Some(PackChange { name: name.clone(), is_chosen });
        gateway
            .store
            .settings()
            .change_chat_config(chat, ConfigPatch { pack, ..ConfigPatch::default() })
            .await?;
    }
    Ok(())
}
