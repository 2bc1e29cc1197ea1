import IndoorVocabulary
import TextFormats

/// The known members of one line, with checked access to their values.
///
/// The decoder reuses one value for all lines, so that reading a line allocates nothing. A member whose value is `null`
/// is treated as absent.
struct RecordFields {
    private let names = RecordField.names
    private let types = RecordType.names
    private var tokens = [JSONToken?](repeating: nil, count: RecordField.allCases.count)

    /// Reads a line. Members with unknown names are checked and discarded.
    mutating func scan(_ line: Span<UInt8>) throws(RecordProblem) {
        for index in tokens.indices { tokens[index] = nil }
        var duplicate: RecordField?
        do throws(JSONSyntaxError) {
            var cursor = JSONCursor(limits: RecordLine.limits)
            try cursor.enterObject(line)
            while let name = try cursor.nextKey(line) {
                let value = try cursor.skipValue(line)
                guard let field = field(named: name, in: line) else { continue }
                if tokens[field.rawValue] != nil { duplicate = duplicate ?? field }
                tokens[field.rawValue] = value
            }
            try cursor.finishText(line)
        } catch {
            throw RecordProblem(nil, RecordLine.problem(error))
        }
        if let duplicate { throw RecordProblem(duplicate, .duplicateField) }
    }

    private func field(named name: JSONString, in line: Span<UInt8>) -> RecordField? {
        guard name.hasEscapes else { return names.value(of: name.range, in: line) }
        let text = JSONEscapes.removed(from: line.extracting(name.range))
        return names.value(of: text.indices, in: text.span)
    }

    // MARK: - Presence

    /// Returns whether the member is present and not null.
    func has(_ field: RecordField) -> Bool {
        tokens[field.rawValue].map { $0.kind != .null } ?? false
    }

    /// Returns the member's token if it is present, after checking its kind.
    private func token(
        _ field: RecordField, _ kind: JSONKind, _ expected: String
    ) throws(RecordProblem) -> JSONToken? {
        guard let token = tokens[field.rawValue], token.kind != .null else { return nil }
        if token.kind == kind { return token }
        throw RecordProblem(field, .wrongType(expected: expected))
    }

    private func required<Value>(_ value: Value?, _ field: RecordField) throws(RecordProblem) -> Value {
        guard let value else { throw RecordProblem(field, .missingField) }
        return value
    }

    // MARK: - Numbers

    /// Returns a number that the scan has found to be well-formed.
    private func number(_ token: JSONToken, _ line: Span<UInt8>) -> JSONNumber {
        var cursor = JSONCursor(limits: RecordLine.limits, at: token.range.lowerBound)
        return (try? cursor.decimal(line)) ?? JSONNumber()
    }

    /// Returns the numbers of an array; nil if it has another count of elements, or an element is not a finite number.
    private func numbers<let count: Int>(
        _ token: JSONToken, _ line: Span<UInt8>
    ) -> InlineArray<count, Double>? {
        var cursor = JSONCursor(limits: RecordLine.limits, at: token.range.lowerBound)
        var numbers = InlineArray<count, Double>(repeating: 0)
        guard (try? cursor.enterArray(line)) != nil else { return nil }
        for index in 0..<count {
            guard (try? cursor.nextElement(line)) == true, let value = try? cursor.number(line) else { return nil }
            numbers[index] = value
        }
        return (try? cursor.nextElement(line)) == false ? numbers : nil
    }

