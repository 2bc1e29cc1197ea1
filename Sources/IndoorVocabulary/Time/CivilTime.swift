import TextFormats

/// A date and a time of day in UTC, in the Gregorian calendar.
package struct CivilTime: Hashable, Sendable {
    package let year: Int
    /// The month, in 1...12.
    package let month: Int
    /// The day of the month, in 1...31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    /// The years count from March, so that a leap day is the last day of a year. 719,468 days are from 1 March of year 0 to
    /// 1 January 1970, and 146,097 days are in 400 years.
    ///
    /// Source: H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*, 2013, `civil_from_days`.
    package init(_ time: UnixTime) {
        let (days, ofDay) = Self.division(time.milliseconds, by: 86_400_000)
        let (era, ofEra) = Self.division(days + 719_468, by: 146_097)
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = Int(ofDay / 3_600_000)
        minute = Int(ofDay / 60_000 % 60)
        second = Int(ofDay / 1000 % 60)
        millisecond = Int(ofDay % 1000)
    }

    /// The time in the format of ISO 8601 and RFC 3339, with milliseconds: `2026-11-25T21:16:38.720Z`.
    package var text: String {
        let date = [FixedDecimals.padded(year, 4), two(month), two(day)].joined(separator: "-")
        let time = [two(hour), two(minute), two(second)].joined(separator: ":")
        return "\(date)T\(time).\(FixedDecimals.padded(millisecond, 3))Z"
    }

    private func two(_ number: Int) -> String { FixedDecimals.padded(number, 2) }

    /// Returns the quotient, rounded down, and the remainder, which isn't negative.
    private static func division(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
