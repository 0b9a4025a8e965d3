//! Dependencies of commands and cards.

use std::sync::Arc;

use super::base::{Base, Bot};
use super::tools::{record_books, task_tools};
use figaro_agent::eraser::Eraser;
use figaro_agent::explain::Explainer;
use figaro_agent::rulings::Rulings;
use figaro_agent::sign_in::OfferedDashboard;
use figaro_agent::task_control::TaskControl;
use figaro_agent::tools::Registry;
use figaro_agent::tools::records::Reminding;
use figaro_agent::tools::telegram::TelegramTools;
use figaro_agent::turn::extraction::Extractor;
use figaro_agent::turn::queue::Mailboxes;
use figaro_base::secret::ExposeSecret;
use figaro_domain::code::CodeKey;
use figaro_ledger::Ledger;
use figaro_telegram::business::{Desk, Drafter, RefusedConnections};
use figaro_telegram::commands::{Cards, Handles, PictureHandles, TaskCards};
use figaro_telegram::send::Sender;

/// Returns a sender that works while turns are being stopped, for command replies and messages to owners.
pub(super) fn late(bot: &Bot) -> Sender {
    Sender { background: bot.base.groups.back.clone(), ..bot.sender.clone() }
}

/// Builds the renderer of task cards.
pub(super) fn task_cards(base: &Base) -> TaskCards {
    TaskCards {
        languages: base.languages.clone(),
        settings: base.store.settings(),
        prompts: base.prompts.clone(),
        default_zone: base.settings.timezone,
        clock: base.clock.clone(),
    }
}

pub(super) struct CommandTools {
    pub(super) all: Arc<Registry>,
    pub(super) telegram: TelegramTools,
    pub(super) desk: Desk,
    pub(super) dashboard: Option<OfferedDashboard>,
}

/// Builds what changes tasks on request.
pub(super) fn task_control(base: &Base, mailboxes: &Mailboxes) -> TaskControl {
    TaskControl {
        store: base.store.tasks(),
        settings: base.store.settings(),
        access: base.settings.access.clone(),
        mailboxes: mailboxes.clone(),
        per_chat: base.settings.tasks.per_chat,
        clock: base.clock.clone(),
    }
}

/// Builds what rules on calls that wait for an approval.
pub(super) fn rulings(bot: &Bot, mailboxes: &Mailboxes) -> Rulings {
    Rulings {
        parked: bot.base.parked.clone(),
        mailboxes: mailboxes.clone(),
        approvers: bot.approvers.clone(),
        servers: bot.servers.clone(),
        clock: bot.base.clock.clone(),
    }
}

/// Builds the eraser for requests from Telegram or over HTTP.
pub(super) fn eraser(base: &Base) -> Eraser {
    Eraser {
        store: base.store.clone(),
        chats: base.chats.clone(),
        parked: base.parked.clone(),
        erasures: base.erasures.clone(),
        pictures: base.pictures.clone(),
        default_zone: base.settings.timezone,
        clock: base.clock.clone(),
        background: base.groups.back.clone(),
    }
}

/// Builds the dependencies of commands.
pub(super) fn handles(
    bot: &Bot,
    ledger: Arc<Ledger>,
    mailboxes: &Mailboxes,
    extractor: Extractor,
    tools: CommandTools,
) -> Handles {
    let base = &bot.base;
    let cards = Cards {
        sender: late(bot),
        languages: base.languages.clone(),
        admins: base.channel.clone(),
        vitals: base.vitals.clone(),
        profiles: base.store.profiles(),
    };
    let (rulings, username) = (rulings(bot, mailboxes), bot.me.username.clone());
    let explainer = Explainer::new(&base.store, tools.all, base.policy.clone(), rulings.clone(), username);
    Handles {
        cards,
        store: base.store.clone(),
        prompts: base.prompts.clone(),
        access: base.settings.access.clone(),
        parked: base.parked.clone(),
        records: record_books(base),
        reminding: Reminding { tasks: task_tools(base, &ledger) },
        eraser: eraser(base),
        code_key: CodeKey::new(base.settings.telegram.token.expose_secret()),
        approvers: bot.approvers.clone(),
        telegram: tools.telegram,
        me: bot.me.clone(),
        ledger,
        mailboxes: mailboxes.clone(),
        business: Arc::new(Drafter {
            desk: tools.desk,
            mailboxes: mailboxes.clone(),
            background: base.groups.front.clone(),
            refused: RefusedConnections::default(),
        }),
        extractor,
        pictures: PictureHandles { is_on: base.services.painter.is_some(), last: base.pictures.clone() },
        speaks: base.services.voice.is_some(),
        task_control: task_control(base, mailboxes),
        explainer,
        rulings,
        dashboard: tools.dashboard,
        default_zone: base.settings.timezone,
        servers: bot.servers.clone(),
        mcp: bot.mcp.clone(),
    }
}
