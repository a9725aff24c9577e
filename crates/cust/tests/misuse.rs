//! Launches that are wrong do not compile, and the complaint is at what is wrong.

#[test]
fn complaints_point_at_what_is_wrong() {
    trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
}
