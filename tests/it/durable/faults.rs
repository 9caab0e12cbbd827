//! What goes wrong on the way.
