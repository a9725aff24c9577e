//! Factorisations that take longer than was predicted.

use super::*;

#[test]
fn factors_that_take_longer_than_they_may_are_left() {
    let a = random(400, 4, 7);
    let made = |excess| factorised(&a, Kind::Lu, excess);
    assert!(matches!(made(EXCESS), Ok(Some(_))));
    assert!(matches!(made(1e-6), Err(Error::Outgrown { predicted, most }) if most < predicted));
}
