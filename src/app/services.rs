//! Builds the models of the settings that do not chat: for transcription, speech and pictures.

use std::path::Path;
use std::sync::Arc;

use super::failure::StartupError;
#[cfg(feature = "local-transcriber")]
use super::reader_program::reader_program;
use figaro_agent::speech::Voice;
use figaro_config::{ServiceModel, Settings, TranscriberSettings};
#[cfg(feature = "local-transcriber")]
use figaro_extract::hear::WhisperFolder;
use figaro_ledger::Slots;
use figaro_provider::embed::Embedder;
#[cfg(feature = "local-transcriber")]
use figaro_provider::local_transcribe::LocalTranscriber;
use figaro_provider::paint::Painter;
#[cfg(feature = "local-transcriber")]
use figaro_provider::parted_transcribe::PartedTranscriber;
use figaro_provider::transcribe::Transcriber;
use figaro_provider::trials::ModelTrials;
use figaro_provider::{Descriptor, Make, Providers};

/// Models for work other than chat; `None` for those that are off.
#[derive(Debug, Clone, Default)]
pub(super) struct ServiceModels {
    /// Turns speech into text.
    pub(super) transcriber: Option<Arc<dyn Transcriber>>,
    /// Turns text into speech.
    pub(super) voice: Option<Voice>,
    /// Draws and changes pictures.
    pub(super) painter: Option<Arc<dyn Painter>>,
}

/// Models beside those that chat, and what was learned of all. Bots of a process share them.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedModels {
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) services: ServiceModels,
    pub(super) trials: ModelTrials,
    /// Requests at servers of the owner.
    pub(super) slots: Arc<Slots>,
}

impl ServiceModels {
    /// Builds the models of the settings.
    ///
    /// # Errors
    /// When a provider does not do what it is chosen for.
    pub(super) fn new(
        settings: &Settings,
        providers: &Providers,
        http: &reqwest::Client,
    ) -> Result<Self, StartupError> {
        let building = Building { settings, providers, http };
        let speech = settings.speech.as_ref();
        Ok(Self {
            transcriber: match &settings.transcriber {
                TranscriberSettings::Local(folder) => Some(local_transcriber(folder)?),
                other => {
                    let find = |descriptor: &Descriptor| {
                        let words = "TRANSCRIBER: the provider `{}` does not turn speech into text";
                        descriptor.transcriber.ok_or(words)
                    };
                    building.build(other.service(), find)?.map(parted)
                }
            },
            voice: building
                .build(speech.map(|speech| &speech.model), |descriptor| {
                    descriptor
                        .speech
                        .ok_or("SPEAKER: the provider `{}` does not speak in a format that Telegram plays")
                })?
                .zip(speech)
                .map(|(model, speech)| Voice { model, name: speech.voice.clone() }),
            painter: building.build(settings.painter.as_ref(), |descriptor| {
                descriptor.painter.ok_or("PAINTER: the provider `{}` does not draw pictures")
            })?,
        })
    }
}

/// Builds the transcriber of a folder, whose files are looked for.
#[cfg(feature = "local-transcriber")]
fn local_transcriber(folder: &Path) -> Result<Arc<dyn Transcriber>, StartupError> {
    let refused = |why: String| StartupError(format!("TRANSCRIBER: {why}"));
    WhisperFolder::look(folder).map_err(refused)?;
    let program = reader_program();
    let program = program.ok_or_else(|| refused("no program `figaro` is beside this one".to_owned()))?;
    Ok(Arc::new(LocalTranscriber::new(program, folder.to_owned())))
}

#[cfg(not(feature = "local-transcriber"))]
fn local_transcriber(_: &Path) -> Result<Arc<dyn Transcriber>, StartupError> {
    let words = "TRANSCRIBER: this build has no local models: build it with --features local-transcriber, or choose a model of a \
                 service";
    Err(StartupError(words.to_owned()))
}

/// Makes a service hear long sounds in parts, if this build can cut them.
#[cfg(feature = "local-transcriber")]
fn parted(service: Arc<dyn Transcriber>) -> Arc<dyn Transcriber> {
    match reader_program() {
        Some(program) => Arc::new(PartedTranscriber::new(service, program)),
        None => service,
    }
}

#[cfg(not(feature = "local-transcriber"))]
fn parted(service: Arc<dyn Transcriber>) -> Arc<dyn Transcriber> {
    service
}

struct Building<'a> {
    settings: &'a Settings,
    providers: &'a Providers,
    http: &'a reqwest::Client,
}

impl Building<'_> {
    /// Builds a chosen model. `find` returns what builds it, or what to say of a provider that has none.
    fn build<M: ?Sized>(
        &self,
        chosen: Option<&ServiceModel>,
        find: impl Fn(&Descriptor) -> Result<Make<M>, &'static str>,
    ) -> Result<Option<Arc<M>>, StartupError> {
        let Some(ServiceModel { service, model }) = chosen else { return Ok(None) };
        let unknown = || StartupError(format!("there is no provider `{}`", service.name));
        let descriptor = self.providers.find(service.name).ok_or_else(unknown)?;
        let does = |name: &&str| self.providers.find(name).is_some_and(|other| find(other).is_ok());
        let refused = |words: &str| {
            let others: Vec<&str> = self.providers.names().filter(does).collect();
            StartupError(format!("{}; choose {}", words.replace("{}", service.name), others.join(" or ")))
        };
        let make = find(descriptor).map_err(refused)?;
        Ok(Some(make(service, model, self.http.clone(), self.settings.model.idle_timeout)))
    }
}
