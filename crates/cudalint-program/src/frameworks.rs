//! Frameworks for tests in C++: the macros whose blocks are tests, and those by which a test says what it expects.

/// What the macro in front of a block says of the test that the block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test<'t> {
    /// The class that an object is made of for the test, as written.
    pub fixture: Option<&'t str>,
    /// The methods of that class, or of its bases, that run before and behind the block.
    pub around: Option<[&'static str; 2]>,
}

/// Macros of tests: where the fixture stands among their arguments.
const TESTS: [(&str, Option<usize>); 17] = [
    // GoogleTest.
    ("TEST", None),
    ("TEST_F", Some(0)),
    ("TEST_P", Some(0)),
    ("TYPED_TEST", Some(0)),
    ("TYPED_TEST_P", Some(0)),
    // Catch2 and doctest.
    ("TEST_CASE", None),
    ("SCENARIO", None),
    ("TEMPLATE_TEST_CASE", None),
    ("TEST_CASE_TEMPLATE", None),
    ("TEST_CASE_METHOD", Some(0)),
    ("TEMPLATE_TEST_CASE_METHOD", Some(0)),
    ("TEST_CASE_FIXTURE", Some(0)),
    // Boost.Test.
    ("BOOST_AUTO_TEST_CASE", None),
    ("BOOST_AUTO_TEST_CASE_TEMPLATE", None),
    ("BOOST_DATA_TEST_CASE", None),
    ("BOOST_FIXTURE_TEST_CASE", Some(1)),
    ("BOOST_FIXTURE_TEST_CASE_TEMPLATE", Some(3)),
];

/// Those of them whose fixtures have methods that run around each test.
const WITH_METHODS: [&str; 4] = ["TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"];

/// The test whose block a text leads to, which begins with the name of the macro.
pub fn test_at(text: &str) -> Option<Test<'_>> {
    let (name, rest) = text.split_once('(')?;
    let name = name.trim_end();
    let (_, position) = TESTS.iter().find(|(test, _)| *test == name)?;
    let argument = |position: usize| rest.split(')').next()?.split(',').nth(position).map(str::trim);
    let fixture = position.and_then(argument).filter(|class| !class.is_empty());
    Some(Test { fixture, around: WITH_METHODS.contains(&name).then_some(["SetUp", "TearDown"]) })
}

/// Whether a class, as written, is one that a framework has fixtures derive from: nothing runs there.
pub fn is_plain_base(class: &str) -> bool {
    class.trim_start_matches("::").starts_with("testing::") || ["Test", "TestWithParam"].contains(&class)
}

/// Whether a macro is one by which a test says what it expects of values: the test fails where it is otherwise.
pub fn is_expectation(name: &str) -> bool {
    const PLAIN: [&str; 6] = ["REQUIRE", "CHECK", "BOOST_CHECK", "BOOST_REQUIRE", "BOOST_TEST", "BOOST_TEST_REQUIRE"];
    const PREFIXES: [&str; 6] = ["EXPECT_", "ASSERT_", "REQUIRE_", "CHECK_", "BOOST_CHECK_", "BOOST_REQUIRE_"];
    const KINDS: [&str; 25] = [
        "EQ",
        "NE",
        "LT",
        "LE",
        "GT",
        "GE",
        "TRUE",
        "FALSE",
        "NEAR",
        "FLOAT_EQ",
        "DOUBLE_EQ",
        "STREQ",
        "STRNE",
        "THAT",
        "UNARY",
        "UNARY_FALSE",
        "EQUAL",
        "EQUAL_COLLECTIONS",
        "NE_COLLECTIONS",
        "CLOSE",
        "CLOSE_FRACTION",
        "SMALL",
        "PREDICATE",
        "MESSAGE",
        "BITWISE_EQUAL",
    ];
    PLAIN.contains(&name)
        || PREFIXES.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(|kind| KINDS.contains(&kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures_stand_where_each_macro_has_them() {
        let fixture = |text| test_at(text).map(|test| test.fixture);
        assert_eq!(fixture("TEST_F(Part, adds) {"), Some(Some("Part")));
        assert_eq!(fixture("BOOST_FIXTURE_TEST_CASE(adds, Part) {"), Some(Some("Part")));
        assert_eq!(fixture("TEST(Part, adds) {"), Some(None));
        assert_eq!(fixture("TEST_CASE(\"adds, and more\") {"), Some(None));
        assert_eq!(fixture("TESTS(Part, adds) {"), None);
        assert_eq!(fixture("test_f(Part, adds) {"), None);
    }

    #[test]
    fn what_checks_statuses_is_no_expectation() {
        assert!(
            ["EXPECT_EQ", "ASSERT_NEAR", "REQUIRE", "CHECK_FALSE", "BOOST_CHECK_CLOSE"].into_iter().all(is_expectation)
        );
        assert!(!["CHECK_CUDA", "EXPECT_NO_THROW", "ASSERT", "REQUIRE_SUCCESS"].into_iter().any(is_expectation));
    }
}
