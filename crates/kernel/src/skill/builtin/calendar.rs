//! The proleptic Gregorian calendar and RFC 3339, on integers.

use std::fmt;

/// From Monday.
pub(super) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A date in the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

/// A date, a time of day, and the offset from UTC in minutes.
pub(super) struct Moment<'a> {
    pub(super) date: Date,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    /// Digits after the point; a fraction of a second is text here, never a float.
    pub(super) fraction: &'a str,
    pub(super) offset: i64,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first of January of `year`.
fn days_before(year: i64) -> i64 {
    let years = year - 1;
    years * 365 + years / 4 - years / 100 + years / 400
}

impl Date {
    /// Exactly `YYYY-MM-DD`, a day that exists.
    pub(super) fn read(text: &str) -> Option<Date> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let date =
            Date { year: number(&bytes[..4])?, month: number(&bytes[5..7])?, day: number(&bytes[8..])? };
        let exists = date.year >= 1
            && (1..=12).contains(&date.month)
            && (1..=days_in(date.year, date.month)).contains(&date.day);
        exists.then_some(date)
    }

    /// Days since 0001-01-01, which is day 0.
    pub(super) fn days(self) -> i64 {
        let months: i64 = (1..self.month).map(|month| days_in(self.year, month)).sum();
        days_before(self.year) + months + self.day - 1
    }

    /// The date of a day number; nothing outside the years 1 to 9999.
    pub(super) fn of_days(days: i64) -> Option<Date> {
        if days < 0 || days >= days_before(10_000) {
            return None;
        }
        // 366 days a year give a year that is not too late; the next ones are at most 7 away in 9999 years.
        let mut year = days / 366 + 1;
        while days_before(year + 1) <= days {
            year += 1;
        }
        let (mut rest, mut month) = (days - days_before(year), 1);
        while rest >= days_in(year, month) {
            rest -= days_in(year, month);
            month += 1;
        }
        Some(Date { year, month, day: rest + 1 })
    }

    /// Months since January of year 0.
    pub(super) fn month_number(self) -> i64 {
        self.year * 12 + self.month - 1
    }

    /// So many months later; the day is the last of its month when the month is shorter.
    pub(super) fn plus_months(self, months: i64) -> Option<Date> {
        let number = self.month_number() + months;
        let (year, month) = (number.div_euclid(12), number.rem_euclid(12) + 1);
        let day = self.day.min(days_in(year, month));
        (1..=9999).contains(&year).then_some(Date { year, month, day })
    }

    /// 1 is Monday, 7 is Sunday. 0001-01-01 was a Monday.
    pub(super) fn weekday(self) -> i64 {
        self.days() % 7 + 1
    }

    /// Year and number of the week of ISO 8601: the week belongs to the year that has its Thursday.
    pub(super) fn week(self) -> (i64, i64) {
        let thursday = self.days() - self.weekday() + 4;
        // The last days of 9999 belong to a week of 10000, whose Thursday has no date here.
        let year = Date::of_days(thursday).map_or(10_000, |date| date.year);
        (year, (thursday - days_before(year)) / 7 + 1)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// The value of ASCII digits, and of nothing else.
fn number(digits: &[u8]) -> Option<i64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    digits.iter().try_fold(0, |number, byte| Some(number * 10 + digit(byte)?))
}

/// A date and time of RFC 3339. A leap second is refused: without a table of them nobody knows whether it existed.
pub(super) fn read_moment(text: &str) -> Option<Moment<'_>> {
    let date = Date::read(text.get(..10)?)?;
    let time = text.get(10..)?.strip_prefix(['T', 't', ' '])?;
    let bytes = time.as_bytes();
    if bytes.len() < 9 || bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let (hour, minute, second) = (number(&bytes[..2])?, number(&bytes[3..5])?, number(&bytes[6..8])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = time.get(8..)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => {
            let end = rest.find(|ch: char| !ch.is_ascii_digit())?;
            (rest.get(..end).filter(|digits| !digits.is_empty())?, &rest[end..])
        }
    };
    Some(Moment { date, hour, minute, second, fraction, offset: offset(zone)? })
}

fn offset(zone: &str) -> Option<i64> {
    let bytes = zone.as_bytes();
    let sign = match bytes {
        [b'Z' | b'z'] => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    if bytes.len() != 6 || bytes[3] != b':' {
        return None;
    }
    let (hours, minutes) = (number(&bytes[1..3])?, number(&bytes[4..])?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

impl Moment<'_> {
    /// Seconds since the beginning of year 1, in UTC.
    pub(super) fn seconds(&self) -> i64 {
        let clock = self.hour * 3600 + self.minute * 60 + self.second;
        self.date.days() * 86_400 + clock - self.offset * 60
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three neighbours of every 97 days, and the first thousand: number to date and back, each weekday after the one
    /// before, a new week on Mondays and only then.
    #[test]
    fn every_day_is_itself() {
        let mut before: Option<Date> = None;
        for days in (0..days_before(10_000)).filter(|days| days % 97 < 3 || *days < 1_000) {
            let date = Date::of_days(days).unwrap();
            assert_eq!(date.days(), days, "{date}");
            assert_eq!(Date::read(&date.to_string()), Some(date));
            if let Some(before) = before.filter(|before| before.days() + 1 == days) {
                assert_eq!(date.weekday(), before.weekday() % 7 + 1);
                let (week, next) = (before.week(), date.week());
                assert_eq!(week == next, date.weekday() != 1, "{before} {date}");
            }
            before = Some(date);
        }
        assert_eq!(Date::of_days(days_before(10_000)), None);
        assert_eq!(Date::of_days(-1), None);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "2023-02-29",
            "1900-02-29",
            "0000-01-01",
            "2024-13-01",
            "2024-00-10",
            "2024-04-31",
            "2024-1-01",
            "+024-01-01",
            "2024-01-01 ",
            "２024-01-01",
        ] {
            assert_eq!(Date::read(text), None, "{text}");
        }
        for text in [
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+1:00",
            "2024-01-01T00:00Z",
            "2024-01-01T00:00:00+24:00",
            "2024-01-01T00:00:0é",
        ] {
            assert!(read_moment(text).is_none(), "{text}");
        }
        assert!(read_moment("2024-01-01 00:00:00-23:59").is_some());
    }
}