    /// Returns a number within a range; nil if the member is absent.
    func optionalNumber(
        _ field: RecordField, in allowed: ClosedRange<Double>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Double? {
        guard let token = try token(field, .number, "a number") else { return nil }
        let value = number(token, line).double(line)
        guard allowed.contains(value) else {
            throw RecordProblem(
                field,
                .outOfRange(
                    value: ShortestNumber.text(value),
                    allowed: "\(ShortestNumber.text(allowed.lowerBound)) to \(ShortestNumber.text(allowed.upperBound))"
                ))
        }
        return value
    }

    /// Returns a number within a range.
    func number(
        _ field: RecordField, in allowed: ClosedRange<Double>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Double {
        try required(try optionalNumber(field, in: allowed, line), field)
    }

    /// Returns a whole number within a range; nil if the member is absent.
    func optionalInteger(
        _ field: RecordField, in allowed: ClosedRange<Int>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Int? {
        let bounds = Double(allowed.lowerBound)...Double(allowed.upperBound)
        guard let value = try optionalNumber(field, in: bounds, line) else { return nil }
        guard let integer = Int(exactly: value) else {
            throw RecordProblem(field, .wrongType(expected: "a whole number"))
        }
        return integer
    }

    /// Returns a whole number within a range.
    func integer(
        _ field: RecordField, in allowed: ClosedRange<Int>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Int {
        try required(try optionalInteger(field, in: allowed, line), field)
    }

    /// Returns the line's instant.
    func instant(_ line: Span<UInt8>) throws(RecordProblem) -> Instant {
        let token = try required(try token(.t, .number, "a number"), .t)
        guard let nanoseconds = number(token, line).nanoseconds(line) else {
            let value = ShortestNumber.text(number(token, line).double(line))
            throw RecordProblem(.t, .outOfRange(value: value, allowed: "-9.2e9 to 9.2e9"))
        }
        return Instant(nanoseconds: nanoseconds)
    }

    /// Returns three numbers as a vector; nil if the member is absent.
    func vector(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Vector3? {
        guard let token = try token(field, .array, "an array of 3 numbers") else { return nil }
        guard let values: InlineArray<3, Double> = numbers(token, line) else {
            throw RecordProblem(field, .wrongType(expected: "an array of 3 numbers"))
        }
        return Vector3(x: values[0], y: values[1], z: values[2])
    }

    /// Returns a unit quaternion, with a tolerance for rounding and drift; nil if the member is absent.
    func quaternion(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Quaternion? {
        guard let token = try token(field, .array, "an array of 4 numbers") else { return nil }
        guard let values: InlineArray<4, Double> = numbers(token, line) else {
            throw RecordProblem(field, .wrongType(expected: "an array of 4 numbers"))
        }
        let (w, x, y, z) = (values[0], values[1], values[2], values[3])
        let length = (w * w + x * x + y * y + z * z).squareRoot()
        guard abs(length - 1) <= 0.05 else {
            throw RecordProblem(
                field,
                .outOfRange(
                    value: "a quaternion of length \(ShortestNumber.text(length))", allowed: "a unit quaternion"))
        }
        return Quaternion(w: w, x: x, y: y, z: z)
    }

    // MARK: - Text and truth values

    /// Returns a string; nil if the member is absent.
    func optionalString(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> String? {
        guard let token = try token(field, .string, "a string") else { return nil }
        return String(decoding: JSONEscapes.removed(from: line.extracting(token.range)), as: UTF8.self)
    }

    /// Returns a string.
    func string(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> String {
        try required(try optionalString(field, line), field)
    }

    /// Returns a string of 1 to `limit` bytes.
    func name(_ field: RecordField, upTo limit: Int, _ line: Span<UInt8>) throws(RecordProblem) -> String {
        let name = try string(field, line)
        guard (1...limit).contains(name.utf8.count) else {
            throw RecordProblem(field, .wrongType(expected: "a string of 1 to \(limit) bytes"))
        }
        return name
    }

    /// Returns `true` or `false`; nil if the member is absent.
    func optionalBool(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Bool? {
        guard let token = try token(field, .bool, "true or false") else { return nil }
        return line[token.range.lowerBound] == UInt8(ascii: "t")
    }

    /// Returns the type of the line; nil if this package doesn't know it.
    func recordType(_ line: Span<UInt8>) throws(RecordProblem) -> RecordType? {
        let token = try required(try token(.type, .string, "a string"), .type)
        guard token.hasEscapes else { return types.value(of: token.range, in: line) }
        let text = JSONEscapes.removed(from: line.extracting(token.range))
        return types.value(of: text.indices, in: text.span)
    }

    /// Returns the bytes that pairs of hexadecimal digits represent.
    func hexBytes(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> [UInt8] {
        let token = try required(try token(field, .string, "a string of hexadecimal pairs"), field)
        var bytes: [UInt8] = []
        guard HexDigits.append(line.extracting(token.range), to: &bytes) else {
            throw RecordProblem(field, .wrongType(expected: "a string of hexadecimal pairs"))
        }
        return bytes
    }
}
