//! The known word most like another one, for messages.

/// Longer words are compared by their beginning.
const CHARACTERS_MAX: usize = 200;
/// More words than a page has objects say nothing more.
const WORDS_MAX: usize = 5_000;

/// The word most like `word`; none where none is alike.
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

/// `; the nearest is X`, or nothing.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |found| format!("; the nearest is `{found}`"))
}

fn prefix(word: &str) -> Vec<char> {
    word.chars().take(CHARACTERS_MAX).collect()
}

/// Letters to insert, remove or exchange (Levenshtein).
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
