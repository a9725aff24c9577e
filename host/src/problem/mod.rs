//! Named model problems.
