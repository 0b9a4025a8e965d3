//! Documents: files that people send are read, shown with the question, searched later, listed, sent back and forgotten.

use std::io::Write;

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::Say;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::calls::call;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

/// A PDF with a line of text on each page.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    objects.push(format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()));
    objects
        .push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned());
    for (at, words) in pages.iter().enumerate() {
        let content = format!("BT /F1 12 Tf 72 720 Td ({words}) Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + at * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1).unwrap();
    }
    let table = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    offsets.iter().for_each(|offset| writeln!(file, "{offset:010} 00000 n ").unwrap());
    write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1)
        .unwrap();
    file
}

/// An archive with these files.
fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns the documents that the question shows the model; empty if it shows none.
pub fn shown(request: &ModelRequest) -> String {
    let text = request.user_text();
    let part = text.split("<documents>").nth(1).and_then(|part| part.split("</documents>").next());
    part.unwrap_or_default().to_owned()
}

/// A long text: the key stands in the middle of it, far from words like it.
fn long() -> String {
    let dull = |at: usize| format!("Chapter {at} is about the weather of the year {}. ", 1000 + at).repeat(8);
    let mut chapters: Vec<String> = (0..60).map(dull).collect();
    chapters.insert(30, "The combination of the safe in the harbour office is 7351.".to_owned());
    chapters.join("\n\n")
}

impl World {
    /// Somebody sends something, and the request that it leads to is given back.
    pub async fn reads(&self, chat: i64, say: Say) -> ModelRequest {
        let (requests, answers) = (self.asked().len(), self.bot_texts(chat).len());
        self.telegram.send(say).unwrap();
        let request = self.asks(requests + 1).await;
        self.answers(chat, answers + 1).await;
        request
    }

    async fn reads_file(&self, name: &str, content: impl Into<Vec<u8>>) -> ModelRequest {
        self.reads(ANN, Say::new(ANN, ANN, "what is this?").document(name, content.into())).await
    }
}

