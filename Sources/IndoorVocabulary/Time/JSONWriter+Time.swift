import TextFormats

/// Times in JSON.
extension JSONWriter {
    /// Writes a member with a time as in RFC 3339, in UTC with milliseconds.
    package mutating func add(_ name: StaticString, time: Instant) {
        self.name(name)
        self.value(time: time)
    }

    /// Writes a time as in RFC 3339, in UTC with milliseconds.
    package mutating func value(time: Instant) {
        value(unescaped: { bytes in
            let date = CivilTime(time)
            FixedDecimals.append(padded: UInt64(max(0, date.year)), 4, to: &bytes)
            for (separator, number, digits) in [
                ("-", date.month, 2), ("-", date.day, 2), ("T", date.hour, 2), (":", date.minute, 2),
                (":", date.second, 2), (".", date.millisecond, 3),
            ] as [(Unicode.Scalar, Int, Int)] {
                bytes.append(UInt8(ascii: separator))
                FixedDecimals.append(padded: UInt64(number), digits, to: &bytes)
            }
            bytes.append(UInt8(ascii: "Z"))
        })
    }
}

extension CivilTime {
    /// Creates the time of an instant that is counted from the Unix epoch, rounded down to the millisecond.
    package init(_ instant: Instant) {
        let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(UnixTime(milliseconds: remainder < 0 ? quotient - 1 : quotient))
    }
}
