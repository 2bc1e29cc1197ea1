/// Why a layout string cannot be read, or a frame cannot be laid out by it.
public enum BeaconLayoutError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A term of the string is wrong, and why.
    case term(String, reason: String)
    /// A required term is missing.
    case missing(String, in: String)
    /// A frame has another number of values than the layout has fields of that kind.
    case count(String, expected: Int, found: Int)
    /// A value has another number of bytes than its field.
    case length(field: String, expected: Int, found: Int)
    /// The measured power in dBm does not fit into its byte, or the layout has no place for it, or the frame has none.
    case power(Int?, layout: String)

    public var description: String {
        switch self {
        case .term(let term, let reason): "Beacon layout: the term '\(term)' \(reason)."
        case .missing(let name, let text): "Beacon layout: '\(text)' has no term '\(name):'; add one."
        case .count(let kind, let expected, let found):
            "The layout has \(expected) \(kind), the frame has \(found): give one value for each."
        case .length(let field, let expected, let found):
            "The field \(field) has room for \(expected) bytes, the value has \(found)."
        case .power(let power?, let layout): "The layout \(layout) has no place for a measured power of \(power) dBm."
        case .power(nil, let layout): "The layout \(layout) needs a measured power, the frame has none."
        }
    }
}
