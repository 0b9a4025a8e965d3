//! Health, readiness and metrics of the process at `METRICS_ADDR`, for as long as it runs.

use super::door::metrics_door;
use super::failure::StartupError;
use super::groups::LAST_CALL;
use figaro_base::shutdown::TaskTracker;
use figaro_config::HttpSettings;
use figaro_gateway::probes::Probes;

/// Health, readiness and metrics of the process, served if the settings want them.
#[derive(Debug, Default)]
pub(super) struct ServedProbes {
    pub(super) probes: Probes,
    pub(super) background: TaskTracker,
}

impl ServedProbes {
    /// Opens the address of the settings, if there is one.
    ///
    /// # Errors
    /// When the socket cannot be opened, with a remedy.
    pub(super) async fn start(settings: &HttpSettings) -> Result<Self, StartupError> {
        let served = Self::default();
        if let Some(listener) = metrics_door(settings).await? {
            listener.tell_address("metrics are");
            let (router, background) = (served.probes.router(settings), served.background.clone());
            served.background.spawn("metrics", listener.serve(router, background));
        }
        Ok(served)
    }

    /// Closes the address, and tells systemd nothing more.
    pub(super) async fn end(self) {
        self.background.stop();
        self.background.finish(LAST_CALL).await;
    }
}
