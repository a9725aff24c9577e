//! Factorisations that take longer than was predicted.

use super::*;

#[test]
fn factors_that_take_longer_than_they_may_are_left() {
    let a = random(400, 4, 7);
    let made = |excess| {
        let ordered = Ordered::of(&a, &[Kind::Lu]).unwrap();
        Factorisation::of(&a, ordered, Effort { care: Care::Usual, excess }, &AtomicBool::new(false))
    };
    assert!(matches!(made(EXCESS), Ok(Some(_))));
    assert!(matches!(made(1e-6), Err(Error::Outgrown { predicted, most }) if most < predicted));
}
