import TagTracking

/// The form of the times in a text, by the fields of `strptime` or by a name.
public struct ForeignTimeFormat: Hashable, Sendable {
    private enum Form: Hashable, Sendable {
        case pattern([UInt8])
        /// A number whose unit is 10^n nanoseconds.
        case number(Int)
    }

    /// The names of forms: ISO 8601, dates of the United States and of Europe, `ctime`, and numbers by their unit.
    public static let names = [
        "iso", "us", "european", "ctime", "seconds", "milliseconds", "microseconds", "nanoseconds",
    ]

    /// The form in which C, Python and Android print a time for people: `Fri Mar 24 14:13:33 2023`.
    static let ctime = ForeignTimeFormat(form: .pattern(Array("%a %b %d %H:%M:%S %Y".utf8)))

    private let form: Form

    private init(form: Form) { self.form = form }

    /// Creates a form from its name, or from a pattern with `%Y` and other fields; nil for any other text.
    public init?(_ text: String) {
        switch text {
        case "iso": form = .pattern(Array("%Y-%m-%d %H:%M:%S%f".utf8))
        case "us": form = .pattern(Array("%m/%d/%Y %H:%M:%S%f".utf8))
        case "european": form = .pattern(Array("%d.%m.%Y %H:%M:%S%f".utf8))
        case "ctime": self = .ctime
        case "seconds": form = .number(9)
        case "milliseconds": form = .number(6)
        case "microseconds": form = .number(3)
        case "nanoseconds": form = .number(0)
        default:
            guard Self.isPattern(Array(text.utf8)) else { return nil }
            form = .pattern(Array(text.utf8))
        }
    }

    /// Creates the form of numbers whose unit is in a header, such as `time_ms`, `Time [µs]` or `seconds`; nil for a
    /// header without a unit.
    init?(header: String) {
        let words = header.lowercased().split { !$0.isLetter }
        guard let last = words.last else { return nil }
        // A unit may follow the word for the time directly, but `times` and `timestamps` are plurals.
        let stem = ["timestamp", "time"].first { last != $0 && last.hasPrefix($0) } ?? ""
        let unit = last.dropFirst(stem.count)
        switch unit {
        case "s" where stem.isEmpty && words.count > 1, "sec", "secs", "second", "seconds": form = .number(9)
        case "ms", "msec", "millis", "millisecond", "milliseconds": form = .number(6)
        case "us", "µs", "μs", "usec", "micros", "microsecond", "microseconds": form = .number(3)
        case "ns", "nsec", "nanos", "nanosecond", "nanoseconds": form = .number(0)
        default: return nil
        }
    }

    /// The unit of the numbers as a symbol and as a name of a form; nil for texts.
    var unit: (symbol: String, name: String)? {
        guard case .number(let decimals) = form else { return nil }
        return switch decimals {
        case 9: ("s", "seconds")
        case 6: ("ms", "milliseconds")
        case 3: ("µs", "microseconds")
        default: ("ns", "nanoseconds")
        }
    }

    /// Returns the larger unit that a time most likely has instead of this one: in the larger unit, its number is a time
    /// since 1970, from 2001 to 2099, but in this one 11 to 47 days. Nil for any other time.
    ///
    /// A number whose unit is smaller than this one is out of range.
    func likelyUnit(of time: ForeignTime) -> String? {
        guard case .number(let decimals) = form, decimals < 9,
            (1_000_000..<4_100_000).contains(time.nanoseconds / 1_000_000_000)
        else { return nil }
        return ForeignTimeFormat(form: .number(decimals + 3)).unit?.name
    }

    /// Returns whether a pattern has only known fields, and the day or the time of a day.
    private static func isPattern(_ pattern: [UInt8]) -> Bool {
        var fields: Set<Character> = []
        var index = 0
        while index < pattern.count {
            defer { index += 1 }
            guard pattern[index] == UInt8(ascii: "%") else { continue }
            index += 1
            guard index < pattern.count else { return false }
            let field = Character(UnicodeScalar(pattern[index]))
            guard "YymdeHIMSfpbBhaAzsTFDRn%".contains(field) else { return false }
            fields.insert(field)
        }
        return !fields.isDisjoint(with: ["s", "F", "D"]) || fields.contains("d") || fields.contains("e")
    }

    /// Returns the time that a text states; nil if the text has another form.
    ///
    /// - Parameter zoneOffset: returns the offset from UTC in seconds of a local time, for a text without a zone; nil
    ///   for UTC.
    func time(_ text: some StringProtocol, zoneOffset: (@Sendable (Int64) -> Int64)?) -> ForeignTime? {
        switch form {
        case .number(let unit):
            guard let value = ForeignTime.nanoseconds(Array(text.utf8), unit: unit) else { return nil }
            return ForeignTime(nanoseconds: value, isUnix: value >= 100_000_000_000_000_000)
        case .pattern(let pattern):
            var parser = Parser(text: Array(text.utf8))
            guard parser.read(pattern), parser.index == parser.text.count else { return nil }
            return parser.time(zoneOffset)
        }
    }

    /// Returns a time of 1970 or later without the offset of its zone.
    static func local(_ time: ForeignTime, _ zoneOffset: (@Sendable (Int64) -> Int64)?) -> ForeignTime? {
        guard let zoneOffset else { return time }
        let (shift, isFar) = zoneOffset(time.nanoseconds / 1_000_000_000).multipliedReportingOverflow(by: 1_000_000_000)
        let (value, overflow) = time.nanoseconds.subtractingReportingOverflow(shift)
        return isFar || overflow ? nil : ForeignTime(nanoseconds: value, isUnix: time.isUnix)
    }

