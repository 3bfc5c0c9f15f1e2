//! Integer-nanosecond time and named random streams from one seed.
