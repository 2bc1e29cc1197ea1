import IndoorVocabulary

/// A date and a time of day in UTC, of the proleptic Gregorian calendar.
///
/// Source: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*, 2021, `civil_from_days` and
/// `days_from_civil`.
package struct CivilTime: Hashable, Sendable {
    package var year: Int
    /// From 1 to 12.
    package var month: Int
    /// From 1 to 31.
    package var day: Int
    package var hour = 0
    package var minute = 0
    package var second = 0
    package var millisecond = 0

    private static let millisecondsPerDay: Int64 = 86_400_000
    private static let daysPerEra: Int64 = 146_097
    /// The days from 1 March of year 0 to 1 January 1970.
    private static let daysToUnixEpoch: Int64 = 719_468

    /// Creates the time of an instant whose zero point is that of Unix, rounded down to the millisecond.
    package init(_ instant: Instant) {
        func floored(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
            let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
            return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
        }
        let milliseconds = floored(instant.nanoseconds, 1_000_000).quotient
        let (days, ofDay) = floored(milliseconds, Self.millisecondsPerDay)
        let (era, dayOfEra) = floored(days + Self.daysToUnixEpoch, Self.daysPerEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Months count from March, so that the leap day is the last day of the year.
        let shifted = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shifted + 2) / 5 + 1)
        month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = Int(ofDay / 3_600_000)
        minute = Int(ofDay / 60_000 % 60)
        second = Int(ofDay / 1000 % 60)
        millisecond = Int(ofDay % 1000)
    }

    /// Creates a time from a text as in RFC 3339 in UTC, such as `2026-11-22T09:00:00.123Z`; nil for another form.
    ///
    /// The fraction of a second may have any number of digits, of which the first three count.
    package init?(_ text: some Collection<UInt8>) {
        var rest = text[...]
        func number(_ digits: Int) -> Int? {
            var value = 0
            for _ in 0..<digits {
                guard let byte = rest.popFirst(), (0x30...0x39).contains(byte) else { return nil }
                value = 10 * value + Int(byte - 0x30)
            }
            return value
        }
        func separator(_ scalar: Unicode.Scalar) -> Bool { rest.popFirst() == UInt8(ascii: scalar) }
        guard let year = number(4), separator("-"), let month = number(2), separator("-"), let day = number(2),
            separator("T"), let hour = number(2), separator(":"), let minute = number(2), separator(":"),
            let second = number(2), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second < 61
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            var unit = 100
            var count = 0
            while let byte = rest.first, (0x30...0x39).contains(byte) {
                rest.removeFirst()
                millisecond += unit * Int(byte - 0x30)
                unit /= 10
                count += 1
            }
            guard count > 0 else { return nil }
        }
        guard rest.elementsEqual([UInt8(ascii: "Z")]) else { return nil }
    }

    /// The instant, with the zero point of Unix; clamped to ±292 years.
    package var instant: Instant {
        let shifted = Int64(month <= 2 ? year - 1 : year)
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * Self.daysPerEra + dayOfEra - Self.daysToUnixEpoch
        let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        let (product, overflow) = (seconds * 1000 + Int64(millisecond)).multipliedReportingOverflow(by: 1_000_000)
        return Instant(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }
}
