//! Dates of responses as they would be if the recording were made now, or a while ago: pure.
//!
//! How long a cache may use a response follows from differences of dates (RFC 9111, section 4.2): its
//! age from `Date` and `Age`, its lifetime from `Expires` or `Last-Modified` less `Date`. All of them
//! move by the same time, so that the differences stay as they were recorded; on the visit that fills
//! the cache they move to where that visit lies in the past.

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue};
use httpdate::{fmt_http_date, parse_http_date};
use std::time::{Duration, UNIX_EPOCH};

/// The last second of the year 9999, beyond which no date can be written (RFC 9110, section 5.6.7).
const DATE_S_MAX: i64 = 253_402_300_799;

/// The age of a cache, and the time from which it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheAge {
    /// Seconds from the visit that fills the cache to the next one.
    pub age_s: u32,
    /// Start of the servers, in seconds since 1970 UTC.
    pub began_unix_s: i64,
}

/// The time at which a response is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The age of the cache.
    pub cache_age: CacheAge,
    /// Seconds since 1970 UTC.
    pub now_unix_s: i64,
    /// Whether on the visit that fills the cache.
    pub fills_cache: bool,
}

impl Moment {
    /// Moves the dates of a response that was recorded at `recorded_at_unix_ms`. `Last-Modified` is
    /// the same on both visits, since nothing has changed on the server.
    pub fn move_dates(&self, headers: &mut HeaderMap, recorded_at_unix_ms: Option<i64>) {
        let age_s = i64::from(self.cache_age.age_s);
        let back_s = if self.fills_cache { age_s } else { 0 };
        let date_s = seconds(headers, &header::DATE);
        let arrived_s = recorded_at_unix_ms.map(|ms| ms.div_euclid(1000));
        // A server's clock that is ahead makes no response younger than it is (RFC 9111, 4.2.3).
        let recorded_s = arrived_s.max(date_s).unwrap_or(self.now_unix_s);
        let moved_s = self.now_unix_s - back_s - recorded_s;
        set(
            headers,
            header::DATE,
            date_s.unwrap_or(recorded_s) + moved_s,
        );
        if let Some(expires_s) = seconds(headers, &header::EXPIRES) {
            set(headers, header::EXPIRES, expires_s + moved_s);
        }
        if let Some(modified_s) = seconds(headers, &header::LAST_MODIFIED) {
            let then_s = self.cache_age.began_unix_s - age_s - recorded_s;
            set(headers, header::LAST_MODIFIED, modified_s + then_s);
        }
        let stated = text(headers, &header::AGE).and_then(|age| age.trim().parse::<u32>().ok());
        if let Some(stated_s) = stated {
            let age_s = i64::from(stated_s) + back_s;
            headers.insert(header::AGE, HeaderValue::from(age_s));
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns a date in any of HTTP's forms, in seconds since 1970 UTC; none for other texts, such as
/// `Expires: 0`.
fn seconds(headers: &HeaderMap, name: &HeaderName) -> Option<i64> {
    let date = parse_http_date(text(headers, name)?.trim()).ok()?;
    let since = date.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

fn set(headers: &mut HeaderMap, name: HeaderName, unix_s: i64) {
    let unix_s = unix_s.clamp(0, DATE_S_MAX).unsigned_abs();
    let date = fmt_http_date(UNIX_EPOCH + Duration::from_secs(unix_s));
    if let Ok(value) = HeaderValue::try_from(date) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW_S: i64 = 1_800_000_000;

    fn at(age_s: u32, now_unix_s: i64, fills_cache: bool) -> Moment {
        Moment {
            cache_age: CacheAge {
                age_s,
                began_unix_s: NOW_S,
            },
            now_unix_s,
            fills_cache,
        }
    }

    fn fields(fields: &[(HeaderName, String)]) -> HeaderMap {
        let value = |text: &String| HeaderValue::try_from(text).unwrap();
        let fields = fields
            .iter()
            .map(|(name, text)| (name.clone(), value(text)));
        fields.collect()
    }

    fn date(unix_s: i64) -> String {
        fmt_http_date(UNIX_EPOCH + Duration::from_secs(unix_s.unsigned_abs()))
    }

    proptest! {
        /// What a cache computes from a response (RFC 9111, section 4.2) is as it was recorded, and on
        /// the visit that fills the cache older by the age alone; what has not changed since is the
        /// same on both.
        #[test]
        fn lifetimes_and_ages_are_the_recorded_ones(
            recorded_s in 1_000_000_000..1_700_000_000_i64,
            lag_s in -100..100_000_i64,
            lifetime_s in -1_000_000..100_000_000_i64,
            modified_before_s in 0..900_000_000_i64,
            told_s in 0..1_000_000_u32,
            age_s in 0..100_000_000_u32,
            later_s in 0..1000_i64,
        ) {
            let sent_s = recorded_s - lag_s;
            let recorded = fields(&[
                (header::DATE, date(sent_s)),
                (header::EXPIRES, date(sent_s + lifetime_s)),
                (header::LAST_MODIFIED, date(sent_s - modified_before_s)),
                (header::AGE, told_s.to_string()),
            ]);
            let of = |headers: &HeaderMap, name| seconds(headers, &name).unwrap();
            let mut changed = Vec::new();
            for (fills_cache, back_s) in [(true, i64::from(age_s)), (false, 0)] {
                let mut headers = recorded.clone();
                let now_s = NOW_S + later_s;
                at(age_s, now_s, fills_cache).move_dates(&mut headers, Some(recorded_s * 1000));
                let sent_s = of(&headers, header::DATE);
                prop_assert_eq!(now_s - sent_s, lag_s.max(0) + back_s);
                prop_assert_eq!(of(&headers, header::EXPIRES) - sent_s, lifetime_s);
                prop_assert_eq!(&headers[header::AGE], &(i64::from(told_s) + back_s).to_string());
                changed.push(headers[header::LAST_MODIFIED].clone());
                if fills_cache {
                    let since_s = sent_s - of(&headers, header::LAST_MODIFIED);
                    prop_assert_eq!(since_s, modified_before_s + later_s);
                }
            }
            prop_assert_eq!(&changed[0], &changed[1]);
        }

        #[test]
        fn any_field_that_is_no_date_stays(text in "[ -~]{0,40}", ms in any::<Option<i64>>()) {
            prop_assume!(parse_http_date(text.trim()).is_err());
            let mut headers = fields(&[(header::EXPIRES, text)]);
            let before = headers[header::EXPIRES].clone();
            let ms = ms.map(|ms| ms / 1_000_000);
            at(60, NOW_S, true).move_dates(&mut headers, ms);
            prop_assert_eq!(&headers[header::EXPIRES], &before);
        }
    }

    #[test]
    fn a_response_without_a_date_gets_the_one_of_its_visit() {
        for (fills_cache, expected_s) in [(true, NOW_S - 3600), (false, NOW_S)] {
            let mut headers = HeaderMap::new();
            at(3600, NOW_S, fills_cache).move_dates(&mut headers, Some(1_767_225_600_000));
            assert_eq!(headers[header::DATE], date(expected_s));
            assert_eq!(headers.len(), 1);
        }
    }
}
