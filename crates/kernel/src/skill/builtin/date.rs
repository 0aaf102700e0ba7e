//! Dates without a clock: proleptic Gregorian calendar, years 1 to 9999, integers only.

use super::Declared;
use super::calendar::{Date, WEEKDAYS, read_moment};
use crate::skill::payload::{integer_or, text};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};

const DATE: (&str, &str) = ("date", "a date such as 2026-02-28");

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "date.parse",
        version: 1,
        description: "Take a timestamp apart (RFC 3339 or ISO 8601 date and time with offset): year, month, day, hour \
                      and so on, the moment in UTC and as Unix seconds.",
        triggers: &["parse timestamp", "parse date", "rfc 3339", "unix seconds"],
        needs: &[("text", "a date, or a date and time with Z or an offset")],
        takes: &[],
        examples: &[
            (
                r#"{"text":"2026-03-01T00:30:05.25+01:00"}"#,
                r#"{"year":2026,"month":3,"day":1,"hour":0,"minute":30,"second":5,"fraction":"25","offset_minutes":60,"utc":"2026-02-28T23:30:05.25Z","unix_seconds":1772321405}"#,
            ),
            (r#"{"text":"2024-02-29"}"#, r#"{"year":2024,"month":2,"day":29,"day_of_year":60}"#),
        ],
        run: parse,
    },
    Declared {
        name: "date.between",
        version: 1,
        description: "How many days lie between two dates, also as whole years, months and days: age, duration, time \
                      until a deadline.",
        triggers: &["days between", "date difference", "how many days until"],
        needs: &[("from", "a date"), ("to", "a date")],
        takes: &[],
        examples: &[
            (
                r#"{"from":"2024-02-28","to":"2025-03-01"}"#,
                r#"{"days":367,"weeks":52,"years":1,"months":0,"rest_days":1}"#,
            ),
            (
                r#"{"from":"2026-01-31","to":"2026-01-30"}"#,
                r#"{"days":-1,"weeks":0,"years":0,"months":0,"rest_days":-1}"#,
            ),
        ],
        run: between,
    },
    Declared {
        name: "date.add",
        version: 1,
        description: "Add days, weeks, months or years to a date, or subtract them: deadlines, end of a term; a day \
                      that the month does not have becomes its last.",
        triggers: &["add days", "add months", "date plus"],
        needs: &[DATE],
        takes: &[
            ("years", "-9999 to 9999"),
            ("months", "-99999 to 99999"),
            ("weeks", "-999999 to 999999"),
            ("days", "-9999999 to 9999999; years and months are added first"),
        ],
        examples: &[
            (r#"{"date":"2026-01-31","months":1}"#, r#""2026-02-28""#),
            (r#"{"date":"2024-02-29","years":-1,"days":1}"#, r#""2023-03-01""#),
        ],
        run: add,
    },
    Declared {
        name: "date.weekday",
        version: 1,
        description: "Which day of the week a date falls on, Monday to Sunday, and whether it is a weekend.",
        triggers: &["day of the week", "which weekday", "is it a weekend"],
        needs: &[DATE],
        takes: &[],
        examples: &[
            (r#"{"date":"2000-01-01"}"#, r#"{"weekday":"Saturday","number":6,"weekend":true}"#),
            (r#"{"date":"0001-01-01"}"#, r#"{"weekday":"Monday","number":1,"weekend":false}"#),
        ],
        run: weekday,
    },
    Declared {
        name: "date.week",
        version: 1,
        description: "The ISO 8601 calendar week number of a date with its week year, as payrolls and planners use it.",
        triggers: &["iso week", "calendar week", "week number"],
        needs: &[DATE],
        takes: &[],
        examples: &[
            (r#"{"date":"2021-01-03"}"#, r#"{"year":2020,"week":53,"text":"2020-W53-7"}"#),
            (r#"{"date":"2024-12-30"}"#, r#"{"year":2025,"week":1,"text":"2025-W01-1"}"#),
        ],
        run: week,
    },
];

fn date(payload: &Object, name: &str) -> Result<Date, Failed> {
    Date::read(text(payload, name)?).ok_or_else(|| not_date(name))
}

fn not_date(name: &str) -> Failed {
    Failed::new(Fault::NotDate, name)
}

fn out_of_range() -> Failed {
    Failed::new(Fault::DateOutOfRange, "the result is not in the years 1 to 9999")
}

fn parse(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    let parts =
        |date: Date| Object::new().with("year", date.year).with("month", date.month).with("day", date.day);
    if let Some(date) = Date::read(text) {
        let first = Date { month: 1, day: 1, ..date };
        return Ok(parts(date).with("day_of_year", date.days() - first.days() + 1).into());
    }
    let moment = read_moment(text).ok_or_else(|| not_date("text"))?;
    let seconds = moment.seconds();
    let utc = Date::of_days(seconds.div_euclid(86_400)).ok_or_else(out_of_range)?;
    let clock = seconds.rem_euclid(86_400);
    let point = if moment.fraction.is_empty() { "" } else { "." };
    let utc = format!(
        "{utc}T{:02}:{:02}:{:02}{point}{}Z",
        clock / 3600,
        clock / 60 % 60,
        clock % 60,
        moment.fraction
    );
    let object = parts(moment.date).with("hour", moment.hour).with("minute", moment.minute);
    let object = object.with("second", moment.second).with("fraction", moment.fraction);
    let epoch = Date { year: 1970, month: 1, day: 1 }.days() * 86_400;
    let object = object.with("offset_minutes", moment.offset).with("utc", utc);
    Ok(object.with("unix_seconds", seconds - epoch).into())
}

fn between(payload: &Object) -> Result<Value, Failed> {
    let (from, to) = (date(payload, "from")?, date(payload, "to")?);
    let days = to.days() - from.days();
    let (early, late) = if days < 0 { (to, from) } else { (from, to) };
    let mut months = late.month_number() - early.month_number();
    // The last whole month is the one that does not lead past the later date.
    if early.plus_months(months).is_none_or(|date| date.days() > late.days()) {
        months -= 1;
    }
    let rest = late.days() - early.plus_months(months).ok_or_else(out_of_range)?.days();
    let sign = if days < 0 { -1 } else { 1 };
    let object = Object::new().with("days", days).with("weeks", days / 7).with("years", sign * (months / 12));
    Ok(object.with("months", sign * (months % 12)).with("rest_days", sign * rest).into())
}

fn add(payload: &Object) -> Result<Value, Failed> {
    let date = date(payload, "date")?;
    let amount = |name, most: i64| integer_or(payload, name, -most..=most, 0);
    let months = amount("years", 9_999)? * 12 + amount("months", 99_999)?;
    let days = amount("weeks", 999_999)? * 7 + amount("days", 9_999_999)?;
    let moved = date.plus_months(months).ok_or_else(out_of_range)?;
    let date = Date::of_days(moved.days() + days).ok_or_else(out_of_range)?;
    Ok(Value::Str(date.to_string()))
}

fn weekday(payload: &Object) -> Result<Value, Failed> {
    let number = date(payload, "date")?.weekday();
    let name = WEEKDAYS[number as usize - 1];
    Ok(Object::new().with("weekday", name).with("number", number).with("weekend", number > 5).into())
}

fn week(payload: &Object) -> Result<Value, Failed> {
    let date = date(payload, "date")?;
    let (year, week) = date.week();
    let text = format!("{year:04}-W{week:02}-{}", date.weekday());
    Ok(Object::new().with("year", year).with("week", week).with("text", text).into())
}
