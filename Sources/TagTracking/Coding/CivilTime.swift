import IndoorVocabulary

/// A date and a time of day in UTC, of the proleptic Gregorian calendar.
///
/// Source: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*, 2021, `civil_from_days`.
package struct CivilTime: Hashable, Sendable {
    package let year: Int
    /// From 1 to 12.
    package let month: Int
    /// From 1 to 31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

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
}
