import IndoorVocabulary

extension CivilTime {
    /// Creates the time of an instant whose zero point is that of Unix, rounded down to the millisecond.
    package init(_ instant: Instant) {
        let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(UnixTime(milliseconds: remainder < 0 ? quotient - 1 : quotient))
    }
}
