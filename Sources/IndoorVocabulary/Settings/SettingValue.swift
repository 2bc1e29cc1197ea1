/// The value of one setting, an intermediate form between JSON and the typed structs.
package enum SettingValue: Hashable, Sendable {
    /// No value, for an optional setting that isn't set.
    case none
    case flag(Bool)
    /// A number, including whole numbers.
    case number(Double)
    case duration(Duration)
    case text(String)

    /// The value as JSON, with durations in seconds.
    package var json: JSONValue {
        switch self {
        case .none: .null
        case .flag(let flag): .bool(flag)
        case .number(let number): .number(number)
        case .duration(let duration): .number(duration.decimalSeconds)
        case .text(let text): .string(text)
        }
    }
}

extension JSONValue {
    /// A short form of the value for messages and tables, as written in JSON.
    package var summary: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): Int(exactly: number).map(String.init) ?? "\(number)"
        case .string(let text): "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension Duration {
    /// The duration in seconds, converted from nanoseconds so that 30 ms is exactly the number 0.03.
    var decimalSeconds: Double { Double(nanoseconds) / 1e9 }
}
