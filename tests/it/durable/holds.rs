//! One run at a time.
