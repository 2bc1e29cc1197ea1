/// The value of one setting, between JSON and the typed structs.
package enum SettingValue: Hashable, Sendable {
    /// No value: an optional setting that is not set.
    case none
    case flag(Bool)
    /// A number, also a whole one.
    case number(Double)
    case duration(Duration)
    case text(String)

    /// The value as it is written in JSON: durations in seconds.
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
    /// What a message or a table calls this value: short, and as it is written in JSON.
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
    /// The duration in seconds as a short decimal: of nanoseconds, so that 30 ms are 0.03 s to the last bit.
    var decimalSeconds: Double { Double(nanoseconds) / 1e9 }
}
