//! A command that somebody adds: registered as the built-in ones are, it is listed, given, and pressed like them.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use figaro::app::Additions;
use figaro_agent::turn::queue::Job;
use figaro_base::clock::Clock;
use figaro_offline::model::ModelReply;
use figaro_store::StoreError;
use figaro_telegram::callback::{ButtonFamily, Fields, Gone};
use figaro_telegram::commands::{
    Access, Card, Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use figaro_telegram::send::Button;
use serde_json::Value;

use crate::embedded::Embedded;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

/// What its buttons say.
#[derive(Debug, Clone, PartialEq)]
enum Dice {
    /// Throws again, behind so many throws.
    Again(u32),
    /// Has the model tell what it was.
    Tell,
}

impl ButtonFamily for Dice {
    const NAME: &'static str = "dice";
}

impl Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Again(throws) => write!(f, "{}:again:{throws}", Self::NAME),
            Self::Tell => write!(f, "{}:tell", Self::NAME),
        }
    }
}

impl FromStr for Dice {
    type Err = Gone;

    fn from_str(data: &str) -> Result<Self, Gone> {
        let mut fields = Fields::of::<Self>(data)?;
        let press = match fields.word()? {
            "again" => Self::Again(fields.parse()?),
            "tell" => Self::Tell,
            _ => return Err(Gone),
        };
        fields.end(press)
    }
}

/// A command as a program that embeds the bot may add one.
#[derive(Debug)]
struct Throw {
    name: &'static str,
    access: Access,
}

fn thrown(sides: &str, throws: u32) -> Card {
    let again = Button::new("Again", Dice::Again(throws + 1));
    Card::titled("Dice", format!("{sides}: throw {throws}"))
        .row(vec![again, Button::new("Tell me", Dice::Tell)])
}

#[async_trait]
impl Command for Throw {
    fn spec(&self) -> CommandSpec {
        let spec = CommandSpec::new(self.name, |_| "throw dice").group(Group::Chat);
        match self.access {
            Access::Everybody => spec.families(&[Dice::NAME]),
            Access::Owners => spec.owners(),
        }
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        Ok(thrown(request.argument(), 1).into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        Ok(match press.data.parse()? {
            Dice::Again(throws) => Pressed::both("Thrown", thrown("again", throws)),
            Dice::Tell => {
                let job = Box::new(Job::Ask(press.ask("What did I throw?", Clock::system().now())));
                Pressed::Job { job, toast: Some("Asked".into()), once: true }
            }
        })
    }
}

/// Commands to add.
fn with(commands: Vec<Arc<dyn Command>>) -> Additions {
    Additions { commands, ..Additions::default() }
}

fn listed(world: &World) -> Vec<String> {
    let names = |call: &Value| -> Vec<String> {
        let commands = call["commands"].as_array().cloned().unwrap_or_default();
        commands.iter().map(|command| text_of(&command["command"])).collect()
    };
    world.telegram.view(|view| names(&Value::Object(view.calls_of("setMyCommands")[0].args.clone())))
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_added_command_is_listed_given_and_pressed_like_the_built_in_ones() {
    let world = World::new().await;
    world.team();
    world.otherwise(ModelReply::text("A six."));
    let throw: [Arc<dyn Command>; 2] = [
        Arc::new(Throw { name: "throw", access: Access::Everybody }),
        Arc::new(Throw { name: "load", access: Access::Owners }),
    ];
    let bot = Embedded::start(&world, world.bot().set("ACCESS", "open"), with(throw.to_vec())).await;
    assert_eq!(listed(&world).last().map(String::as_str), Some("throw"), "an owner's is not listed for all");
    let help = world.told(BOB, BOB, "/help").await;
    assert!(text(&help).contains("/throw – throw dice") && !text(&help).contains("/load"), "{help}");
    let help = world.told(ANN, ANN, "/help").await;
    assert!(text(&help).contains("/load – throw dice"), "{help}");
    assert_eq!(text(&world.told(BOB, BOB, "/load").await), "Only an owner of the bot can do that.");

    // In a group it is known without the bot's name.
    let card = world.told(BOB, TEAM, "/throw two d6").await;
    assert_eq!(text(&card), "Dice\ntwo d6: throw 1");
    assert_eq!(labels(&card), ["Again", "Tell me"]);
    assert_eq!(world.press(BOB, &card, "Again").await, "Thrown");
    let id = number(&card["message_id"]);
    world.shows(TEAM, id, "again: throw 2").await;
    let gone = "This is no longer up to date.";
    for data in ["dice:again:many", "dice:again", "dice", "other:again:1"] {
        assert_eq!(world.forged(BOB, &card, data).await, gone, "{data}");
    }
    // Its button begins a turn, and only once.
    assert_eq!(world.press(BOB, &card, "Tell me").await, "Asked");
    assert_eq!(text(&world.answers(TEAM, 2).await[1]), "A six.");
    assert!(world.asks(1).await.user_text().contains("What did I throw?"));
    world
        .see("no buttons any more", |view| {
            let card = view.messages(TEAM).into_iter().find(|m| m["message_id"] == id)?;
            labels(card).is_empty().then_some(())
        })
        .await;
    bot.end().await;
}

#[tokio::test]
async fn two_commands_do_not_share_a_name() {
    let world = World::new().await;
    let again: Arc<dyn Command> = Arc::new(Throw { name: "help", access: Access::Everybody });
    let refused = Embedded::refused(&world, world.bot(), &Additions::default(), &with(vec![again])).await;
    assert_eq!(refused.to_string(), "two commands claim `help`");
}