    private struct Parser {
        let text: [UInt8]
        var index = 0
        var (year, month, day) = (1970, 1, 1)
        var (hour, minute, second) = (0, 0, 0)
        var fraction: [UInt8] = []
        var isAfternoon: Bool?
        var zone: [UInt8]?
        var seconds: Int64?

        private static let months = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ]
        private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

        init(text: [UInt8]) { self.text = text }

        mutating func read(_ pattern: [UInt8]) -> Bool {
            var place = 0
            while place < pattern.count {
                let byte = pattern[place]
                place += 1
                if byte == 0x20 {
                    let start = index
                    while index < text.count, text[index] == 0x20 || text[index] == UInt8(ascii: "T") && start == index
                    {
                        index += 1
                    }
                    guard index > start else { return false }
                } else if byte == UInt8(ascii: "%"), place < pattern.count {
                    guard field(pattern[place]) else { return false }
                    place += 1
                } else {
                    // The separators of a date are interchangeable.
                    let separators = Array("/.-".utf8)
                    guard index < text.count,
                        text[index] == byte || separators.contains(byte) && separators.contains(text[index])
                    else { return false }
                    index += 1
                }
            }
            return true
        }

        private mutating func field(_ name: UInt8) -> Bool {
            switch Character(UnicodeScalar(name)) {
            case "Y": return number(4, 1970...2199, \.year)
            case "y":
                guard number(2, 0...99, \.year) else { return false }
                year += 2000
                return true
            case "m": return number(2, 1...12, \.month)
            case "d", "e":
                while index < text.count, text[index] == 0x20 { index += 1 }
                return number(2, 1...31, \.day)
            case "H": return number(2, 0...23, \.hour)
            case "I": return number(2, 1...12, \.hour)
            case "M": return number(2, 0...59, \.minute)
            case "S": return number(2, 0...60, \.second)
            case "f": return decimals()
            case "p": return afternoon()
            case "b", "B", "h":
                guard let found = word(Self.months) else { return false }
                month = found + 1
                return true
            case "a", "A": return word(Self.days) != nil
            case "z": return offset()
            case "s":
                let start = index
                while index < text.count, text[index] &- UInt8(ascii: "0") <= 9, index - start < 11 { index += 1 }
                seconds = Int64(String(decoding: text[start..<index], as: UTF8.self))
                return seconds != nil
            case "T": return read(Array("%H:%M:%S".utf8))
            case "R": return read(Array("%H:%M".utf8))
            case "F": return read(Array("%Y-%m-%d".utf8))
            case "D": return read(Array("%m/%d/%y".utf8))
            case "n": return read([0x20])
            default: return read([name])
            }
        }

        private mutating func number(
            _ digits: Int, _ valid: ClosedRange<Int>, _ path: WritableKeyPath<Parser, Int>
        ) -> Bool {
            let start = index
            var value = 0
            while index < text.count, index - start < digits, case let digit = text[index] &- UInt8(ascii: "0"),
                digit <= 9
            {
                value = value * 10 + Int(digit)
                index += 1
            }
            guard index > start, valid.contains(value) else { return false }
            self[keyPath: path] = value
            return true
        }

        /// Reads a fraction with its point or comma, or without one behind a point of the pattern.
        private mutating func decimals() -> Bool {
            if index < text.count, text[index] == UInt8(ascii: ".") || text[index] == UInt8(ascii: ",") { index += 1 }
            while index < text.count, text[index] &- UInt8(ascii: "0") <= 9, fraction.count < 9 {
                fraction.append(text[index])
                index += 1
            }
            return true
        }

        private mutating func afternoon() -> Bool {
            guard let found = word(["am", "pm"]) else { return false }
            isAfternoon = found == 1
            return true
        }

        /// Reads a word of a list, or its first three letters; returns its number.
        private mutating func word(_ words: [String]) -> Int? {
            let start = index
            var letters = ""
            while index < text.count, case let byte = text[index] | 0x20, (0x61...0x7A).contains(byte) {
                letters.unicodeScalars.append(UnicodeScalar(byte))
                index += 1
            }
            if let found = words.firstIndex(where: { $0 == letters || letters.count == 3 && $0.hasPrefix(letters) }) {
                return found
            }
            index = start
            return nil
        }

        private mutating func offset() -> Bool {
            let rest = text[index...]
            let length = rest.prefix { "+-:0123456789Zz".utf8.contains($0) }.count
            zone = Array(rest.prefix(length))
            index += length
            return length > 0
        }

        func time(_ zoneOffset: (@Sendable (Int64) -> Int64)?) -> ForeignTime? {
            if let seconds {
                guard seconds < 7_258_118_400 else { return nil }
                return ForeignTime(nanoseconds: seconds * 1_000_000_000, isUnix: true)
            }
            var hour = hour
            if let isAfternoon { hour = hour % 12 + (isAfternoon ? 12 : 0) }
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let date = "\(year)-\(two(month))-\(two(day))T\(two(hour)):\(two(minute)):\(two(second))"
            var bytes = Array(date.utf8)
            if !fraction.isEmpty { bytes += [UInt8(ascii: ".")] + fraction }
            bytes += zone ?? []
            guard let (nanoseconds, _) = TimeText.time(bytes.span) else { return nil }
            let time = ForeignTime(nanoseconds: nanoseconds, isUnix: true)
            return zone == nil ? ForeignTimeFormat.local(time, zoneOffset) : time
        }
    }
}
