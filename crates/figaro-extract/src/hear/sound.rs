//! Samples of a sound file, whatever its format: Opus, AAC, MP3, Vorbis, FLAC or plain samples, also beside a film.

use std::io::Cursor;

use opus_pure::OpusDecoder;
use symphonia::core::audio::GenericAudioBufferRef;
use symphonia::core::codecs::audio::well_known::CODEC_ID_OPUS;
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, Track, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;
use symphonia::core::packet::Packet;

use super::rate::RATE;
use super::resample::Resampler;
use figaro_domain::hearing::{HearingError, MAX_SECONDS};

/// Rates of sounds that are heard, in samples a second.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=384_000;
/// Maximum number of samples in a packet of Opus: 120 ms (RFC 6716, 2.1.4).
const OPUS_PACKET: usize = RATE as usize * 120 / 1_000;
/// Maximum number of faults that are passed over in a row.
const MAX_FAULTS: usize = 100;

/// Decoder of a track.
enum TrackDecoder {
    /// Decodes to one channel at our own rate.
    Opus(Box<OpusDecoder>),
    Other(Box<dyn AudioDecoder>),
}

/// Samples of a file so far, at our own rate.
#[derive(Default)]
struct SampleSink {
    resampler: Option<(u32, Resampler)>,
    mixed: Vec<f32>,
    interleaved: Vec<f32>,
    samples: Vec<f32>,
}

/// Returns the sound of a file in one channel.
///
/// # Errors
/// Like [`decode`], or if it is too long.
pub(super) fn samples(bytes: Vec<u8>) -> Result<Vec<f32>, HearingError> {
    let within = |samples: &mut Vec<f32>| match samples.len() as u64 > MAX_SECONDS * u64::from(RATE) {
        true => Err(HearingError::TooLong),
        false => Ok(()),
    };
    decode(bytes, within)
}

/// Decodes the sound of a file to one channel. `each` sees the samples after every packet, and may take some away. Returns the
/// rest.
///
/// # Errors
/// If the file is no sound or is damaged as a whole, or the error of `each`. Of a file that is damaged in part or has no end,
/// the rest is decoded.
pub(super) fn decode(
    bytes: Vec<u8>,
    mut each: impl FnMut(&mut Vec<f32>) -> Result<(), HearingError>,
) -> Result<Vec<f32>, HearingError> {
    if bytes.is_empty() {
        return Err(HearingError::Empty);
    }
    let source = MediaSourceStream::new(Box::new(Cursor::new(bytes)), Default::default());
    let (format, metadata) = (FormatOptions::default(), MetadataOptions::default());
    let probed = symphonia::default::get_probe().probe(&Hint::new(), source, format, metadata);
    let mut format = probed.map_err(|_unknown| HearingError::Unknown)?;
    let (track, mut decoder) = audio_track(&*format)?;
    let (mut sink, mut faults, mut decoded) = (SampleSink::default(), 0, 0);
    while let Some(packet) = next_packet(&mut *format) {
        if packet.track_id != track {
            continue;
        }
        match decoder.decode(&packet, &mut sink) {
            Ok(()) => (faults, decoded) = (0, decoded + 1),
            Err(()) if faults == MAX_FAULTS => break,
            Err(()) => faults += 1,
        }
        each(&mut sink.samples)?;
    }
    match sink.finish() {
        samples if !samples.is_empty() => Ok(samples),
        _ if decoded > 0 => Err(HearingError::Empty),
        _ => Err(HearingError::Damaged),
    }
}

/// Returns the first track with sound, and its decoder.
fn audio_track(format: &dyn FormatReader) -> Result<(u32, TrackDecoder), HearingError> {
    let audio = |track: &Track| Some((track.id, track.codec_params.as_ref()?.audio()?.clone()));
    let first = format.default_track(TrackType::Audio).and_then(audio);
    let first = first.or_else(|| format.tracks().iter().find_map(audio));
    let (id, parameters) = first.ok_or(HearingError::Empty)?;
    Ok((id, TrackDecoder::new(&parameters).ok_or(HearingError::Unknown)?))
}

/// Returns the next packet; `None` at the end, also where a file breaks off.
fn next_packet(format: &mut dyn FormatReader) -> Option<Packet> {
    (0..MAX_FAULTS).find_map(|_| match format.next_packet() {
        Ok(packet) => Some(packet),
        Err(Error::DecodeError(_)) => None,
        Err(_) => Some(None),
    })?
}

impl TrackDecoder {
    fn new(parameters: &AudioCodecParameters) -> Option<Self> {
        if parameters.codec == CODEC_ID_OPUS {
            return OpusDecoder::new(RATE as i32, 1).ok().map(|decoder| Self::Opus(Box::new(decoder)));
        }
        let options = AudioDecoderOptions::default();
        symphonia::default::get_codecs().make_audio_decoder(parameters, &options).ok().map(Self::Other)
    }

    fn decode(&mut self, packet: &Packet, sink: &mut SampleSink) -> Result<(), ()> {
        match self {
            Self::Opus(decoder) => {
                let mut samples = [0.0; OPUS_PACKET];
                let count = decoder.decode(&packet.data, OPUS_PACKET, &mut samples).map_err(|_damaged| ())?;
                sink.samples.extend_from_slice(samples.get(..count).ok_or(())?);
                Ok(())
            }
            Self::Other(decoder) => sink.add(&decoder.decode(packet).map_err(|_damaged| ())?),
        }
    }
}

impl SampleSink {
    /// Adds decoded samples: their channels are mixed, and their rate is changed.
    fn add(&mut self, decoded: &GenericAudioBufferRef<'_>) -> Result<(), ()> {
        let (rate, channels) = (decoded.spec().rate(), decoded.num_planes());
        if channels == 0 || !RATES.contains(&rate) {
            return Err(());
        }
        decoded.copy_to_vec_interleaved(&mut self.interleaved);
        let mixed =
            self.interleaved.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32);
        self.mixed.clear();
        self.mixed.extend(mixed.map(|sample| if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 }));
        // The rate stays the same in a file that is not damaged.
        let resampler = match &mut self.resampler {
            Some((known, resampler)) if *known == rate => resampler,
            other => &mut other.insert((rate, Resampler::new(rate))).1,
        };
        resampler.push(&self.mixed, &mut self.samples);
        Ok(())
    }

    fn finish(mut self) -> Vec<f32> {
        if let Some((_, resampler)) = &mut self.resampler {
            resampler.finish(&mut self.samples);
        }
        self.samples
    }
}
