/// Returns `text` in one line, with line ends and other control characters escaped.
///
/// For messages of other libraries that quote input, such as a JSON parser's of an unknown key.
///
/// ```
/// assert_eq!(eyelevel_units::one_line("no field `a\nb`"), "no field `a\\nb`");
/// ```
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}
