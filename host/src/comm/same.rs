//! Whether ranks were given the same.

use std::collections::BTreeMap;

use super::message::{Reader, Writer};
use super::{Comm, agree};
use crate::error::{Error, Result};

/// What a rank was given, in words: a value for each name.
pub type Given = BTreeMap<String, String>;

/// Refuses ranks that were not given the same as rank 0, with the first of them and all that is other there.
/// All ranks call this.
///
/// # Errors
/// [`Error::Rank`] with what the first such rank was given.
pub fn check_same(comm: &dyn Comm, mine: &Given) -> Result<()> {
    let message = Writer::new().put(&[mine.len() as u64]);
    let mut message =
        mine.iter().fold(message, |message, (name, value)| message.text(name).text(value)).bytes();
    comm.broadcast(&mut message)?;
    agree(comm, read(&message).and_then(|first| compare(mine, &first)))
}

fn read(message: &[u8]) -> Result<Given> {
    let mut message = Reader::new(message);
    let count = message.one::<u64>()?;
    (0..count).map(|_| Ok((message.text()?, message.text()?))).collect()
}

fn compare(mine: &Given, first: &Given) -> Result<()> {
    let names = mine.keys().chain(first.keys().filter(|name| !mine.contains_key(*name)));
    let told = |given: &Given, name: &str| given.get(name).map_or("not given".into(), String::clone);
    let other = names.filter(|name| mine.get(*name) != first.get(*name));
    let differences: Vec<String> = other
        .map(|name| format!("{name} is {} here, and {} on rank 0", told(mine, name), told(first, name)))
        .collect();
    match differences.is_empty() {
        true => Ok(()),
        false => Err(Error::Option(format!(
            "{}: start all ranks with the same options and files",
            differences.join("; ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Team;

    fn given(options: &[(&str, &str)]) -> Given {
        options.iter().map(|&(name, value)| (name.into(), value.into())).collect()
    }

    /// What each rank hears, of which each was given one of these.
    fn heard(of_ranks: &[&[(&str, &str)]]) -> Vec<Result<()>> {
        std::thread::scope(|scope| {
            let ranks: Vec<_> = Team::new(of_ranks.len())
                .into_iter()
                .zip(of_ranks)
                .map(|(team, options)| scope.spawn(move || check_same(&team, &given(options))))
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn the_first_rank_that_was_given_something_else_is_named_everywhere() {
        let a: &[(&str, &str)] = &[("--rtol", "1e-8"), ("file", "A.wsm")];
        for size in [1, 2, 5] {
            assert!(heard(&vec![a; size]).iter().all(Result::is_ok));
        }
        let b: &[(&str, &str)] = &[("--rtol", "1e-6"), ("file", "A.wsm")];
        let c: &[(&str, &str)] = &[("--verbose", "true"), ("file", "B.wsm")];
        let expected = "rank 1: --verbose is true here, and not given on rank 0; file is B.wsm here, and A.wsm on \
                        rank 0; --rtol is not given here, and 1e-8 on rank 0: start all ranks with the same options \
                        and files";
        for found in heard(&[a, c, b]) {
            assert_eq!(found.unwrap_err().to_string(), expected);
        }
        let found = heard(&[a, a, b]).pop().unwrap().unwrap_err().to_string();
        assert!(found.starts_with("rank 2: --rtol is 1e-6 here, and 1e-8 on rank 0: start"), "{found}");
    }
}
