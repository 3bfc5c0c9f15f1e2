//! Packets as bytes and as values; HTTP heads; captures in and out.
