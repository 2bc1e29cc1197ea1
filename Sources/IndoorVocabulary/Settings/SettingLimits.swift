/// What a setting may be: its type and its range.
package enum SettingLimits: Hashable, Sendable {
    case flag
    case wholeNumber(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// From the first to the second one; without the first one itself if `isOpen`.
    case duration(Duration, isOpen: Bool, Duration)
    case choice([String])
    case text

    /// Longer durations are a mistake of the unit.
    package static let longest = Duration.seconds(86_400)

    /// The name of the type, as the reference page gives it.
    package var typeName: String {
        switch self {
        case .flag: "true or false"
        case .wholeNumber: "whole number"
        case .number, .duration: "number"
        case .choice, .text: "text"
        }
    }

    /// The range as a message says it, such as `in [0, 1]` or `above 0 and at most 86400`; nil if the type says all.
    private var range: String? {
        func text(_ number: Double) -> String { JSONValue.number(number).summary }
        switch self {
        case .flag, .text: return nil
        case .choice(let words): return "one of \(words.joined(separator: ", "))"
        case .wholeNumber(let range): return "in [\(range.lowerBound), \(range.upperBound)]"
        case .number(let range): return "in [\(text(range.lowerBound)), \(text(range.upperBound))]"
        case .duration(let least, let isOpen, let most):
            let (first, last) = (text(least.decimalSeconds), text(most.decimalSeconds))
            return isOpen ? "above \(first) and at most \(last)" : "in [\(first), \(last)]"
        }
    }

    /// The range as a person writes it, such as `0 … 1` or `above 0, to 86400`; nil if the type says all.
    package var shortRange: String? {
        func text(_ number: Double) -> String { JSONValue.number(number).summary }
        switch self {
        case .flag, .text: return nil
        case .choice(let words): return words.joined(separator: ", ")
        case .wholeNumber(let range): return "\(range.lowerBound) … \(range.upperBound)"
        case .number(let range): return "\(text(range.lowerBound)) … \(text(range.upperBound))"
        case .duration(let least, let isOpen, let most):
            let (first, last) = (text(least.decimalSeconds), text(most.decimalSeconds))
            return isOpen ? "above \(first), to \(last)" : "\(first) … \(last)"
        }
    }

    /// Whether it is a number of some kind.
    package var isNumber: Bool {
        switch self {
        case .wholeNumber, .number, .duration: true
        case .flag, .choice, .text: false
        }
    }

    /// Whether a value of the right type is in range; not-a-number is in none.
    package func contains(_ value: SettingValue) -> Bool {
        switch (self, value) {
        case (.flag, .flag), (.text, .text): true
        case (.wholeNumber(let range), .number(let number)):
            Double(range.lowerBound) <= number && number <= Double(range.upperBound)
        case (.number(let range), .number(let number)): range.contains(number)
        case (.duration(let least, let isOpen, let most), .duration(let duration)):
            (isOpen ? duration > least : duration >= least) && duration <= most
        case (.choice(let words), .text(let word)): words.contains(word)
        case (.flag, _), (.wholeNumber, _), (.number, _), (.duration, _), (.choice, _), (.text, _): false
        }
    }

    /// The value of that JSON, be it in range or not; nil if it is of another type.
    package func value(_ json: JSONValue) -> SettingValue? {
        switch (self, json) {
        case (.flag, .bool(let flag)): .flag(flag)
        case (.wholeNumber, .number(let number)): Int(exactly: number) == nil ? nil : .number(number)
        case (.number, .number(let number)): .number(number)
        case (.duration, .number(let seconds)):
            // Whatever is beyond is out of every range, so it may be cut off.
            seconds.isNaN ? nil : .duration(.nanoseconds(Int64((min(max(seconds, -1e8), 1e8) * 1e9).rounded())))
        case (.choice, .string(let word)), (.text, .string(let word)): .text(word)
        case (.flag, _), (.wholeNumber, _), (.number, _), (.duration, _), (.choice, _), (.text, _): nil
        }
    }

    /// What is allowed, in words that go behind "must be".
    package func allowed(unit: String) -> String {
        switch self {
        case .flag: "true or false"
        case .text: "a text"
        case .choice, .wholeNumber, .number, .duration: (range ?? "") + (unit.isEmpty ? "" : " " + unit)
        }
    }
}
