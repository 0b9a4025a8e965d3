use serde_json::{Value, json};

use super::*;

fn content(value: Value) -> ContentFields {
    value.as_object().unwrap().clone()
}

/// Kind and label of each attachment, `!` before what somebody did.
fn told_of(value: Value) -> Vec<String> {
    let shown = |one: Attachment| {
        let mark = if one.kind == AttachmentKind::Event { "!" } else { "" };
        format!("{mark}{}: {}", one.word(), one.label.as_deref().unwrap_or("-"))
    };
    attachments(&content(value), false).into_iter().map(shown).collect()
}

fn check(cases: &[(Value, &str)]) {
    for (value, wanted) in cases {
        assert_eq!(told_of(value.clone()), [*wanted], "{value}");
    }
}

fn photo() -> Value {
    json!([{"file_id": "s", "width": 9, "height": 9, "file_size": 5}, {"file_id": "l", "width": 90, "height": 90}])
}

fn street() -> Value {
    json!({"id": -5, "type": "supergroup", "title": "Street", "is_forum": true})
}

#[test]
fn every_kind_says_what_it_is_and_holds() {
    let (photo, chat) = (photo(), street());
    check(&[
        (json!({"photo": photo}), "photo: -"),
        (json!({"document": {"file_id": "d", "file_name": "a.pdf"}}), "file: a.pdf"),
        (json!({"animation": {"file_id": "a"}, "document": {"file_id": "a"}}), "animation: -"),
        (
            json!({"venue": {"title": "Mill", "address": "Dam 1", "location": {}}, "location": {"latitude": 1.5, "longitude": 2}}),
            "location: Mill, Dam 1",
        ),
        (json!({"location": {"latitude": 1.5, "longitude": -2.25}}), "location: 1.5, -2.25"),
        (
            json!({"contact": {"first_name": "Ida", "last_name": "Roe", "phone_number": "+1"}}),
            "contact: Ida Roe +1",
        ),
        (
            json!({"poll": {"question": "Lunch?", "options": [{"text": "Soup"}, {"text": "Rye"}]}}),
            "poll: Lunch? (Soup / Rye)",
        ),
        (
            json!({"poll": {"question": "Which?", "description": "Think.", "type": "quiz", "is_closed": true, "total_voter_count": 3,
                "options": [{"text": "A", "voter_count": 2}, {"text": "B", "voter_count": 1}, {"text": "C", "voter_count": 0}]}}),
            "poll: Which? Think. (A: 2 / B: 1 / C) quiz, closed, votes: 3",
        ),
        (
            json!({"location": {"latitude": 1.5, "longitude": 2, "live_period": 900}}),
            "location: 1.5, 2, live",
        ),
        (json!({"dice": {"emoji": "🎲", "value": 4}}), "dice: 🎲, value 4"),
        (
            json!({"game": {"title": "Tower", "description": "Stack it", "photo": photo}}),
            "game: Tower, Stack it",
        ),
        (
            json!({"invoice": {"title": "Bread", "description": "A loaf", "start_parameter": "", "currency": "EUR", "total_amount": 420}}),
            "invoice: Bread, A loaf, currency EUR, total amount 420",
        ),
        (
            json!({"story": {"id": 9, "chat": {"id": 12, "type": "private", "first_name": "Bob"}}}),
            "story: chat Bob",
        ),
        (
            json!({"paid_media": {"star_count": 5, "paid_media": [{"type": "photo", "photo": photo}]}}),
            "paid media: star count 5, paid media photo",
        ),
        (
            json!({"giveaway": {"chats": [chat], "winners_selection_date": 1_700_000_000, "winner_count": 3, "only_new_members": true, "prize_description": "Buns"}}),
            "giveaway: chats Street, winners selection date 2023-11-14 22:13 UTC, winner count 3, only new members, Buns",
        ),
        (json!({"hologram": {"title": "Bread", "depth": 3, "file_id": "x"}}), "hologram: Bread, depth 3"),
    ]);
    for value in
        [json!({}), json!({"sender_boost_count": 3, "link_preview_options": {"url": "x"}, "sticker": 5})]
    {
        assert_eq!(told_of(value.clone()), [""; 0], "{value}");
    }
    assert_eq!(attachments(&content(json!({"hologram": {"title": "Bread"}})), true), []);
}

