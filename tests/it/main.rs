//! The product through its own doors: the real binaries against the offline Telegram and offline models on loopback.
//! One crate, a file per behaviour; `support` starts and ends the world.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the support modules are this crate's own")]

mod access;
mod addresses;
mod agents;
mod borrowed;
mod check;
mod commands;
mod crash;
mod demo;
mod discovery;
mod dm;
mod export;
mod faults;
mod formats;
mod groups;
mod history;
mod languages;
mod live;
mod load;
mod long_answers;
mod memory;
mod methods;
mod models;
mod own_commands;
mod own_messages;
mod own_providers;
mod parking;
mod parking_ends;
mod parts;
mod pictures;
mod policy;
mod ports;
mod private;
mod process;
mod promise;
mod prompt_budget;
mod providers;
mod proxies;
mod retention;
mod retry;
mod seed_tools;
mod setting_cards;
mod spending;
mod stdio;
mod store;
mod store_command;
mod support;
mod talk;
mod task_answers;
mod task_cards;
mod task_kills;
mod task_missed;
mod task_people;
mod task_runs;
mod task_sends;
mod task_tools;
mod task_troubles;
mod tasks;
mod tasks_ui;
mod timezone;
mod turn_kills;
mod usage;
mod web;
