extension GatewayFields {
    /// Reads a Unix time in seconds, as a number or as a string of digits.
    ///
    /// - Parameter decimalResolution: the resolution in milliseconds of a time with decimals.
    mutating func unixSeconds(
        _ field: StaticString, decimalResolution: Int64 = 1
    ) throws(GatewayError) -> GatewayTime {
        let isText = try kind() == .string
        let start = offset
        let seconds = isText ? Double(try digits(field)) : try number(field)
        // The upper bound is the start of the year 2200.
        guard (0...7_258_118_400).contains(seconds) else {
            throw error(start, field, "seconds since 1970, up to the year 2200")
        }
        let whole = seconds.rounded(.down)
        let isWhole = seconds == whole
        // A double has a resolution below 1 µs here.
        let microseconds = Int64(((seconds - whole) * 1e6).rounded())
        return GatewayTime(
            nanoseconds: Int64(whole) * 1_000_000_000 + microseconds * 1000,
            resolution: isWhole ? .seconds(1) : .milliseconds(decimalResolution))
    }

    /// Reads a Unix time in milliseconds.
    mutating func unixMilliseconds(_ field: StaticString) throws(GatewayError) -> GatewayTime {
        let milliseconds = try integer(field, in: 0...7_258_118_400_000)
        return GatewayTime(nanoseconds: milliseconds * 1_000_000, resolution: .milliseconds(1))
    }

    /// Reads a time in the format of ISO 8601.
    mutating func isoTime(_ field: StaticString) throws(GatewayError) -> GatewayTime {
        try parsed(field, "a time such as 2020-10-19T12:32:47.485Z") { text in
            guard let (nanoseconds, decimals) = TimeText.time(text) else { return nil }
            var unit: Int64 = 1_000_000_000
            for _ in 0..<decimals { unit /= 10 }
            return GatewayTime(nanoseconds: nanoseconds, resolution: .nanoseconds(unit))
        }
    }

    private mutating func digits(_ field: StaticString) throws(GatewayError) -> Int64 {
        try parsed(field, "a number of seconds") { text in
            guard (1...18).contains(text.count) else { return nil }
            var number: Int64 = 0
            for index in text.indices {
                let digit = text[index] &- UInt8(ascii: "0")
                guard digit <= 9 else { return nil }
                number = number * 10 + Int64(digit)
            }
            return number
        }
    }
}
