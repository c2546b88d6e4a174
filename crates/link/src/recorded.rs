use crate::SpecError;
use serde::{Deserialize, Serialize};

/// The most lines of a recording: an hour of opportunities at 10 Gbit/s would be 3e9, a day at 5
/// Mbit/s is 3.6e7.
pub const VALUES_MAX: usize = 50_000_000;

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText {
    /// The name by which the configuration refers to the file from then on: its own, or a
    /// substitute.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A function that reads a file by its name; an error describes what is wrong with it.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<FileText, String> + 'a;

/// A list of values that a configuration gives inline or as the name of a file with one value per
/// line. The pure crate opens no file: [`crate::StageSpec::load_files`] reads it through the
/// caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<T> {
    file: Option<String>,
    values: Option<Vec<T>>,
}

impl<T> Recorded<T> {
    /// Creates a list of inline values.
    pub const fn from_values(values: Vec<T>) -> Self {
        Self {
            file: None,
            values: Some(values),
        }
    }

    /// Creates a list from the name of a file that is still to be read.
    pub fn from_file(name: impl Into<String>) -> Self {
        Self {
            file: Some(name.into()),
            values: None,
        }
    }

    /// Returns the file's name, if the values come from one.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the values, or an error if their file was not read or is empty.
    pub(crate) fn values(&self, place: &str) -> Result<&[T], SpecError> {
        match (&self.values, &self.file) {
            (Some(values), _) if !values.is_empty() => Ok(values),
            (None, Some(file)) => Err(SpecError::setting(
                place,
                format!("the file {file:?} was not read"),
                "load the files of the stages before building the direction",
            )),
            _ => Err(SpecError::setting(
                place,
                "the list is empty",
                "give at least one value",
            )),
        }
    }

    /// Reads the file, if there is one that was not read yet. `parse` parses one line.
    pub(crate) fn load(
        &mut self,
        read: &mut ReadFile<'_>,
        parse: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Result<(), SpecError> {
        let (Some(file), None) = (&self.file, &self.values) else {
            return Ok(());
        };
        let read = read(file).map_err(|problem| {
            SpecError::setting(file.clone(), problem, "give the name of a readable file")
        })?;
        self.values = Some(parse_lines(&read.text, file, parse, expected)?);
        self.file = Some(read.name);
        Ok(())
    }
}

/// Parses one value per line. The error names the file, the line and the expected form.
pub(crate) fn parse_lines<T>(
    text: &str,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
    expected: &str,
) -> Result<Vec<T>, SpecError> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = || format!("{name}:{}", index + 1);
        let value = parse(line).ok_or_else(|| {
            let shown: String = line.chars().take(40).collect();
            let problem = if shown.is_empty() {
                "the line is empty".into()
            } else {
                format!("{shown:?} is not {expected}")
            };
            SpecError::setting(place(), problem, format!("write {expected} on each line"))
        })?;
        if values.len() == VALUES_MAX {
            let problem = format!("more than {VALUES_MAX} lines");
            return Err(SpecError::setting(place(), problem, "cut the recording"));
        }
        values.push(value);
    }
    if values.is_empty() {
        return Err(SpecError::setting(
            name,
            "the file is empty",
            format!("write {expected} on each line"),
        ));
    }
    Ok(values)
}

/// Parses a delay in milliseconds, at least 0.
pub(crate) fn parse_ms(line: &str) -> Option<f64> {
    let plain = line
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    line.parse().ok().filter(|_| plain)
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a file's name or a list of values")]
enum Written<T> {
    File(String),
    Values(Vec<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Recorded<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::File(file) => Self::from_file(file),
            Written::Values(values) => Self::from_values(values),
        })
    }
}

/// A file is serialised as its name, whether it was read or not.
impl<T: Serialize> Serialize for Recorded<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.file, &self.values) {
            (Some(file), _) => file.serialize(serializer),
            (None, values) => values.as_deref().unwrap_or_default().serialize(serializer),
        }
    }
}
