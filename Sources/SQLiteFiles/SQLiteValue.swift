/// One value of a row or a parameter.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    /// The whole number; nil if the value has another type.
    package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
    /// The text; nil if the value has another type.
    package var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The number, including a whole one; nil if the value has another type.
    package var real: Double? {
        switch self {
        case .real(let real): real
        case .integer(let integer): Double(integer)
        case .null, .text: nil
        }
    }
}