#[tokio::test]
async fn a_short_document_stands_whole_in_the_question_and_is_found_later() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start().await;
    let before = world.reads(ANN, Say::new(ANN, ANN, "hello there")).await;
    assert!(
        !before.tool_names().contains(&"search_documents"),
        "without documents there is nothing to search"
    );
    let request = world.reads_file("lease.pdf", pdf(&["Rent of the flat", "Notice is <three> months"])).await;
    let part = shown(&request);
    assert!(part.contains("name=\"lease.pdf\" size=\"2 pages\" shown=\"all\""), "{part}");
    assert!(part.contains("<part at=\"page 1\">Rent of the flat</part>\n<part at=\"page 2\">Notice is &lt;three> months</part>"), "{part}");
    assert!(
        request.tool_names().contains(&"search_documents") && request.tool_names().contains(&"read_document")
    );
    let request = world.reads(ANN, Say::new(ANN, ANN, "How many months is the notice?")).await;
    assert!(shown(&request).contains("<part at=\"page 2\">Notice is"), "{}", shown(&request));
    let request = world.reads(ANN, Say::new(ANN, ANN, "Tell me a joke about cats")).await;
    assert_eq!(shown(&request), "", "what does not bear on the question is left out");
    // Sent bare, it is a question of its own.
    let request =
        world.reads(ANN, Say::new(ANN, ANN, "").document("list.csv", "what;price\npears;3\n")).await;
    assert!(shown(&request).contains("what | price\npears | 3"), "{}", shown(&request));
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn of_a_long_document_the_model_gets_what_bears_and_reads_the_rest_by_tools() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start().await;
    let say = Say::new(ANN, ANN, "What is the combination of the safe?").document("log.txt", long());
    let part = shown(&world.reads(ANN, say).await);
    assert!(
        part.contains("shown=\"in part\"") && part.contains("7351") && part.contains("Chapter 0 is"),
        "{part}"
    );
    assert!(!part.contains("Chapter 50 is"), "it does not fit: {} bytes", part.len());

    let id = part.split("id=\"").nth(1).and_then(|part| part.split('"').next()).unwrap().to_owned();
    let found =
        call(&world, (ANN, ANN), "do step 1", "search_documents", json!({"query": "harbour office"})).await;
    assert!(found["passages"][0]["text"].as_str().unwrap().contains("7351"), "{found}");
    assert_eq!(found["passages"][0]["name"], "log.txt");
    let nothing = call(
        &world,
        (ANN, ANN),
        "do step 2",
        "search_documents",
        json!({"query": "safe", "document": "other.txt"}),
    )
    .await;
    assert!(nothing.to_string().contains(&id), "it names those there are: {nothing}");
    let mut read = call(&world, (ANN, ANN), "do step 3", "read_document", json!({"document": id})).await;
    let mut all = String::new();
    loop {
        for passage in read["passages"].as_array().unwrap() {
            all.push_str(passage["text"].as_str().unwrap());
            all.push('\n');
        }
        let Some(next) = read["next"].as_u64() else { break };
        let said = format!("read on from {next}");
        read = call(&world, (ANN, ANN), &said, "read_document", json!({"document": "log.txt", "next": next}))
            .await;
    }
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&all), words(&long()), "read on to the end, every word came once");
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn what_cannot_be_read_is_said_with_its_reason() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.start().await;
    let bomb = packed(&[("word/document.xml", &vec![b' '; 100 << 20]), ("[Content_Types].xml", b"<Types/>")]);
    let entities = (0..10).fold("<!DOCTYPE a [<!ENTITY x0 \"ha\">".to_owned(), |all, at| {
        format!("{all}<!ENTITY x{} \"{}\">", at + 1, format!("&x{at};").repeat(10))
    });
    let laughs = format!("{entities}]><a>&x10;</a>");
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let locked = [&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1][..], &[0; 600], &name].concat();
    let far = "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><dimension ref=\"A1:XFD1048576\"/>\
               <sheetData><row r=\"1048576\"><c r=\"XFD1048576\" t=\"n\"><v>7</v></c></row></sheetData></worksheet>";
    let huge = packed(&[
        (
            "[Content_Types].xml",
            b"<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>",
        ),
        (
            "xl/workbook.xml",
            b"<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"/>",
        ),
        ("xl/worksheets/sheet1.xml", far.as_bytes()),
    ]);
    // A page with a line of text, encrypted with the password "secret" (RC4, 40 bits).
    let sealed = include_bytes!("../documents/sealed.pdf").to_vec();
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("a.pdf", b"%PDF-1.7 and nothing else".to_vec(), "the file is damaged"),
        ("b.pdf", pdf(&[]), "the file has no text"),
        ("c.bin", vec![0, 1, 2, 3, 0, 0], "the file is in a format that cannot be read"),
        ("d.docx", bomb, "the file is "),
        (
            "e.odt",
            packed(&[
                ("mimetype", b"application/vnd.oasis.opendocument.text"),
                ("content.xml", laughs.as_bytes()),
            ]),
            "the file ",
        ),
        ("f.docx", b"PK\x03\x04 broken".to_vec(), "the file is damaged"),
        ("g.xlsx", locked, "the file is protected by a password"),
        ("h.xlsx", huge, "the file "),
        ("i.pdf", sealed, "the file is protected by a password"),
    ];
    for (name, content, reason) in cases {
        let request = world.reads_file(name, content).await;
        let told = format!("<attached kind=\"file\" name=\"{name}\" not_given_to_you=\"{reason}");
        assert!(request.user_text().contains(&told), "{name}: {}", request.user_text());
        assert_eq!(shown(&request), "");
    }
    assert!(text(&world.told(ANN, ANN, "/docs").await).starts_with("No files yet."));
    bot.ends_well().await;
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn of_an_album_the_files_beyond_five_are_named_with_the_reason() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.start().await;
    for at in 0..7 {
        let caption = if at == 0 { "what do they say?" } else { "" };
        let say = Say::new(ANN, ANN, caption).document(&format!("{at}.txt"), format!("The number is {at}0."));
        world.telegram.send(say.media_group_id("files")).unwrap();
    }
    let request = world.asks(1).await;
    let (part, text) = (shown(&request), request.user_text());
    for at in 0..5 {
        assert!(part.contains(&format!("The number is {at}0.")), "{part}");
    }
    for at in 5..7 {
        assert!(!part.contains(&format!("The number is {at}0.")), "{part}");
        let told = format!("name=\"{at}.txt\" not_given_to_you=\"there are too many files");
        assert!(text.contains(&told), "{text}");
    }
    bot.ends_well().await;
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn large_tables_long_cells_and_archives_lose_no_words_in_silence() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start().await;
    // Of 300 rows of empty cells hardly anything is left when they are packed.
    let rows = "<w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr>".repeat(6_000);
    let document = format!(
        "<?xml version=\"1.0\"?><w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>\
         <w:p><w:r><w:t>Register of keys</w:t></w:r></w:p><w:tbl>{rows}</w:tbl></w:body></w:document>"
    );
    let types = "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default \
                 Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/word/document.xml\" ContentType=\
                 \"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
    let relations = "<?xml version=\"1.0\"?><Relationships xmlns=\
                     \"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\
                     \"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
                     Target=\"word/document.xml\"/></Relationships>";
    let files = [
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", relations.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ];
    let part = shown(&world.reads_file("keys.docx", packed(&files)).await);
    assert!(part.contains("Register of keys"), "{part}");
    let cell = format!("name,remark\nAnn,{}the end of the remark\n", "words of a remark ".repeat(120));
    let part = shown(&world.reads_file("remarks.csv", cell).await);
    assert!(part.contains("the end of the remark"), "{part}");
    let inner = packed(&[("a.txt", b"in the inner one")]);
    let zip =
        packed(&[("notes.txt", b"The boat leaves at noon"), ("inner.zip", &inner), ("x.bin", &[0, 1, 2, 3])]);
    let part = shown(&world.reads_file("all.zip", zip).await);
    assert!(part.contains("The boat leaves at noon") && part.contains("inner.zip ("), "{part}");
    assert_eq!(part.matches("[This file is in a format that cannot be read.]").count(), 2, "{part}");
}

