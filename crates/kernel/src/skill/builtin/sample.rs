//! Sampling with an explicit seed: the same seed gives the same draw on every machine and in every version.

use super::Declared;
use super::generator::Generator;
use crate::skill::payload::{integer, integer_or, list, settled, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};

const ITEMS: (&str, &str) = ("items", "a list of at most 100 000 values of any kind");
const SEED: (&str, &str) =
    ("seed", "an integer from 0 to 2^64 - 1, as a decimal string when it is over 2^63 - 1");

/// Most draws of one call.
const COUNT_MAX: i64 = 100_000;

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "sample.shuffle",
        version: 1,
        description: "Put a list into a random order that depends on a seed only: a reproducible shuffle (permutation) \
                      in which every order is equally likely.",
        triggers: &["shuffle", "random order", "random permutation"],
        needs: &[ITEMS, SEED],
        takes: &[],
        examples: &[
            (r#"{"items":[1,2,3,4,5],"seed":1}"#, r#"[1,5,3,2,4]"#),
            (r#"{"items":["a",0.5],"seed":"18446744073709551615"}"#, r#"["a","0.5"]"#),
        ],
        run: shuffle,
    },
    Declared {
        name: "sample.choose",
        version: 1,
        description: "Pick a random sample of some elements from a list without repetition, reproducible by its seed: \
                      draw winners, a subset for review or a test set.",
        triggers: &["random sample", "choose at random", "pick randomly"],
        needs: &[ITEMS, ("count", "how many, at most the length of the list"), SEED],
        takes: &[],
        examples: &[
            (r#"{"items":["a","b","c","d"],"count":2,"seed":7}"#, r#"["d","b"]"#),
            (r#"{"items":[],"count":0,"seed":0}"#, r#"[]"#),
        ],
        run: choose,
    },
    Declared {
        name: "sample.weighted",
        version: 1,
        description: "Random choice by weights with repetition, reproducible by its seed: an element with twice the \
                      weight is drawn twice as often on average.",
        triggers: &["weighted choice", "weighted random", "choose by weight"],
        needs: &[
            ITEMS,
            ("weights", "for each element an integer of at least 0; their sum is below 2^63"),
            SEED,
        ],
        takes: &[("count", "how many draws, 0 to 100 000; 1 when absent")],
        examples: &[
            (
                r#"{"items":["a","b","c"],"weights":[1,0,3],"count":6,"seed":5}"#,
                r#"["c","a","c","c","c","a"]"#,
            ),
            (r#"{"items":["x"],"weights":[9],"seed":"3"}"#, r#"["x"]"#),
        ],
        run: weighted,
    },
    Declared {
        name: "sample.integers",
        version: 1,
        description: "Generate random integers in a range, each equally likely, reproducible by a seed: dice rolls, \
                      test data.",
        triggers: &["random integers", "random numbers", "roll dice"],
        needs: &[("from", "the least, a 64-bit integer"), ("to", "the greatest, at least from"), SEED],
        takes: &[("count", "how many, 0 to 100 000; 1 when absent")],
        examples: &[
            (r#"{"from":1,"to":6,"count":5,"seed":42}"#, r#"[2,2,1,1,5]"#),
            (
                r#"{"from":-9223372036854775808,"to":9223372036854775807,"seed":0}"#,
                r#"[7070836379803831727]"#,
            ),
        ],
        run: integers,
    },
];

fn generator(payload: &Object) -> Result<Generator, Failed> {
    let refused = || unfit("seed", "is not an integer from 0 to 2^64 - 1");
    let text = match crate::skill::payload::any(payload, "seed")? {
        Value::Int(number) => number.as_str(),
        Value::Str(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text,
        _ => return Err(refused()),
    };
    text.parse().map(Generator::new).map_err(|_| refused())
}

/// Fisher-Yates from the front: after `count` steps the first `count` places are a fair draw.
fn drawn(items: &[Value], count: usize, generator: &mut Generator) -> Result<Value, Failed> {
    let mut places: Vec<usize> = (0..items.len()).collect();
    for place in 0..count {
        let other = generator.below((items.len() - place) as u64);
        places.swap(place, place + other as usize);
    }
    places[..count].iter().map(|place| settled(&items[*place])).collect::<Result<_, _>>().map(Value::Array)
}

fn shuffle(payload: &Object) -> Result<Value, Failed> {
    let (items, mut generator) = (list(payload, "items")?, generator(payload)?);
    drawn(items, items.len(), &mut generator)
}

fn choose(payload: &Object) -> Result<Value, Failed> {
    let (items, mut generator) = (list(payload, "items")?, generator(payload)?);
    let count = integer(payload, "count", 0..=items.len() as i64)?;
    drawn(items, count as usize, &mut generator)
}

fn weighted(payload: &Object) -> Result<Value, Failed> {
    let (items, weights, mut generator) =
        (list(payload, "items")?, list(payload, "weights")?, generator(payload)?);
    let count = integer_or(payload, "count", 0..=COUNT_MAX, 1)?;
    if weights.len() != items.len() {
        return Err(unfit("weights", "has another number of elements than items"));
    }
    let mut sums = Vec::with_capacity(weights.len());
    let mut sum = 0_i64;
    for weight in weights {
        let weight = weight.as_i64().filter(|weight| *weight >= 0);
        let weight =
            weight.ok_or_else(|| unfit("weights", "holds something that is no integer of at least 0"))?;
        sum =
            sum.checked_add(weight).ok_or_else(|| Failed::new(Fault::Overflow, "the sum of the weights"))?;
        sums.push(sum);
    }
    if sum == 0 && count > 0 {
        return Err(Failed::new(Fault::Undefined, "no element has a weight"));
    }
    let mut size = 0;
    let mut out = Vec::new();
    for _ in 0..count {
        let draw = generator.below(sum as u64) as i64;
        let item = settled(&items[sums.partition_point(|sum| *sum <= draw)])?;
        size += weight_of(&item);
        if size > crate::skill::payload::OUTPUT_MAX {
            return Err(Failed::new(Fault::OutputTooLarge, "the drawn elements"));
        }
        out.push(item);
    }
    Ok(Value::Array(out))
}

/// About how many bytes a value takes as text: a large element may be drawn many times.
fn weight_of(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(weight_of).sum::<usize>() + 2,
        Value::Object(object) => {
            object.iter().map(|(key, member)| key.len() + weight_of(member)).sum::<usize>() + 2
        }
        _ => 20,
    }
}

fn integers(payload: &Object) -> Result<Value, Failed> {
    let from = integer(payload, "from", i64::MIN..=i64::MAX)?;
    let to = integer(payload, "to", i64::MIN..=i64::MAX)?;
    let (mut generator, count) = (generator(payload)?, integer_or(payload, "count", 0..=COUNT_MAX, 1)?);
    if to < from {
        return Err(unfit("to", "is less than from"));
    }
    // The whole range of 64 bits has 2^64 members, which wraps to 0: there every draw is taken as it is.
    let size = to.wrapping_sub(from).cast_unsigned().wrapping_add(1);
    let mut next = || if size == 0 { generator.next() } else { generator.below(size) };
    Ok((0..count).map(|_| from.wrapping_add(next().cast_signed())).collect::<Vec<i64>>().into())
}
