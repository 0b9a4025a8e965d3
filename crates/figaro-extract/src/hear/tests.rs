//! Parts of hearing, without a model.

use std::collections::BTreeMap;
use std::fs;

use figaro_domain::hearing::{HearingError, MAX_PARTED_SECONDS, MAX_SECONDS};
use proptest::prelude::*;
use serde_json::json;

use super::WhisperFolder;
use super::mel::{MelSpectrogram, STEPS};
use super::parts;
use super::rate::{RATE, WINDOW_SAMPLES};
use super::sound::samples;
use super::tokens::Vocabulary;
use super::words::{loudness, repetition, window_end};

/// A sentence of 2.8 s in Ogg Opus, as Telegram's voice messages are.
const SENTENCE: &[u8] = include_bytes!("../../../../tests/hearing/sounds/en-1.ogg");

/// Makes a WAV file of 16 bits in one channel.
fn wav(rate: u32, samples: impl IntoIterator<Item = i16>) -> Vec<u8> {
    let data: Vec<u8> = samples.into_iter().flat_map(i16::to_le_bytes).collect();
    let length = u32::try_from(data.len()).unwrap();
    let mut file =
        [b"RIFF".as_slice(), &(36 + length).to_le_bytes(), b"WAVEfmt \x10\0\0\0\x01\0\x01\0"].concat();
    file.extend(rate.to_le_bytes());
    file.extend((rate * 2).to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend(length.to_le_bytes());
    file.extend(data);
    file
}

/// Figures of `WhisperFeatureExtractor` of transformers 4.36 for the same sound.
#[test]
fn a_spectrogram_has_the_figures_of_whisper() {
    let sound = |at: u16| 0.5 * (0.05 * f32::from(at)).sin() + 0.1 * (0.9 * f32::from(at)).sin();
    let spectrogram = MelSpectrogram::new(80).of(&(0..16_000).map(sound).collect::<Vec<_>>());
    let known = [
        (0, 0, 1.3095),
        (3, 50, 1.3812),
        (5, 50, 0.6639),
        (40, 50, -0.5723),
        (79, 50, -0.5723),
        (5, 0, 1.1753),
        (5, 99, 0.6469),
        (58, 100, 0.2748),
        (10, 2_999, -0.5723),
    ];
    for (band, step, wanted) in known {
        let given = spectrogram[band * STEPS + step];
        assert!((given - wanted).abs() < 2e-3, "{band} {step}: {given}");
    }
    let mean = spectrogram.iter().copied().map(f64::from).sum::<f64>() / spectrogram.len() as f64;
    assert!(spectrogram.len() == 80 * 3_000 && (mean + 0.562_945).abs() < 1e-4, "{mean}");
}

#[test]
fn a_voice_message_and_plain_samples_become_samples_of_one_rate() {
    let sound = samples(SENTENCE.to_vec()).unwrap();
    let seconds = sound.len() as f32 / RATE as f32;
    assert!((2.7..2.9).contains(&seconds) && loudness(&sound) > 1e-3, "{seconds} {}", loudness(&sound));
    let plain = samples(wav(8_000, vec![1_000; 8_000])).unwrap();
    assert!(plain.len().abs_diff(16_000) < 10, "{}", plain.len());
    assert!((plain[8_000] - 1_000.0 / 32_768.0).abs() < 1e-4, "{}", plain[8_000]);
}

#[test]
fn what_is_no_sound_is_told_apart() {
    let long = wav(4_000, (0..4_001 * MAX_SECONDS).map(|_| 0));
    let cases: [(&str, Vec<u8>, HearingError); 5] = [
        ("nothing", Vec::new(), HearingError::Empty),
        ("a text", b"Dear diary, this is no sound at all.".repeat(100), HearingError::Unknown),
        ("a picture", [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 4_000]].concat(), HearingError::Unknown),
        ("no samples", wav(16_000, []), HearingError::Damaged),
        ("too long", long, HearingError::TooLong),
    ];
    for (name, bytes, wanted) in cases {
        let given = samples(bytes);
        // Some of these may look like a damaged sound to one of the readers.
        let given = given.map(|samples| samples.len());
        assert!(
            given == Err(wanted.clone())
                || wanted == HearingError::Unknown && given == Err(HearingError::Damaged),
            "{name}: {given:?}"
        );
    }
}

