use crate::{Bbr, CongestionError, Controller, Cubic, Reno, Settings, SlowStart, SproutEwma};

/// A function that creates a controller from validated settings.
pub type Constructor = fn(&Settings) -> Box<dyn Controller>;

/// Every controller by its name: the one place to register a new one.
pub const CONTROLLERS: &[(&str, Constructor)] = &[
    ("cubic", |settings| Box::new(Cubic::new(settings))),
    ("cubic-hystart++", |settings| {
        let settings = Settings {
            slow_start: Some(SlowStart::HyStartPlusPlus),
            ..settings.clone()
        };
        Box::new(Cubic::new(&settings).with_name("cubic-hystart++"))
    }),
    ("bbr", |settings| Box::new(Bbr::new(settings))),
    ("reno", |settings| Box::new(Reno::new(settings))),
    ("sprout_ewma", |settings| {
        Box::new(SproutEwma::new(settings))
    }),
];

/// Returns the controller of that name.
///
/// # Errors
/// When no controller has that name, or a setting is out of its range.
pub fn by_name(name: &str, settings: &Settings) -> Result<Box<dyn Controller>, CongestionError> {
    settings.check()?;
    let found = CONTROLLERS.iter().find(|(known, _)| *known == name);
    let (_, constructor) = found.ok_or_else(|| CongestionError::Unknown {
        name: name.to_owned(),
        known: CONTROLLERS
            .iter()
            .map(|(known, _)| *known)
            .collect::<Vec<_>>()
            .join(", "),
    })?;
    Ok(constructor(settings))
}
