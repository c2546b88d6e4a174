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

/// Returns `; the nearest is X` for the URL that is most similar, as a whole or by its file's name:
/// the same file may be at another host. Returns an empty text if none is similar.
pub fn hint_url<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let (word, file) = (prefix(word), prefix(file_name(word)));
    let ranked = known.into_iter().take(WORDS_MAX).filter_map(|url| {
        let (whole, own) = (prefix(url), prefix(file_name(url)));
        let of_all = distance(&word, &whole);
        let of_file = distance(&file, &own);
        let is_near = of_all * 2 <= word.len().max(whole.len());
        let has_near_file = !file.is_empty() && of_file * 2 <= file.len().max(own.len());
        let edits = [(is_near, of_all), (has_near_file, of_file)];
        let least = edits.into_iter().filter(|it| it.0).map(|it| it.1).min()?;
        Some((least, of_all, url))
    });
    ranked
        .min_by_key(|&(least, of_all, _)| (least, of_all))
        .map_or_else(String::new, |(.., url)| format!("; the nearest is `{url}`"))
}

/// Returns what follows the last slash, without the query.
fn file_name(url: &str) -> &str {
    let path = url.split('?').next().unwrap_or(url);
    path.rsplit('/').next().unwrap_or(path)
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

    #[test]
    fn a_file_is_found_at_another_place_and_the_nearest_place_comes_first() {
        let known = ["/app.js", "https://cdn.test/v1/lib.js?a", "/old/app.js"];
        assert_eq!(
            hint_url("/lob.js", known),
            "; the nearest is `https://cdn.test/v1/lib.js?a`"
        );
        assert_eq!(
            hint_url("/older/app.js", known),
            "; the nearest is `/old/app.js`"
        );
        assert_eq!(hint_url("/zzzzzzzz", known), "");
        assert_eq!(hint_url("/img/", known), "");
    }
}