#[test]
fn what_somebody_did_is_told_by_the_name_of_its_field() {
    let (photo, chat) = (photo(), street());
    let ann =
        json!({"id": 11, "is_bot": false, "first_name": "Ann", "last_name": "Lee", "language_code": "en"});
    let bob = json!({"id": 12, "is_bot": false, "first_name": "Bob"});
    check(&[
        (
            json!({"new_chat_members": [ann, bob], "has_media_spoiler": true}),
            "!new chat members: Ann Lee; Bob",
        ),
        (json!({"left_chat_member": bob}), "!left chat member: Bob"),
        (json!({"new_chat_title": "Lane"}), "!new chat title: Lane"),
        (json!({"new_chat_photo": photo}), "!new chat photo: -"),
        (json!({"delete_chat_photo": true}), "!delete chat photo: -"),
        (
            json!({"pinned_message": {"message_id": 3, "date": 1, "chat": chat, "from": ann, "text": "Buns\non Friday"}}),
            "!pinned message: Buns on Friday (by Ann Lee)",
        ),
        (json!({"pinned_message": {"message_id": 3, "date": 0, "chat": chat}}), "!pinned message: -"),
        (
            json!({"forum_topic_created": {"name": "Ideas", "icon_color": 5, "icon_custom_emoji_id": "1"}}),
            "!forum topic created: Ideas",
        ),
        (json!({"forum_topic_closed": {}}), "!forum topic closed: -"),
        (json!({"boost_added": {"boost_count": 2}}), "!boost added: boost count 2"),
        (
            json!({"video_chat_scheduled": {"start_date": 1_700_000_000}}),
            "!video chat scheduled: start date 2023-11-14 22:13 UTC",
        ),
        (
            json!({"video_chat_participants_invited": {"users": [bob]}}),
            "!video chat participants invited: users Bob",
        ),
        (
            json!({"gift": {"gift": {"id": "1", "sticker": {"emoji": "🎁", "width": 5, "is_video": true}, "star_count": 15}, "text": "For you"}}),
            "!gift: gift sticker 🎁, star count 15, For you",
        ),
        (
            json!({"poll_option_added": {"poll_message": {"message_id": 3, "chat": chat}, "option_persistent_id": "a", "option_text": "Stew"}}),
            "!poll option added: Stew",
        ),
        (
            json!({"passport_data": {"data": [{"type": "passport", "data": "secret"}], "credentials": {"secret": "s"}}}),
            "!passport data: -",
        ),
        (
            json!({"tea_party_scheduled": {"start_date": 1_700_000_000}}),
            "!tea party scheduled: start date 2023-11-14 22:13 UTC",
        ),
    ]);
}

