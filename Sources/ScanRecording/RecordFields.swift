import IndoorVocabulary

/// The known members of one line, with checked access to their values.
///
/// The decoder reuses one value for all lines, so that reading a line allocates nothing. A member whose value is `null`
/// is treated as absent.
struct RecordFields {
    private let names = RecordField.names
    private let types = RecordType.names
    private var tokens = [JSONToken](repeating: .absent, count: RecordField.allCases.count)

    /// Reads a line. Members with unknown names are checked and discarded.
    mutating func scan(_ line: Span<UInt8>) throws(RecordProblem) {
        for index in tokens.indices { tokens[index] = .absent }
        var duplicate: RecordField?
        do throws(JSONSyntaxError) {
            var scanner = JSONObjectScanner()
            try scanner.begin(line)
            while let (name, value) = try scanner.next(line) {
                guard let field = field(named: name, in: line) else { continue }
                if tokens[field.rawValue].kind != .absent { duplicate = duplicate ?? field }
                tokens[field.rawValue] = value
            }
        } catch {
            throw RecordProblem(nil, .malformedJSON(column: error.offset + 1, reason: error.reason))
        }
        if let duplicate { throw RecordProblem(duplicate, .duplicateField) }
    }

    private func field(named name: JSONToken, in line: Span<UInt8>) -> RecordField? {
        guard name.hasEscapes else { return names.value(of: name.range, in: line) }
        let text = JSONText.bytes(ofString: name, in: line)
        return names.value(of: text.indices, in: text.span)
    }

    // MARK: - Presence

    /// Returns whether the member is present and not null.
    func has(_ field: RecordField) -> Bool {
        let kind = tokens[field.rawValue].kind
        return kind != .absent && kind != .null
    }

    /// Returns the member's token if it is present, after checking its kind.
    private func token(
        _ field: RecordField, _ kind: JSONToken.Kind, _ expected: String
    ) throws(RecordProblem) -> JSONToken? {
        let token = tokens[field.rawValue]
        if token.kind == kind { return token }
        guard has(field) else { return nil }
        throw RecordProblem(field, .wrongType(expected: expected))
    }

    private func required<Value>(_ value: Value?, _ field: RecordField) throws(RecordProblem) -> Value {
        guard let value else { throw RecordProblem(field, .missingField) }
        return value
    }

    // MARK: - Numbers

    /// Returns a number within a range; nil if the member is absent.
    func optionalNumber(
        _ field: RecordField, in allowed: ClosedRange<Double>, _ line: Span<UInt8>
    ) throws(RecordProblem) -> Double? {
        guard let token = try token(field, .number, "a number") else { return nil }
        let value = DecimalText.double(in: token.range, of: line)
        guard allowed.contains(value) else {
            throw RecordProblem(
                field,
                .outOfRange(
                    value: NumberText.shortest(value),
                    allowed: "\(NumberText.shortest(allowed.lowerBound)) to \(NumberText.shortest(allowed.upperBound))"
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
        guard let nanoseconds = DecimalText.nanoseconds(in: token.range, of: line) else {
            let value = NumberText.shortest(DecimalText.double(in: token.range, of: line))
            throw RecordProblem(.t, .outOfRange(value: value, allowed: "-9.2e9 to 9.2e9"))
        }
        return Instant(nanoseconds: nanoseconds)
    }

    /// Returns three numbers as a vector; nil if the member is absent.
    func vector(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Vector3? {
        guard let token = try token(field, .array, "an array of 3 numbers") else { return nil }
        var elements = NumberList(token)
        guard let x = elements.next(line), let y = elements.next(line), let z = elements.next(line),
            elements.isAtEnd(line)
        else { throw RecordProblem(field, .wrongType(expected: "an array of 3 numbers")) }
        return Vector3(x: x, y: y, z: z)
    }

    /// Returns a unit quaternion, with a tolerance for rounding and drift; nil if the member is absent.
    func quaternion(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> Quaternion? {
        guard let token = try token(field, .array, "an array of 4 numbers") else { return nil }
        var elements = NumberList(token)
        guard let w = elements.next(line), let x = elements.next(line), let y = elements.next(line),
            let z = elements.next(line), elements.isAtEnd(line)
        else { throw RecordProblem(field, .wrongType(expected: "an array of 4 numbers")) }
        let length = (w * w + x * x + y * y + z * z).squareRoot()
        guard abs(length - 1) <= 0.05 else {
            throw RecordProblem(
                field,
                .outOfRange(
                    value: "a quaternion of length \(NumberText.shortest(length))", allowed: "a unit quaternion"))
        }
        return Quaternion(w: w, x: x, y: y, z: z)
    }

    // MARK: - Text and truth values

    /// Returns a string; nil if the member is absent.
    func optionalString(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> String? {
        guard let token = try token(field, .string, "a string") else { return nil }
        return String(decoding: JSONText.bytes(ofString: token, in: line), as: UTF8.self)
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
        let text = JSONText.bytes(ofString: token, in: line)
        return types.value(of: text.indices, in: text.span)
    }

    /// Returns the bytes that pairs of hexadecimal digits represent.
    func hexBytes(_ field: RecordField, _ line: Span<UInt8>) throws(RecordProblem) -> [UInt8] {
        let token = try required(try token(field, .string, "a string of hexadecimal pairs"), field)
        guard let bytes = HexDigits.bytes(in: token.range, of: line) else {
            throw RecordProblem(field, .wrongType(expected: "a string of hexadecimal pairs"))
        }
        return bytes
    }
}
