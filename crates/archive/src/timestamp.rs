//! WARC dates (W3C's ISO 8601 profile, always UTC) as milliseconds since 1970.

/// Parses `2018-02-21T10:57:25Z`, with or without a fraction of a second; returns `None` for
/// another format.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if bytes.len() < 20 || separators.iter().any(|&(at, byte)| bytes[at] != byte) {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = &bytes[from..to];
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(
            digits
                .iter()
                .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')),
        )
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction = bytes[19..].strip_suffix(b"Z")?;
    let milliseconds = match fraction.strip_prefix(b".") {
        None if fraction.is_empty() => 0,
        Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            let digit = |at: usize| digits.get(at).map_or(0, |digit| i64::from(digit - b'0'));
            digit(0) * 100 + digit(1) * 10 + digit(2)
        }
        _ => return None,
    };
    let seconds = days_from_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(seconds * 1000 + milliseconds)
}

/// Parses a date of HAR, `2018-02-21T10:57:25.123+01:00`, also as its writers vary it: an offset
/// without its colon or minutes, a small `t` or `z` or a blank, a comma, no seconds. Without an
/// offset it is taken as UTC.
pub fn parse_with_offset(text: &str) -> Option<i64> {
    const DATE_BYTES: usize = 10;
    const TO_MINUTES_BYTES: usize = 16;
    let text = text.trim();
    let after_date = text.get(DATE_BYTES..).filter(|_| text.is_ascii())?;
    let sign_at = after_date.rfind(['+', '-']).map(|at| DATE_BYTES + at);
    let (local, offset_minutes) = match sign_at {
        Some(at) => (&text[..at], parse_offset(&text[at..])?),
        None => (text.strip_suffix(['Z', 'z']).unwrap_or(text), 0),
    };
    let (date, time) = local.trim_end().split_at_checked(DATE_BYTES)?;
    let time = time.strip_prefix(['T', 't', ' '])?.replace(',', ".");
    let is_to_minutes = date.len() + 1 + time.len() == TO_MINUTES_BYTES;
    let seconds = if is_to_minutes { ":00" } else { "" };
    Some(parse(&format!("{date}T{time}{seconds}Z"))? - offset_minutes * 60_000)
}

/// Parses `+01:00`, `+0100` or `+01` as minutes.
fn parse_offset(text: &str) -> Option<i64> {
    let (sign, digits) = text.split_at_checked(1)?;
    let digits = digits.replace(':', "");
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes) = match digits.len() {
        2 => (&digits[..], "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    is_number.then_some(if sign == "-" { -minutes } else { minutes })
}

/// Parses the value of a `Date` field, `Wed, 21 Feb 2018 10:57:25 GMT` (RFC 9110, section 5.6.7).
/// Its obsolete forms are not supported.
pub fn parse_http(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split(' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    parse(&format!("{year}-{month:02}-{day:0>2}T{}Z", words.next()?))
}

/// Formats milliseconds since 1970 as a WARC date, with a fraction only if it is not zero.
pub fn format(unix_ms: i64) -> String {
    let (days, in_day_ms) = (
        unix_ms.div_euclid(86_400_000),
        unix_ms.rem_euclid(86_400_000),
    );
    let (year, month, day) = date_from_days(days);
    let (seconds, milliseconds) = (in_day_ms / 1000, in_day_ms % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = if milliseconds == 0 {
        String::new()
    } else {
        format!(".{milliseconds:03}")
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// Returns the days from 1970-01-01 in the proleptic Gregorian calendar. Years begin in March, so
/// that the leap day comes last (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Inverts [`days_from_epoch`].
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let first_day = 365 * year_of_era + year_of_era / 4 - year_of_era / 100;
    let day_of_year = day_of_era - first_day;
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_and_write_alike() {
        for (text, unix_ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2018-02-21T10:57:25Z", 1_519_210_645_000),
            ("2024-02-29T23:59:59.250Z", 1_709_251_199_250),
        ] {
            assert_eq!(parse(text), Some(unix_ms), "{text}");
            assert_eq!(format(unix_ms), text);
        }
        assert_eq!(
            parse("2018-02-21T10:57:25.123456Z"),
            Some(1_519_210_645_123)
        );
    }

    #[test]
    fn dates_of_other_formats() {
        let http = "Wed, 21 Feb 2018 10:57:25 GMT";
        assert_eq!(parse_http(http), Some(1_519_210_645_000));
        assert_eq!(parse_http("yesterday"), None);
        for har in [
            "2018-02-21T11:57:25.5+01:00",
            "2018-02-21T10:57:25.500Z",
            "2018-02-21T10:57:25.500+0000",
            "2018-02-21T05:27:25.500-0530",
            "2018-02-21T11:57:25.5000000+01",
            "2018-02-21t10:57:25,5z",
            "2018-02-21 11:57:25.5 +01:00",
            " 2018-02-21T10:57:25.500",
        ] {
            assert_eq!(parse_with_offset(har), Some(1_519_210_645_500), "{har}");
        }
        let to_minutes = Some(1_519_210_620_000);
        assert_eq!(parse_with_offset("2018-02-21T10:57Z"), to_minutes);
        assert_eq!(parse_with_offset("2018-02-21T11:57+01:00"), to_minutes);
        for odd in [
            "",
            "2018-02-21",
            "2018-02-21T10:57:25+1",
            "2018-02-21T10:57:25+a0",
            "2018-02-21T10:57:25+01:000",
            "2018-02-21Z",
            "2018-02-21+01:00",
            "2018-02-21T10:5Z",
        ] {
            assert_eq!(parse_with_offset(odd), None, "{odd}");
        }
        assert_eq!(parse_with_offset("2018"), None);
        assert_eq!(parse_with_offset("äöü2018"), None);
    }

    #[test]
    fn invalid_dates_are_refused() {
        for text in [
            "",
            "2018",
            "2018-02-21 10:57:25Z",
            "2018-13-21T10:57:25Z",
            "2018-02-21T10:57:25",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("2018-02-21T10:57:25.Z"), None);
    }

    proptest::proptest! {
        #[test]
        fn every_date_survives(unix_ms in -62_135_596_800_000i64..253_402_300_799_999) {
            proptest::prop_assert_eq!(parse(&format(unix_ms)), Some(unix_ms));
        }
    }
}