#[test]
fn rich_blocks_are_read_in_their_order() {
    let plain = |text: &str| json!({"type": "paragraph", "text": text});
    let blocks = json!([
        {"type": "heading", "size": 2, "text": ["Bakery ", {"type": "italic", "text": "hours"}]},
        {"type": "paragraph", "text": ["Open from ", {"type": "bold", "text": "six"}, ", ask ",
            {"type": "mention", "text": "the bot", "username": "Figaro_Bot"}, {"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "🍞"}]},
        {"type": "list", "items": [
            {"label": "1.", "blocks": [plain("Rye"), {"type": "list", "items": [{"label": "•", "blocks": [plain("dark")]}]}]},
            {"label": "2.", "has_checkbox": true, "is_checked": true, "blocks": [plain("Flour")]},
            {"label": "3.", "has_checkbox": true, "blocks": [plain("Salt")]},
        ]},
        {"type": "table", "cells": [[{"text": "Rye", "is_header": true}, {"text": "€"}], [{"text": "4.20"}, {}]], "caption": "Prices"},
        {"type": "divider"},
        {"type": "blockquote", "blocks": [plain("No bread, no joy")], "credit": "Ida"},
        {"type": "pre", "text": "x = 1", "language": "py"},
        {"type": "mathematical_expression", "expression": "a^2"},
        {"type": "details", "summary": "More", "blocks": [{"type": "paragraph", "text": [{"type": "url", "text": "here", "url": "https://a.b"}, " ", {"type": "url", "text": "https://c.d", "url": "https://c.d"}]}]},
        {"type": "photo", "photo": [{"file_id": "s"}, {"file_id": "l"}], "caption": {"text": "The shop", "credit": "Bob"}},
        {"type": "map", "location": {"latitude": 1.5, "longitude": 2.5}, "zoom": 5},
        {"type": "buttons", "buttons": [{"text": "Buy", "url": "https://e.f"}]},
        {"type": "hologram", "text": "new kind"},
        {"type": "anchor", "name": "end"},
    ]);
    let words = words(&content(json!({"rich_message": {"blocks": blocks}}))).unwrap();
    let wanted = "## Bakery hours\nOpen from six, ask the bot🍞\n1. Rye\n  • dark\n2. [x] Flour\n3. [ ] Salt\n\
                  | Rye | € |\n| 4.20 |  |\nPrices\n---\nNo bread, no joy\nIda\nx = 1\na^2\nMore\nhere (https://a.b) https://c.d\n\
                  The shop — Bob\nBuy\nnew kind";
    assert_eq!(words.text, wanted);
    let units: Vec<u16> = words.text.encode_utf16().collect();
    let part = |one: &crate::views::EntityView| {
        (one.kind.clone(), String::from_utf16(&units[one.offset..one.offset + one.length]).unwrap())
    };
    let parts: Vec<(String, String)> = words.entities.iter().map(part).collect();
    let wanted = [("mention", "the bot"), ("blockquote", "\nNo bread, no joy\nIda"), ("pre", "\nx = 1")];
    assert_eq!(parts, wanted.map(|(kind, text)| (kind.to_owned(), text.to_owned())));
    let files: Vec<_> = words
        .attachments
        .iter()
        .map(|one| (one.word(), one.file_id.as_deref(), one.label.as_deref()))
        .collect();
    assert_eq!(files, [("photo", Some("l"), None), ("location", None, Some("1.5, 2.5"))]);
}

#[test]
fn a_checklist_shows_what_is_done_and_by_whom() {
    let list = json!({"title": "For the fair", "tasks": [
        {"id": 1, "text": "Borrow a tent"},
        {"id": 2, "text": "Print signs", "completed_by_user": {"id": 12, "first_name": "Bob"}, "completion_date": 5},
    ]});
    let read = |list: &Value| words(&content(json!({ "checklist": list }))).unwrap().text;
    assert_eq!(read(&list), "Checklist: For the fair\n[ ] Borrow a tent\n[x] Print signs (done by Bob)");
    let message =
        json!({"message_id": 20, "date": 5, "chat": {"id": 7, "type": "private"}, "checklist": list});
    let changed = |change: Value| {
        let changed = changed_checklist(&content(change), "Ann").unwrap();
        (changed["message_id"].as_i64(), read(&changed["checklist"]))
    };
    let done = json!({"checklist_tasks_done": {"checklist_message": message, "marked_as_done_task_ids": [1], "marked_as_not_done_task_ids": [2]}});
    assert_eq!(
        changed(done.clone()),
        (Some(20), "Checklist: For the fair\n[x] Borrow a tent (done by Ann)\n[ ] Print signs".to_owned())
    );
    assert_eq!(
        told_of(done),
        ["!checklist tasks done: For the fair, now done: Borrow a tent, no longer done: Print signs"]
    );
    let added = json!({"checklist_tasks_added": {"checklist_message": message, "tasks": [{"id": 3, "text": "Bake"}]}});
    assert!(changed(added.clone()).1.ends_with("(done by Bob)\n[ ] Bake"));
    assert!(told_of(added)[0].ends_with("tasks Bake"));
    let bare = json!({"checklist_tasks_done": {"marked_as_done_task_ids": [2]}});
    assert_eq!(told_of(bare.clone()), ["!checklist tasks done: now done: task 2"]);
    assert_eq!(changed_checklist(&content(bare), "Ann"), None);
}
