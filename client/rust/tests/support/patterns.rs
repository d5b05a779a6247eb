//! The values of the vectors: what stands for what, and which answer a pattern fits.

use std::collections::HashMap;

use serde_json::{Value, json};

pub type Saved = HashMap<String, Value>;

/// A value with what stands in it for something else put in its place, except what only patterns have.
pub fn filled(value: &Value, saved: &Saved) -> Value {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$saved").and_then(Value::as_str) {
                return saved
                    .get(name)
                    .unwrap_or_else(|| panic!("nothing was saved as {name}"))
                    .clone();
            }
            if let Some(text) = fields.get("$text").and_then(Value::as_str) {
                let times = fields["times"]
                    .as_u64()
                    .and_then(|times| times.try_into().ok())
                    .expect("times is a number");
                return text.repeat(times).into();
            }
            fields
                .iter()
                .map(|(key, one)| (key.clone(), filled(one, saved)))
                .collect()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, saved)).collect(),
        _ => value.clone(),
    }
}

/// Where a value does not fit a pattern, in words; none where it does.
pub fn misfit(pattern: &Value, value: &Value) -> Option<String> {
    match pattern {
        Value::Object(fields) if fields.keys().any(|key| key.starts_with('$')) => misfit_of_rules(fields, value),
        Value::Object(fields) => fields.iter().find_map(|(key, wanted)| {
            misfit(wanted, &value[key]).map(|what| {
                if what.starts_with('.') {
                    format!(".{key}{what}")
                } else {
                    format!(".{key} {what}")
                }
            })
        }),
        Value::Array(items) if !items.is_empty() => {
            let Some(found) = value.as_array().filter(|found| found.len() == items.len()) else {
                return Some(format!("is not {} items but {}", items.len(), shortened(value)));
            };
            let misfits = items
                .iter()
                .zip(found)
                .map(|(wanted, one)| misfit(wanted, one))
                .enumerate();
            misfits
                .into_iter()
                .find_map(|(index, what)| what.map(|what| format!(".{index}{what}")))
        }
        _ if is_default(pattern) && is_default(value) => None,
        _ if pattern == value => None,
        _ => Some(format!("is not {} but {}", shortened(pattern), shortened(value))),
    }
}

fn misfit_of_rules(rules: &serde_json::Map<String, Value>, value: &Value) -> Option<String> {
    let fits = rules.iter().all(|(rule, operand)| match rule.as_str() {
        "$any" => !is_default(value),
        "$exactly" => operand == value,
        "$length" => length(value) == operand.as_u64(),
        "$at_least" => number(value) >= number(operand),
        "$at_most" => number(value) <= number(operand),
        _ => panic!("there is no rule {rule}"),
    });
    (!fits).then(|| format!("does not fit {} but is {}", json!(rules), shortened(value)))
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty() || text == "0",
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

fn length(value: &Value) -> Option<u64> {
    let length = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len(),
        Value::Null => 0,
        _ => return None,
    };
    length.try_into().ok()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        Value::Null => Some(0.0),
        _ => None,
    }
    .unwrap_or_else(|| panic!("{value} is no number"))
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(300).collect()
}

/// A value at a path of keys and indexes, such as `messages.0.seq`.
pub fn at(value: &Value, path: &str) -> Value {
    path.split('.')
        .fold(value, |value, key| {
            key.parse::<usize>().map_or(&value[key], |index| &value[index])
        })
        .clone()
}
