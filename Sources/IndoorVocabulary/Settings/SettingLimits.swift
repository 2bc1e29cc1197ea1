/// The valid values of a setting: its type and range.
package enum SettingLimits: Hashable, Sendable {
    case flag
    case wholeNumber(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// From the first to the second duration; excludes the first if `isOpen`.
    case duration(Duration, isOpen: Bool, Duration)
    case choice([String])
    case text

    /// The maximum duration. Longer values indicate a wrong unit.
    package static let longest = Duration.seconds(86_400)

    /// The name of the type, as written on the reference page.
    package var typeName: String {
        switch self {
        case .flag: "true or false"
        case .wholeNumber: "whole number"
        case .number, .duration: "number"
        case .choice, .text: "text"
        }
    }

    /// The range for error messages, such as `in [0, 1]` or `above 0 and at most 86400`; nil for types without a range.
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

    /// The range for the reference page, such as `0 … 1` or `above 0, to 86400`; nil for types without a range.
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

    /// Whether the value is a number.
    package var isNumber: Bool {
        switch self {
        case .wholeNumber, .number, .duration: true
        case .flag, .choice, .text: false
        }
    }

    /// Returns whether a value has the correct type and is in range. NaN is never in range.
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

    /// Returns the setting's value for a JSON value, regardless of the range; nil if the type differs.
    package func value(_ json: JSONValue) -> SettingValue? {
        switch (self, json) {
        case (.flag, .bool(let flag)): .flag(flag)
        case (.wholeNumber, .number(let number)): Int(exactly: number) == nil ? nil : .number(number)
        case (.number, .number(let number)): .number(number)
        case (.duration, .number(let seconds)):
            // Values beyond this limit are outside every range, so clamping doesn't change the result of the check.
            seconds.isNaN ? nil : .duration(.nanoseconds(Int64((min(max(seconds, -1e8), 1e8) * 1e9).rounded())))
        case (.choice, .string(let word)), (.text, .string(let word)): .text(word)
        case (.flag, _), (.wholeNumber, _), (.number, _), (.duration, _), (.choice, _), (.text, _): nil
        }
    }

    /// Returns the valid values as text that follows "must be".
    package func allowed(unit: String) -> String {
        switch self {
        case .flag: "true or false"
        case .text: "a text"
        case .choice, .wholeNumber, .number, .duration: (range ?? "") + (unit.isEmpty ? "" : " " + unit)
        }
    }
}
