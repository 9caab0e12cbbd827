//! Each deliberate fault must be caught: a simulation that does not bite proves nothing.