#[tokio::test]
async fn documents_are_listed_sent_back_removed_and_put_back() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start().await;
    assert!(text(&world.told(ANN, ANN, "/docs").await).starts_with("No files yet."));
    world.reads_file("lease.pdf", pdf(&["Rent", "Notice is three months"])).await;
    world.reads_file("notes.md", "# Notes\n\nBuy milk").await;
    let card = world.told(ANN, ANN, "/docs").await;
    assert_eq!(labels(&card), ["notes.md", "lease.pdf"]);
    world.press(ANN, &card, "lease.pdf").await;
    let open = world.shows(ANN, number(&card["message_id"]), "Pages: 2").await;
    assert_eq!(labels(&open), ["Send here", "Remove", "‹ Back"]);
    let before = world.telegram.messages(ANN).len();
    world.press(ANN, &open, "Send here").await;
    let sent = world.see("the file again", |view| {
        view.messages(ANN).get(before).map(|message| message["document"]["file_name"].clone())
    });
    assert_eq!(sent.await, "lease.pdf");
    assert_eq!(world.press(ANN, &open, "Remove").await, "Removed: lease.pdf");
    let list = world.shows(ANN, number(&card["message_id"]), "What I have read here").await;
    assert_eq!(labels(&list), ["notes.md", "Undo"]);
    let asked = world.reads(ANN, Say::new(ANN, ANN, "How many months is the notice?")).await;
    assert_eq!(shown(&asked), "");
    assert_eq!(world.press(ANN, &list, "Undo").await, "Here again: lease.pdf");
    let asked = world.reads(ANN, Say::new(ANN, ANN, "So how many months is the notice?")).await;
    assert!(shown(&asked).contains("Notice is three months"), "{}", shown(&asked));
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn in_a_group_a_file_is_read_when_somebody_asks_about_it() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start_open().await;
    let file = Say::new(ANN, TEAM, "the plan").document("plan.md", "The boat leaves at noon from pier nine");
    let sent = world.telegram.send(file).unwrap();
    let asked = Say::new(BOB, TEAM, "@figaro_bot when does it leave?").reply_to(sent.message_id);
    let request = world.reads(TEAM, asked).await;
    assert!(shown(&request).contains("pier nine"), "{}", shown(&request));
    let request =
        world.reads(TEAM, Say::new(BOB, TEAM, "@figaro_bot from which pier does the boat leave?")).await;
    assert!(shown(&request).contains("pier nine"), "{}", shown(&request));
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn a_document_is_forgotten_with_its_message_and_its_words_with_it() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.bot().set("ERASE_AFTER", "0").spawn();
    bot.ready().await;
    let say = Say::new(ANN, ANN, "keep this").document("secret.txt", "The zanzibarcode is 4711");
    let (requests, answers) = (world.asked().len(), world.bot_texts(ANN).len());
    let sent = world.telegram.send(say).unwrap();
    world.asks(requests + 1).await;
    world.answers(ANN, answers + 1).await;
    world.telegram.send(Say::new(ANN, ANN, "/forget").reply_to(sent.message_id)).unwrap();
    let card: Value = world.answers(ANN, answers + 2).await.pop().unwrap();
    world.press(ANN, &card, "Forget").await;
    let done = world.shows(ANN, number(&card["message_id"]), "Forgotten").await;
    assert!(text(&done).contains("• documents: 1"), "{done}");
    let asked = world.reads(ANN, Say::new(ANN, ANN, "What is the zanzibarcode?")).await;
    assert!(!asked.body.to_string().contains("4711") && !asked.tool_names().contains(&"read_document"));
    assert!(text(&world.told(ANN, ANN, "/docs").await).starts_with("No files yet."));
    bot.ends_well().await;
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn a_document_that_two_people_sent_is_forgotten_with_the_last_of_them() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let bot = world.bot().set("ERASE_AFTER", "0").set("ACCESS", "open").spawn();
    bot.ready().await;
    let mut sent = Vec::new();
    let mut file = Value::Null;
    for person in [ANN, BOB] {
        let say = Say::new(person, TEAM, "@figaro_bot keep it");
        let say = match file.is_null() {
            true => say.document("secret.txt", "The zanzibarcode is 4711"),
            false => say.field("document", file.clone()),
        };
        let (requests, answers) = (world.asked().len(), world.bot_texts(TEAM).len());
        let message = world.telegram.send(say).unwrap().message_id;
        world.asks(requests + 1).await;
        world.answers(TEAM, answers + 1).await;
        file = world.telegram.messages(TEAM).iter().find_map(|one| one.get("document").cloned()).unwrap();
        sent.push((person, message));
    }
    for ((person, message), left) in sent.into_iter().zip(["secret.txt", "No files yet."]) {
        let answers = world.bot_texts(TEAM).len();
        world.telegram.send(Say::new(person, TEAM, "/forget@figaro_bot").reply_to(message)).unwrap();
        let card: Value = world.answers(TEAM, answers + 1).await.pop().unwrap();
        world.press(person, &card, "Forget").await;
        world.shows(TEAM, number(&card["message_id"]), "Forgotten").await;
        let list = world.told(BOB, TEAM, "/docs@figaro_bot").await;
        assert!(list.to_string().contains(left), "after {person}: {list}");
    }
    bot.ends_well().await;
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn a_guest_of_a_group_reads_the_file_they_bring_and_no_other() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start().await;
    world.told(ANN, TEAM, "/allow@figaro_bot").await;
    world.told(ANN, ANN, &format!("/allow {BOB} guest")).await;
    let file = Say::new(ANN, TEAM, "@figaro_bot keep it")
        .document("plan.md", "The boat leaves at noon from pier nine");
    world.reads(TEAM, file).await;
    let own = Say::new(BOB, TEAM, "@figaro_bot from which pier does the boat leave?")
        .document("own.md", "Buy milk");
    let request = world.reads(TEAM, own).await;
    assert!(shown(&request).contains("Buy milk"), "{}", shown(&request));
    assert!(!request.body.to_string().contains("pier nine"), "a file of the group");
    assert!(
        !request.tool_names().contains(&"search_documents")
            && !request.tool_names().contains(&"read_document")
    );
    let list = world.told(BOB, TEAM, "/docs@figaro_bot").await;
    assert!(text(&list).starts_with("You are a guest here"), "{list}");
    let card = world.told(ANN, TEAM, "/docs@figaro_bot").await;
    assert!(world.press(BOB, &card, "plan.md").await.starts_with("You are a guest here"));
}

#[tokio::test]
async fn a_file_that_was_removed_does_not_come_back_with_the_next_question() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start_open().await;
    world
        .telegram
        .send(Say::new(ANN, TEAM, "the plan").document("plan.md", "The boat leaves from pier nine"))
        .unwrap();
    let ask = |words: &str| Say::new(BOB, TEAM, &format!("@figaro_bot {words}"));
    let request = world.reads(TEAM, ask("from which pier does the boat leave?")).await;
    assert!(shown(&request).contains("pier nine"), "{}", shown(&request));
    let card = world.told(ANN, TEAM, "/docs@figaro_bot").await;
    world.press(ANN, &card, "plan.md").await;
    let open = world.shows(TEAM, number(&card["message_id"]), "Read ").await;
    world.press(ANN, &open, "Remove").await;
    let request = world.reads(TEAM, ask("so from which pier does the boat leave?")).await;
    assert!(!shown(&request).contains("pier nine"), "{}", shown(&request));
}
