import IndoorVocabulary
import TagTracking
import TextFormats

/// Values of JSON with errors that name the field.
extension JSONReader {
    /// Returns a text; nil for null.
    mutating func text(_ field: String) throws(ForeignProblem) -> String? {
        try value(field) { reader throws(Failure) in
            guard try reader.kind() != .null else {
                try reader.null()
                return nil
            }
            return try reader.text(of: try reader.string())
        }
    }

    /// Returns a number; nil for null.
    mutating func optionalNumber(_ field: String) throws(ForeignProblem) -> Double? {
        try value(field) { reader throws(Failure) in
            guard try reader.kind() != .null else {
                try reader.null()
                return nil
            }
            return try reader.number()
        }
    }

    /// Returns a number as it is written, with or without quotes; nil for null.
    mutating func numberText(_ field: String, in record: [UInt8]) throws(ForeignProblem) -> String? {
        guard try value(field, { reader throws(Failure) in try reader.kind() }) == .number else {
            return try text(field)
        }
        let start = offset
        try value(field) { reader throws(Failure) in try reader.skipValue() }
        return String(decoding: record[start..<offset], as: UTF8.self)
    }

    /// Returns bytes, written as hexadecimal digits or as an array of numbers; nil for null.
    mutating func byteList(_ field: String) throws(ForeignProblem) -> [UInt8]? {
        let kind = try value(field) { reader throws(Failure) in try reader.kind() }
        guard kind == .array else {
            guard let text = try text(field) else { return nil }
            guard let bytes = FieldText.bytes(text) else {
                throw .invalid(field, text, expected: "pairs of hexadecimal digits, or an array of bytes")
            }
            return bytes
        }
        return try value(field) { reader throws(Failure) in
            var bytes: [UInt8] = []
            try reader.enterArray()
            while try reader.nextElement() {
                guard let byte = UInt8(exactly: try reader.integer()) else {
                    throw Failure(offset: 0, expected: "numbers from 0 to 255")
                }
                bytes.append(byte)
            }
            return bytes
        }
    }

    /// Performs a call, and names the field in its failure.
    mutating func value<Result>(
        _ field: String?, _ read: (inout JSONReader) throws(Failure) -> Result
    ) throws(ForeignProblem) -> Result {
        do { return try read(&self) } catch {
            throw ForeignProblem(field, .malformed("expected \(error.expected) at byte \(error.offset + 1)"))
        }
    }

    /// Reads an object: passes each key to `read`, which reads the value and returns true, or returns false to skip it.
    mutating func object(
        _ field: String?, _ read: (inout JSONReader, String) throws(ForeignProblem) -> Bool
    ) throws(ForeignProblem) {
        try value(field) { reader throws(Failure) in try reader.enterObject() }
        while let key = try value(field, { reader throws(Failure) in try reader.nextKey() }) {
            let name = try value(field) { reader throws(Failure) in try reader.text(of: key) }
            if try read(&self, name) { continue }
            try value(name) { reader throws(Failure) in try reader.skipValue() }
        }
    }
}
