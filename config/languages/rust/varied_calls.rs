// SPDX-License-Identifier: Apache-2.0
// While tests run, functions of lists of numbers also call themselves with other lists. Writes one line a call to the file $AGENTFORGE_CALLS
// (kernel/gates/test_quality/varied_calls.hpp).
#![allow(warnings, missing_docs)]

use std::cell::Cell;
use std::fmt::Debug;
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    static BUSY: Cell<bool> = Cell::new(false);
}
static MADE: AtomicUsize = AtomicUsize::new(0);

fn told(text: &str) -> String {
    for (begins, ends) in [("Some(", ")"), ("Ok(", ")")].iter() {
        if text.starts_with(begins) && text.ends_with(ends) {
            return told(&text[begins.len()..text.len() - 1]);
        }
    }
    if text == "None" || text.starts_with("Err(") {
        return "-".to_string();
    }
    if text.parse::<f64>().is_ok() {
        text.to_string()
    } else {
        "?".to_string()
    }
}

pub fn vary<R: Debug>(function: &str, given: Vec<f64>, mut call: impl FnMut(Vec<f64>) -> R) {
    let path = match std::env::var_os("AGENTFORGE_CALLS") {
        Some(path) => path,
        None => return,
    };
    if BUSY.with(|busy| busy.get()) || given.len() > 200 || MADE.fetch_add(1, Ordering::SeqCst) >= 40 {
        return;
    }
    let mut file = match std::fs::OpenOptions::new().append(true).create(true).open(path) {
        Ok(file) => file,
        Err(_) => return,
    };
    BUSY.with(|busy| busy.set(true));
    let mut lists = vec![given.clone()];
    if given.len() > 1 {
        lists.push(given[1..].to_vec());
        lists.push(given[..given.len() - 1].to_vec());
        lists.push(given.iter().rev().cloned().collect());
        lists.push(given.iter().chain(given.iter()).cloned().collect());
        lists.push(Vec::new());
        for at in 0..given.len().min(6) {
            for by in [1.0, -1.0].iter() {
                let mut other = given.clone();
                other[at] += by;
                lists.push(other);
            }
        }
    }
    for (number, list) in lists.into_iter().enumerate() {
        let words: Vec<String> = list.iter().map(|value| value.to_string()).collect();
        let result = catch_unwind(AssertUnwindSafe(|| format!("{:?}", call(list))));
        let result = result.map(|text| told(&text)).unwrap_or_else(|_| "-".to_string());
        let kind = if number == 0 { "own" } else { "near" };
        let _ = file.write_all(format!("{}\t{}\t{}\t{}\n", function, kind, words.join(","), result).as_bytes());
    }
    BUSY.with(|busy| busy.set(false));
}
