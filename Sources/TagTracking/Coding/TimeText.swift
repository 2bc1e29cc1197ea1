import IndoorVocabulary
import TextFormats

/// Times in the format of ISO 8601.
package enum TimeText {
    /// Returns nanoseconds since 1970 and the number of decimals of `2020-10-19T12:32:47.485Z`; nil for an invalid text.
    ///
    /// A time without a zone counts as UTC. The year is from 1970 to 2199.
    package static func time(_ text: Span<UInt8>) -> (nanoseconds: Int64, decimals: Int)? {
        guard text.count >= 19, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T") || text[10] == UInt8(ascii: " "),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            let year = number(text, 0..<4, in: 1970...2199), let month = number(text, 5..<7, in: 1...12),
            let day = number(text, 8..<10, in: 1...days(month, year)), let hour = number(text, 11..<13, in: 0...23),
            let minute = number(text, 14..<16, in: 0...59), let second = number(text, 17..<19, in: 0...60)
        else { return nil }
        var seconds = (daysSince1970(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
        var index = 19
        var (fraction, decimals) = (0, 0)
        if index < text.count, text[index] == UInt8(ascii: ".") {
            index += 1
            while decimals < 9, index < text.count, case let digit = text[index] &- UInt8(ascii: "0"), digit <= 9 {
                fraction = fraction * 10 + Int(digit)
                decimals += 1
                index += 1
            }
            guard decimals > 0 else { return nil }
        }
        guard let offset = zone(text.extracting(index..<text.count)) else { return nil }
        seconds -= offset
        for _ in decimals..<9 { fraction *= 10 }
        return (Int64(seconds) * 1_000_000_000 + Int64(fraction), decimals)
    }

    /// Returns whether a time of a valid format states its zone.
    package static func hasZone(_ text: Span<UInt8>) -> Bool {
        for index in 19..<max(19, text.count) where [0x5A, 0x7A, 0x2B, 0x2D].contains(text[index]) { return true }
        return false
    }

    /// Returns the offset of a zone from UTC in seconds, such as that of `Z`, `+02:00` or no text.
    private static func zone(_ text: Span<UInt8>) -> Int? {
        if text.isEmpty || text.equals("Z") || text.equals("z") { return 0 }
        guard text.count == 5 || text.count == 6 && text[3] == UInt8(ascii: ":"),
            text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-"),
            let hours = number(text, 1..<3, in: 0...14),
            let minutes = number(text, (text.count - 2)..<text.count, in: 0...59)
        else { return nil }
        let offset = hours * 3600 + minutes * 60
        return text[0] == UInt8(ascii: "-") ? -offset : offset
    }

    private static func number(_ text: Span<UInt8>, _ range: Range<Int>, in valid: ClosedRange<Int>) -> Int? {
        var number = 0
        for index in range {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = number * 10 + Int(digit)
        }
        return valid.contains(number) ? number : nil
    }

    private static func days(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days from 1 January 1970 to a date, with years that begin in March, so that the leap day is the last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let years = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        // 153 days in five months from March; 719,468 days from 1 March of year 0 to 1 January 1970.
        return years * 365 + years / 4 - years / 100 + years / 400 + (months * 153 + 2) / 5 + day - 1 - 719_468
    }
}
