//! Finds the known word that is most similar to another, for messages.

/// The compared length of a word, characters.
const CHARACTERS_MAX: usize = 200;
/// The most known words that are compared: more than a page has objects.
const WORDS_MAX: usize = 5_000;

/// Returns the word most similar to `word`, or `None` if none is similar.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = prefix(word);
    let ranked = known.into_iter().take(WORDS_MAX).map(|other| {
        let letters = prefix(other);
        (
            distance(&word, &letters),
            word.len().max(letters.len()),
            other,
        )
    });
    let (edits, letters, found) = ranked.min_by_key(|&(edits, letters, _)| (edits, letters))?;
    (edits * 2 <= letters).then_some(found)
}

/// Returns `; the nearest is X`, or an empty text.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |found| format!("; the nearest is `{found}`"))
}

fn prefix(word: &str) -> Vec<char> {
    word.chars().take(CHARACTERS_MAX).collect()
}

/// Returns the edit distance of two words (Levenshtein).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, against) in other.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != against);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_strange_one_has_none() {
        let known = ["/app.js", "/hero.jpg", "/styles/site.css"];
        assert_eq!(nearest("/ap.js", known), Some("/app.js"));
        assert_eq!(nearest("/hero2.jpg", known), Some("/hero.jpg"));
        assert_eq!(nearest("zzzzzzzzzz", known), None);
        assert_eq!(nearest("/app.js", []), None);
    }
}
