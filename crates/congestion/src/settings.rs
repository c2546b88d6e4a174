use core::ops::RangeInclusive;
use eyelevel_units::Duration;

/// The range of initial windows; a larger one is a mistake of units: 10,000 packets are 14 MB.
pub const INITIAL_WINDOW_PACKETS: RangeInclusive<u64> = 1..=10_000;
/// The range of Sprout-EWMA's gain, beyond which its window is unrelated to what the link carries.
pub const SPROUT_PROBE_GAIN: RangeInclusive<f64> = 0.1..=10.0;

/// The way in which slow start ends before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// Loss alone (RFC 5681).
    Plain,
    /// The kernel's HyStart: length of the acknowledgement train, and delay.
    HyStart,
    /// HyStart++ (RFC 9406).
    HyStartPlusPlus,
}

/// The settings of the controllers. Every field has a default; a controller ignores those that it
/// does not use.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Bytes of a full packet, as the transport counts them: TCP payload, UDP payload.
    pub packet_bytes: u64,
    /// The initial window, in full packets.
    pub initial_window_packets: u64,
    /// Whether packets are paced; BBR always paces, Sprout-EWMA never does.
    pub pacing: bool,
    /// Whether to return to the initial window after an idle time of one retransmission timeout
    /// (RFC 5681 section 4.1, RFC 2861), as the sysctl `tcp_slow_start_after_idle`.
    pub slow_start_after_idle: bool,
    /// The end of CUBIC's and Reno's slow start; `None`: HyStart for CUBIC, plain for Reno.
    pub slow_start: Option<SlowStart>,
    /// The seed of the phase in which BBR's cycle of gains begins.
    pub seed: u64,
    /// Sprout-EWMA's factor above rate times horizon; 1.0 is the published algorithm.
    pub sprout_probe_gain: f64,
    /// Whether Sprout-EWMA uses the horizon of Das's text, min(100 ms, minimum round trip), instead
    /// of his code's max.
    pub sprout_horizon_min: bool,
    /// Sprout-EWMA's target delay, 100 ms as published.
    pub sprout_target_delay: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            packet_bytes: 1252,
            initial_window_packets: 10,
            pacing: true,
            slow_start_after_idle: false,
            slow_start: None,
            seed: 0,
            sprout_probe_gain: 1.0,
            sprout_horizon_min: false,
            sprout_target_delay: Duration::from_millis(100),
        }
    }
}

/// An error of selecting a controller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CongestionError {
    /// No controller has this name.
    #[error("choose the congestion control {name:?}: unknown; known: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of [`crate::CONTROLLERS`].
        known: String,
    },
    /// A setting is outside its range.
    #[error("set {setting} to {value}: {reason}")]
    Setting {
        /// The field's name.
        setting: &'static str,
        /// The requested value.
        value: String,
        /// The allowed range.
        reason: &'static str,
    },
}

impl Settings {
    /// Checks that every setting is in its range.
    ///
    /// # Errors
    /// [`CongestionError::Setting`], naming the first that is not.
    pub fn check(&self) -> Result<(), CongestionError> {
        let wrong = |setting, value: String, reason| {
            Err(CongestionError::Setting {
                setting,
                value,
                reason,
            })
        };
        if !(64..=65_535).contains(&self.packet_bytes) {
            let value = self.packet_bytes.to_string();
            return wrong("packet_bytes", value, "use 64 to 65535");
        }
        if !INITIAL_WINDOW_PACKETS.contains(&self.initial_window_packets) {
            let value = self.initial_window_packets.to_string();
            return wrong("initial_window_packets", value, "use 1 to 10000");
        }
        if !SPROUT_PROBE_GAIN.contains(&self.sprout_probe_gain) {
            let value = self.sprout_probe_gain.to_string();
            return wrong("sprout_probe_gain", value, "use 0.1 to 10");
        }
        if self.sprout_target_delay.is_zero() {
            return wrong("sprout_target_delay", "0".into(), "use more than 0");
        }
        Ok(())
    }
}