#[test]
fn a_sound_without_its_end_or_with_damage_is_heard_as_far_as_it_goes() {
    let whole = samples(SENTENCE.to_vec()).unwrap().len();
    let half = samples(SENTENCE[..SENTENCE.len() / 2].to_vec()).map(|samples| samples.len());
    assert!(
        half.as_ref().is_ok_and(|half| (1..whole).contains(half)) || half == Err(HearingError::Damaged),
        "{half:?}"
    );
    let mut damaged = SENTENCE.to_vec();
    damaged[SENTENCE.len() / 2..].iter_mut().step_by(50).for_each(|byte| *byte ^= 0x55);
    assert!(samples(damaged).is_ok_and(|samples| samples.len() <= whole));
}

#[test]
fn a_long_sound_is_cut_where_it_is_quiet_and_nothing_is_lost() {
    // 25 minutes, loud but for a pause before the fifth.
    let loud = |at: u64| if (1_180_000..1_190_000).contains(&at) { 0 } else { (at % 4_000) as i16 };
    let (mut output, long) = (Vec::new(), wav(4_000, (0..4_000 * 1_500).map(loud)));
    parts::cut(long, &mut output).unwrap();
    let (mut rest, mut lengths) = (output.as_slice(), Vec::new());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (length, file) = rest.split_at(end);
        let length: usize = std::str::from_utf8(length).unwrap().parse().unwrap();
        let (part, later) = file[1..].split_at(length);
        lengths.push(samples(part.to_vec()).unwrap().len());
        rest = later;
    }
    assert!(lengths.len() == 6 && lengths.iter().all(|part| *part <= 300 * RATE as usize), "{lengths:?}");
    assert!(lengths.iter().sum::<usize>().abs_diff(1_500 * RATE as usize) < 100, "{lengths:?}");
    // Four samples for each of the file.
    assert!((4 * 1_180_000..4 * 1_190_000).contains(&lengths[0]), "{lengths:?}");
    let endless = wav(4_000, (0..4_000 * (MAX_PARTED_SECONDS + 2)).map(|_| 0));
    assert_eq!(parts::cut(endless, &mut Vec::new()), Err(HearingError::TooLong));
    assert_eq!(parts::cut(b"no sound".repeat(99), &mut Vec::new()), Err(HearingError::Unknown));
}

/// Returns the pages of an Ogg file (RFC 3533, 6).
fn pages(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut starts: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"OggS")).collect();
    starts.push(bytes.len());
    starts.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

/// Makes the sum of a page right, so that its content is not thrown away before the decoder sees it.
fn sum(page: &mut [u8]) {
    page[22..26].fill(0);
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ (u32::from(*byte) << 24), |sum, _| {
            (sum << 1) ^ if sum >> 31 == 1 { 0x04c1_1db7 } else { 0 }
        })
    };
    let sum = page.iter().fold(0, step);
    page[22..26].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn the_sum_of_a_page_is_that_of_the_file() {
    let mut bytes = SENTENCE.to_vec();
    for page in pages(SENTENCE) {
        sum(&mut bytes[page]);
    }
    assert!(bytes == SENTENCE);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_damage_breaks_a_reader(
        changes in prop::collection::vec((0..SENTENCE.len(), any::<u8>()), 1..30),
        end in 0..SENTENCE.len(),
        is_summed in any::<bool>(),
    ) {
        let mut bytes = SENTENCE.to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if is_summed {
            for page in pages(&bytes).into_iter().filter(|page| page.len() > 27) {
                sum(&mut bytes[page]);
            }
        } else {
            bytes.truncate(SENTENCE.len() - end / 2);
        }
        let samples = samples(bytes);
        prop_assert!(samples.is_err() || samples.is_ok_and(|samples| samples.iter().all(|sample| sample.is_finite())));
    }
}

