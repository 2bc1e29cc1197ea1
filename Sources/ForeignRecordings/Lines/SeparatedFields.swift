import IndoorVocabulary
import TextFormats

/// The fields of a line between separators, with errors that name the field.
struct SeparatedFields {
    private let fields: [Substring]

    /// Creates the fields of a line.
    ///
    /// Invalid UTF-8 is replaced: no field that is read has it, but a log may have names of networks with other bytes.
    init(_ line: [UInt8], separator: Character) {
        let text = CSVText.trimmed(String(decoding: line, as: UTF8.self)[...])
        fields = text.split(separator: separator, omittingEmptySubsequences: false).map(CSVText.trimmed)
    }

    /// The number of fields, without empty ones at the end.
    var count: Int { (fields.lastIndex { !$0.isEmpty } ?? -1) + 1 }

    /// The text of a field; empty if the line has fewer fields.
    subscript(_ index: Int) -> Substring { fields.indices.contains(index) ? fields[index] : "" }

    func number(
        _ index: Int, _ name: String, in range: ClosedRange<Double> = -1e9...1e9
    ) throws(ForeignProblem) -> Double {
        guard !self[index].isEmpty else { throw ForeignProblem(name, .missing(expected: "a number")) }
        guard let number = FieldText.number(self[index]), range.contains(number) else {
            throw .invalid(
                name, self[index],
                expected: range == -1e9...1e9 ? "a number" : "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a whole number of 16 bits.
    func number16(_ index: Int, _ name: String) throws(ForeignProblem) -> UInt16 {
        guard let number = UInt16(self[index]) else {
            throw .invalid(name, self[index], expected: "a whole number from 0 to 65535")
        }
        return number
    }

    func vector(_ index: Int, _ name: String) throws(ForeignProblem) -> Vector3 {
        Vector3(
            x: try number(index, name + " x"), y: try number(index + 1, name + " y"),
            z: try number(index + 2, name + " z"))
    }

    func uuid(_ index: Int, _ name: String) throws(ForeignProblem) -> BeaconUUID {
        guard let uuid = BeaconUUID(String(self[index])) else {
            throw .invalid(name, self[index], expected: "a UUID of 32 hexadecimal digits")
        }
        return uuid
    }

    func address(_ index: Int, _ name: String) throws(ForeignProblem) -> DeviceAddress {
        guard let address = FieldText.address(self[index]) else {
            throw .invalid(name, self[index], expected: "six hexadecimal pairs with colons")
        }
        return address
    }

    /// Returns a time in the unit of which a nanosecond is 10^-`unit`.
    func time(_ index: Int, _ name: String, unit: Int, isUnix: Bool) throws(ForeignProblem) -> ForeignTime {
        guard let nanoseconds = ForeignTime.nanoseconds(Array(self[index].utf8), unit: unit) else {
            throw .invalid(name, self[index], expected: unit == 9 ? "a number of seconds" : "a number of milliseconds")
        }
        return ForeignTime(nanoseconds: nanoseconds, isUnix: isUnix)
    }
}
