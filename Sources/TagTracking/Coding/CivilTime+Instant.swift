import IndoorVocabulary

extension CivilTime {
    /// Creates the time of an instant that is counted from the Unix epoch, rounded down to the millisecond.
    package init(_ instant: Instant) {
        let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(UnixTime(milliseconds: remainder < 0 ? quotient - 1 : quotient))
    }
}