#[test]
fn tokens_become_text_in_every_script() {
    let added =
        ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|yue|>", "<|translate|>", "<|transcribe|>"];
    let added = added.iter().chain(&["<|nospeech|>", "<|notimestamps|>"]).zip(10..);
    let added: Vec<_> = added.map(|(content, id)| json!({"content": content, "id": id})).collect();
    let vocab = json!({"Ġhello": 0, "Ã¤": 1, "Ð¶": 2, "æĹ": 3, "¥": 4, "!": 5});
    let file = json!({"added_tokens": added, "model": {"vocab": vocab, "merges": ["a b"]}});
    let vocabulary = Vocabulary::read(&file.to_string()).unwrap();
    assert_eq!((vocabulary.end, vocabulary.begin, vocabulary.transcribe), (10, 11, 15));
    assert_eq!((vocabulary.no_speech, vocabulary.without_times), (Some(16), 17));
    assert_eq!(vocabulary.languages, [(12, "en".to_owned()), (13, "yue".to_owned())]);
    let cases: BTreeMap<&[u32], &str> =
        [(&[0_u32, 5][..], "hello!"), (&[1, 2], "äж"), (&[3, 4], "日"), (&[3], "\u{fffd}"), (&[99], "")]
            .into();
    for (tokens, wanted) in cases {
        assert_eq!(vocabulary.text(tokens), wanted);
    }
    let error = Vocabulary::read("{}").unwrap_err();
    assert!(error.starts_with("is no tokenizer of a Whisper model"), "{error}");
}

#[test]
fn a_text_that_repeats_itself_is_cut_to_one_of_them() {
    let cases: [(&[u32], Option<usize>); 6] = [
        (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], None),
        (&[7, 7, 7, 7], None),
        (&[1, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7], Some(2)),
        (&[1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 4], Some(4)),
        (&[2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 5], None),
        (&[], None),
    ];
    for (tokens, wanted) in cases {
        assert_eq!(repetition(tokens), wanted, "{tokens:?}");
    }
}

#[test]
fn a_long_sound_is_parted_where_it_is_quiet() {
    let mut sound = vec![0.5; WINDOW_SAMPLES * 2];
    assert_eq!(window_end(&sound[..100]), 100);
    assert_eq!(window_end(&sound[..WINDOW_SAMPLES]), WINDOW_SAMPLES);
    let pause = 26 * RATE as usize;
    sound[pause..pause + RATE as usize / 2].fill(0.0);
    assert!((pause..pause + RATE as usize / 2).contains(&window_end(&sound)), "{}", window_end(&sound));
}

#[test]
fn what_is_missing_in_a_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = || WhisperFolder::look(folder.path()).unwrap_err();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    assert!(
        missing().contains("has no file encoder_model_quantized.onnx or encoder_model.onnx: take it from")
    );
    fs::create_dir(folder.path().join("onnx")).unwrap();
    write("onnx/encoder_model.onnx", "");
    assert!(missing().contains("has no file decoder_model_merged_quantized.onnx or"), "{}", missing());
    write("onnx/decoder_model_merged.onnx", "");
    write("decoder_model_merged_int8.onnx", "");
    assert!(missing().contains("has no file config.json"), "{}", missing());
    write("config.json", "{}");
    assert!(missing().contains("config.json is not of a Whisper model: missing field"), "{}", missing());
    let config =
        json!({"d_model": 8, "decoder_layers": 1, "decoder_attention_heads": 2, "vocab_size": 51_865});
    write("config.json", &config.to_string());
    write("generation_config.json", r#"{"suppress_tokens": [1, -1]}"#);
    assert!(missing().contains("has no file tokenizer.json"), "{}", missing());
    write("tokenizer.json", "{}");
    let found = WhisperFolder::look(folder.path()).unwrap();
    assert!(
        found.decoder.ends_with("decoder_model_merged_int8.onnx")
            && found.encoder.ends_with("onnx/encoder_model.onnx")
    );
    assert_eq!((found.config.num_mel_bins, found.config.suppress_tokens), (80, Some(vec![1, -1])));
    let error = WhisperFolder::look(&folder.path().join("none")).unwrap_err();
    assert!(error.starts_with("there is no folder "), "{error}");
}
